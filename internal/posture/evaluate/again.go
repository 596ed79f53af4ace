package evaluate

import (
	"context"
	"maps"
	"slices"
	"time"

	"vigil/graph"
	"vigil/internal/posture"
)

// A Before is what was judged the last time, and when: the graph, and how current
// its scopes were. The judgement must have been recorded.
type Before struct {
	Graph    *graph.Graph
	Coverage []posture.Coverage
	Said     *Said // by rules then; what it lacks is evaluated anew
	At       time.Time
}

// Again judges an account anew after some entities, or the outcome of reading
// some scopes, changed. Rules that the change cannot have touched are left out;
// the rest, and whatever findings tell of entities around the change, is judged
// as Judge would. Rules must be all rules of the account.
func (e *Evaluator) Again(ctx context.Context, a Account, b Before, changed []posture.EntityID, rules []posture.Rule) (posture.Judgement, []*RuleError, error) {
	j := &judging{Evaluator: e, Account: a, at: e.now(), trust: newTrust(a.Coverage), risks: newRisks(a.Graph, e.schema)}
	d := differences(e.schema, b, a, changed)
	d.later = !j.at.Truncate(Tick).Equal(b.At.Truncate(Tick))
	anew := d.around(b.Graph, a.Graph)
	labels := labelSet(a.Graph, anew)
	a.Graph, a.Coverage, a.Said = b.Graph, b.Coverage, b.Said
	was := &judging{Evaluator: e, Account: a, at: b.At, trust: newTrust(b.Coverage)}
	for _, r := range rules {
		if r.Provider != a.Provider || r.Status == posture.RuleDisabled {
			continue
		}
		var narrow *since
		q, err := e.query(r.Query)
		switch {
		case err != nil || d.doubt(q):
		case d.touch(q):
			narrow = &since{anew, was}
		case q.mayFind(labels):
			narrow = &since{anew, nil}
		default:
			continue
		}
		if err := j.rule(ctx, r, narrow); err != nil {
			return posture.Judgement{}, nil, err
		}
	}
	return j.finish(ctx)
}

// A since says what is known of the last judgement.
type since struct {
	anew map[graph.Handle]bool // vertices whose findings may read differently now
	was  *judging              // the last judgement; nil when the rule says what it said then
}

// narrow returns the entities of which a rule does not say what it said, or whose
// findings may read differently, and those among them that violate it. A rule that
// said nothing the last time may say something new of all: then only is nil.
func (s *since) narrow(ctx context.Context, j *judging, r posture.Rule, violating, unknown []graph.Handle) (only []posture.EntityID, raise []graph.Handle) {
	said, err := s.before(ctx, r)
	if err != nil {
		return nil, violating
	}
	only = []posture.EntityID{}
	for _, h := range unknown {
		id := j.id(h)
		if s.was != nil && said[id] != posture.Maybe {
			only = append(only, id)
		}
		delete(said, id)
	}
	for _, h := range violating {
		id := j.id(h)
		if s.anew[h] || s.was != nil && said[id] != posture.Yes {
			only, raise = append(only, id), append(raise, h)
		}
		delete(said, id)
	}
	for id := range said { // they pass now, or are gone
		only = append(only, id)
	}
	slices.Sort(only)
	return only, raise
}

// before returns what the rule said of the entities that did not pass.
func (s *since) before(ctx context.Context, r posture.Rule) (map[posture.EntityID]posture.Truth, error) {
	said := map[posture.EntityID]posture.Truth{}
	if s.was == nil {
		return said, nil
	}
	v, err := s.was.verdict(ctx, r)
	if err != nil {
		return nil, err
	}
	was := s.was.settle(v)
	for _, h := range was.violating {
		said[s.was.id(h)] = posture.Yes
	}
	for _, h := range was.unknown {
		said[s.was.id(h)] = posture.Maybe
	}
	return said, nil
}

// labelSet returns the types of some vertices.
func labelSet(g *graph.Graph, hs map[graph.Handle]bool) types {
	names, set := g.VertexLabels(), types{}
	for h := range hs {
		set[posture.EntityType(names[g.VertexLabel(h)])] = true
	}
	return set
}

// mayFind reports whether a query can find entities of some types.
func (q *query) mayFind(of types) bool {
	if len(of) == 0 {
		return false
	}
	if q.anywhere || len(q.reads.Subjects) == 0 {
		return true
	}
	return slices.ContainsFunc(q.reads.Subjects, func(t posture.EntityType) bool { return of[t] })
}

// A difference is what changed between two graphs.
type difference struct {
	schema *Schema
	ids    []posture.EntityID // of entities that are not as they were
	moved  []posture.EntityID // of those whose place among others is not as it was
	labels map[string]bool    // of vertices that came or went
	keys   map[string]bool    // of properties that changed, folded
	edges  map[string]bool    // of edges that came, went or changed
	scopes types              // whose coverage changed
	later  bool               // the time is not what it was
}

