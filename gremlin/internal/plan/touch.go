package plan

import (
	"maps"
	"slices"

	"vigil/graph"
)

// Touched is the part of a graph that a plan can read. A change outside of it
// cannot change the result.
type Touched struct {
	Labels    []string // labels of vertices from which the plan may start or which it tests
	AllLabels bool     // any vertex may be read
	Keys      []string // keys of the properties that the plan reads
	AllKeys   bool     // the plan reads properties of any key
	Edges     []string // labels of edges that the plan traverses
	AllEdges  bool     // the plan traverses edges of any label
	Time      bool     // the plan uses the current time: its result may change without a change of the graph
}

// Touches computes what a plan can read. It may overestimate. The caller sets Time.
func Touches(r *Root) Touched {
	t := toucher{labels: map[string]bool{}, keys: map[string]bool{}, edges: map[string]bool{}}
	Walk(&r.Traversal, t.step)
	out := t.Touched
	out.Labels = slices.Sorted(maps.Keys(t.labels))
	out.Keys = slices.Sorted(maps.Keys(t.keys))
	out.Edges = slices.Sorted(maps.Keys(t.edges))
	return out
}

type toucher struct {
	Touched
	labels, keys, edges map[string]bool
}

func (t *toucher) step(s Step) {
	for _, by := range Bys(s) {
		if by.Kind == ByKey {
			t.keys[by.Key] = true
		}
	}
	switch s := s.(type) {
	case *Graph:
		t.start(s)
	case *Move:
		t.follow(s)
	case *Count:
		if s.Of != nil {
			t.step(s.Of)
		}
	case *Has:
		t.conds(s.Conds)
	case *HasNot:
		t.keys[s.Key] = true
	case *Properties:
		t.read(s.Keys, s.Some)
	case *PropertyMap:
		t.read(s.Keys, s.Some)
	case *Format:
		t.read(FormatVariables(s.Template), true)
	case *SubgraphOf:
		t.AllKeys = true
	}
}

// start records the elements that a V() or E() may find.
func (t *toucher) start(g *Graph) {
	t.conds(g.Conds)
	names, ok := labelsOf(g.Conds)
	if !g.Edges {
		t.AllLabels = t.AllLabels || !ok
		return
	}
	t.AllEdges = t.AllEdges || !ok
	for _, n := range names {
		t.edges[n] = true
	}
}

// labelsOf returns the labels to which conditions restrict elements, or false if no condition
// lists labels.
func labelsOf(conds []Cond) ([]string, bool) {
	for _, c := range conds {
		if c.Part != PartLabel {
			continue
		}
		var vs []graph.Value
		switch c.Pred.Op {
		case Eq:
			vs = []graph.Value{c.Pred.Value}
		case Within:
			vs = c.Pred.Values
		default:
			continue
		}
		var out []string
		for _, v := range vs {
			if v.Kind() == graph.KindString {
				out = append(out, v.Str())
			}
		}
		return out, true
	}
	return nil, false
}

func (t *toucher) follow(m *Move) {
	if !m.ByLabel {
		t.AllEdges = true
		return
	}
	for _, l := range m.EdgeLabels {
		t.edges[l] = true
	}
}

func (t *toucher) conds(conds []Cond) {
	names, _ := labelsOf(conds)
	for _, n := range names {
		t.labels[n] = true
	}
	for _, c := range conds {
		if c.Part == PartProperty {
			t.keys[c.Key] = true
		}
	}
}

func (t *toucher) read(keys []string, onlyKeys bool) {
	t.AllKeys = t.AllKeys || !onlyKeys
	for _, k := range keys {
		t.keys[k] = true
	}
}
