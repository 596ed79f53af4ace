package evaluate

import (
	"slices"

	"vigil/graph"
	"vigil/internal/posture"
)

// A difference is what changed between two graphs.
type difference struct {
	schema      *Schema
	ids         []posture.EntityID // of entities that changed
	riskChanged []posture.EntityID // of those whose edges or risk properties changed, which may change the risk of entities around them
	labels      map[string]bool    // of vertices that were added or removed
	keys        []string           // of properties that changed, folded
	edges       map[string]bool    // of edges that were added, removed or changed
	scopes      types              // whose coverage changed
	later       bool               // a later Tick than before
}

// differences compares the entities that may have changed, and the coverage.
func differences(last, now *judging, changed []posture.EntityID) *difference {
	d := &difference{schema: now.schema, labels: map[string]bool{}, edges: map[string]bool{}, scopes: changedTypes(last.trust, now.trust)}
	for _, id := range changed {
		d.compare(last.Graph, now.Graph, id)
	}
	d.later = !now.at.Truncate(Tick).Equal(last.at.Truncate(Tick))
	return d
}

// compare records the differences of one entity.
func (d *difference) compare(before, after *graph.Graph, id posture.EntityID) {
	old, exists := before.VertexByID(graph.String(string(id)))
	current, stillExists := after.VertexByID(graph.String(string(id)))
	if exists && stillExists {
		was, is := before.Record(old), after.Record(current)
		if was.Label == is.Label {
			if d.recordChanges(was, is, id) {
				d.ids = append(d.ids, id)
			}
			return
		}
	}
	// It was added or removed, or its type changed, which counts as both.
	if exists || stillExists {
		d.ids, d.riskChanged = append(d.ids, id), append(d.riskChanged, id)
	}
	if exists {
		d.addAll(before, old)
	}
	if stillExists {
		d.addAll(after, current)
	}
}

// addAll records that a vertex was added or removed with its edges.
func (d *difference) addAll(g *graph.Graph, h graph.Handle) {
	d.labels[g.VertexLabels()[g.VertexLabel(h)]] = true
	for _, direction := range []graph.Direction{graph.Out, graph.In} {
		edges, _ := g.Incident(h, direction)
		for _, e := range edges {
			d.edges[g.EdgeLabels()[g.EdgeLabel(e)]] = true
		}
	}
}

// recordChanges records the differences between two states of an entity and reports whether
// there are any.
func (d *difference) recordChanges(old, current graph.Record, id posture.EntityID) bool {
	keys := changedKeys(old.Properties, current.Properties)
	for _, k := range keys {
		if folded := posture.Fold(k); !slices.Contains(d.keys, folded) {
			d.keys = append(d.keys, folded)
		}
		if k == posture.FieldRegion { // it moved to another scope
			d.labels[current.Label] = true
		}
	}
	edges := changedEdges(old.Out, current.Out)
	for _, l := range edges {
		d.edges[l] = true
	}
	if len(edges) > 0 || slices.ContainsFunc(keys, d.schema.isRiskKey) {
		d.riskChanged = append(d.riskChanged, id)
	}
	return len(keys)+len(edges) > 0
}

// changesTrust reports whether the coverage of a type that the query reads changed in a
// region: entities that pass may be unknown now, or the other way round.
func (d *difference) changesTrust(q *query) bool {
	return slices.ContainsFunc(q.reads.Types, func(t posture.EntityType) bool { return d.scopes[t] })
}

// tagsUnread is the key of entities whose tags could not be read, folded.
var tagsUnread = posture.Fold(posture.TagsUnread)

// mayAffect reports whether a difference can change what a query finds.
func (d *difference) mayAffect(q *query) bool {
	t := &q.touches
	// A changed key can be the label of edges that could not be read, so AllEdges matters for keys, too.
	return d.later && q.reads.Clock ||
		len(d.labels) > 0 && (t.AllLabels || anyOf(t.Labels, d.labels)) ||
		len(d.keys) > 0 && (t.AllKeys || t.AllEdges || anyOf(d.keys, q.names) || slices.Contains(d.keys, tagsUnread) && q.readsTags()) ||
		len(d.edges) > 0 && (t.AllEdges || anyOf(t.Edges, d.edges)) ||
		len(d.scopes)+len(d.labels) > 0 && slices.ContainsFunc(q.reads.Types, func(t posture.EntityType) bool { return d.scopes[t] || d.labels[string(t)] })
}

func anyOf(names []string, in map[string]bool) bool {
	return slices.ContainsFunc(names, func(n string) bool { return in[n] })
}

// changedKeys returns the keys under which two states differ.
func changedKeys(old, current []graph.PropertyRecord) []string {
	var keys []string
	before, after := byKey(old), byKey(current)
	for k, ps := range before {
		if !slices.EqualFunc(ps, after[k], equalProperty) {
			keys = append(keys, k)
		}
	}
	for k := range after {
		if before[k] == nil {
			keys = append(keys, k)
		}
	}
	return keys
}

func byKey(ps []graph.PropertyRecord) map[string][]graph.PropertyRecord {
	byName := make(map[string][]graph.PropertyRecord, len(ps))
	for _, p := range ps {
		byName[p.Key] = append(byName[p.Key], p)
	}
	return byName
}

func equalProperty(a, b graph.PropertyRecord) bool {
	return a.Unknown == b.Unknown && a.Reason == b.Reason && (a.Unknown || a.Value.Equal(b.Value))
}

// changedEdges returns the labels of the edges that only one of two states has.
func changedEdges(old, current []graph.EdgeRecord) []string {
	var labels []string
	compare := func(edges, others []graph.EdgeRecord) {
		for _, e := range edges {
			if !slices.Contains(labels, e.Label) && count(edges, e) != count(others, e) {
				labels = append(labels, e.Label)
			}
		}
	}
	compare(old, current)
	compare(current, old)
	return labels
}

func count(es []graph.EdgeRecord, e graph.EdgeRecord) int {
	n := 0
	for _, o := range es {
		if o.Label == e.Label && o.To.Equal(e.To) && slices.EqualFunc(o.Properties, e.Properties, func(a, b graph.Meta) bool {
			return a.Key == b.Key && a.Value.Equal(b.Value)
		}) {
			n++
		}
	}
	return n
}