// differences compares the entities that may have changed, and the coverage.
func differences(s *Schema, b Before, a Account, changed []posture.EntityID) *difference {
	d := &difference{schema: s, labels: map[string]bool{}, keys: map[string]bool{}, edges: map[string]bool{}, scopes: types{}}
	for _, id := range changed {
		d.compare(b.Graph, a.Graph, id)
	}
	before, after := newTrust(b.Coverage), newTrust(a.Coverage)
	anyNew := !maps.Equal(before.regions, after.regions) // which makes a difference to what is complete
	for region := range before.regions {
		after.regions[region] = true
	}
	for _, of := range []*trust{before, after} {
		for t := range of.by {
			for region := range after.regions {
				if anyNew || before.current(t, region) != after.current(t, region) {
					d.scopes[t] = true
				}
			}
		}
	}
	return d
}

// compare notes how one entity differs.
func (d *difference) compare(before, after *graph.Graph, id posture.EntityID) {
	was, there := before.VertexByID(graph.String(string(id)))
	is, here := after.VertexByID(graph.String(string(id)))
	if there && here {
		if old, now := before.Record(was), after.Record(is); old.Label == now.Label {
			if !d.same(old, now, id) {
				d.ids = append(d.ids, id)
			}
			return
		}
	}
	if there || here {
		d.ids, d.moved = append(d.ids, id), append(d.moved, id)
	}
	if there {
		d.whole(before, was)
	}
	if here {
		d.whole(after, is)
	}
}

// whole notes that a vertex came or went, and with it the edges at it.
func (d *difference) whole(g *graph.Graph, h graph.Handle) {
	d.labels[g.VertexLabels()[g.VertexLabel(h)]] = true
	for _, way := range []graph.Direction{graph.Out, graph.In} {
		edges, _ := g.Incident(h, way)
		for _, e := range edges {
			d.edges[g.EdgeLabels()[g.EdgeLabel(e)]] = true
		}
	}
}

// same notes how two states of an entity differ and reports whether they do not.
func (d *difference) same(was, is graph.Record, id posture.EntityID) bool {
	keys := changedKeys(was.Properties, is.Properties)
	for _, k := range keys {
		d.keys[posture.Fold(k)] = true
		if k == posture.FieldRegion { // it left one scope for another
			d.labels[is.Label] = true
		}
	}
	edges := changedEdges(was.Out, is.Out)
	for _, l := range edges {
		d.edges[l] = true
	}
	if len(edges) > 0 || slices.ContainsFunc(keys, d.schema.isRiskKey) {
		d.moved = append(d.moved, id)
	}
	return len(keys)+len(edges) == 0
}

// doubt reports whether the pass of an entity may mean more than it did: what was
// not trusted then is now, or the other way round.
func (d *difference) doubt(q *query) bool {
	return slices.ContainsFunc(q.reads.Types, func(t posture.EntityType) bool { return d.scopes[t] })
}

// touch reports whether a difference can change what a query finds, or what is
// thought of it.
func (d *difference) touch(q *query) bool {
	t := &q.touches
	folded := func(name string) bool { return d.keys[posture.Fold(name)] }
	return d.later && q.reads.Clock ||
		len(d.labels) > 0 && (t.AllLabels || anyOf(t.Labels, d.labels)) ||
		len(d.keys) > 0 && (t.AllKeys || slices.ContainsFunc(t.Keys, folded)) ||
		len(d.keys) > 0 && (t.AllEdges || slices.ContainsFunc(t.Edges, folded) || folded(posture.TagsUnread) && q.asksTags()) || // what could not be read
		len(d.edges) > 0 && (t.AllEdges || anyOf(t.Edges, d.edges)) ||
		slices.ContainsFunc(q.reads.Types, func(t posture.EntityType) bool { return d.scopes[t] || d.labels[string(t)] })
}

func anyOf(names []string, in map[string]bool) bool {
	return slices.ContainsFunc(names, func(n string) bool { return in[n] })
}

// changedKeys returns the keys under which two states differ.
func changedKeys(was, is []graph.PropertyRecord) []string {
	var keys []string
	before, after := byKey(was), byKey(is)
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
	by := make(map[string][]graph.PropertyRecord, len(ps))
	for _, p := range ps {
		by[p.Key] = append(by[p.Key], p)
	}
	return by
}

func equalProperty(a, b graph.PropertyRecord) bool {
	return a.Unknown == b.Unknown && a.Reason == b.Reason && (a.Unknown || a.Value.Equal(b.Value))
}

// changedEdges returns the labels of edges that two states do not share.
func changedEdges(was, is []graph.EdgeRecord) []string {
	var labels []string
	missing := func(have, lack []graph.EdgeRecord) {
		for _, e := range have {
			if !slices.Contains(labels, e.Label) && count(have, e) != count(lack, e) {
				labels = append(labels, e.Label)
			}
		}
	}
	missing(was, is)
	missing(is, was)
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
