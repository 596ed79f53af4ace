package plan

import (
	"maps"
	"slices"
)

// A Reach bounds the part of a graph that decides whether a query finds a vertex: the
// vertices that can be reached from it in at most Moves moves over edges with these
// labels, and the edges between them.
type Reach struct {
	Out    []string // labels of the edges that the query follows in their direction
	AllOut bool     // the query follows edges of any label in their direction
	In     []string // labels of the edges that the query follows backwards
	AllIn  bool     // the query follows edges of any label backwards
	Moves  int      // maximum number of consecutive moves; Unlimited for no maximum

	// KnownKeys are the property keys whose values must be known on all elements of the
	// graph: a single unknown value makes the answer about every vertex unknown.
	KnownKeys []string
}

// Unlimited is a number of moves without a maximum.
const Unlimited = -1

// ReachOf returns the reach of a query that decides about each vertex separately: it
// starts at all vertices and only filters them, by what it reaches from them. It
// returns false for other queries, and for those with a step that it does not know.
func ReachOf(r *Root) (Reach, bool) {
	f := reachFinder{known: true, out: map[string]bool{}, in: map[string]bool{}}
	if r.Sack != nil || len(r.SideEffects) > 0 || r.Take >= 0 || r.Terminal != "" || len(r.Steps) == 0 {
		return Reach{}, false
	}
	keys, all := NonMonotonicKeys(r)
	if all {
		return Reach{}, false
	}
	f.KnownKeys = keys
	if g, ok := r.Steps[0].(*Graph); !ok || g.Edges || g.ByID || g.Mid {
		return Reach{}, false
	}
	for _, s := range r.Steps[1:] {
		switch s := s.(type) {
		case *Has, *HasNot, *Filter, *Not, *And, *Or, *Identity:
			f.step(s, 0)
		case *Dedup: // without arguments, it keeps all: every vertex arrives once
			f.known = f.known && len(s.Over) == 0 && s.By == nil
		default:
			return Reach{}, false
		}
	}
	f.Out = slices.Sorted(maps.Keys(f.out))
	f.In = slices.Sorted(maps.Keys(f.in))
	f.Moves = f.farthest
	if f.repeats {
		f.Moves = Unlimited
	}
	return f.Reach, f.known
}

type reachFinder struct {
	Reach
	out, in  map[string]bool
	farthest int  // the largest distance so far
	repeats  bool // there is a repeat(), whose moves are not counted
	known    bool // every step so far is known
}

// chain records the moves of t and returns the distance at which t ends. distance is where t
// starts: a number of moves from the vertex about which the query decides.
func (f *reachFinder) chain(t *Traversal, distance int) int {
	for i, s := range t.Steps {
		if keepsArbitrary(s) && (i+1 == len(t.Steps) || !onlyCounts(t.Steps[i+1])) {
			f.known = false
		}
		distance = f.step(s, distance)
		f.farthest = max(f.farthest, distance)
	}
	return distance
}

// keepsArbitrary reports whether a step chooses arbitrarily which of several objects it
// keeps. The choice depends on the order of edges, and a verdict must not. The number of
// kept objects does not depend on that order, so the next step may count them.
func keepsArbitrary(s Step) bool {
	switch s.(type) {
	case *Range, *Dedup:
		return true
	}
	return false
}

// onlyCounts reports whether the number of results of a step depends only on the number
// of its input objects.
func onlyCounts(s Step) bool {
	switch s := s.(type) {
	case *Range:
		return true
	case *Count:
		return s.Of == nil // otherwise it counts what a move from these objects reaches
	}
	return false
}

// hasSeveral reports whether a traversal may have several results for one object, in an
// order that depends on the order of edges.
func hasSeveral(t *Traversal) bool {
	several := false
	for _, s := range t.Steps {
		switch s := s.(type) {
		case *Count:
			several = false
		case *EdgeEnd:
			several = several || s.Dir == Both
		case *Coalesce, *Optional, *FlatMap, *Local:
			several = several || slices.ContainsFunc(Children(s), hasSeveral)
		case *Has, *HasNot, *Filter, *Not, *And, *Or, *Is, *Identity, *Constant, *ElementPart, *Loops, *Bulk, *OtherEnd,
			*Call, *Dedup, *Math, *PathFilter, *Select, *WherePred, *WhereStart, *WhereEnd: // at most one for each object
		case *Properties: // the values of one element have a fixed order
		default:
			several = true
		}
	}
	return several
}

// step records the moves of one step and returns the distance of its results, which is
// at least that of its input. An edge is as far away as its farther end.
func (f *reachFinder) step(s Step, distance int) int {
	switch s := s.(type) {
	case *Move:
		f.move(s)
		return distance + 1
	case *Count:
		if s.Of != nil {
			return f.step(s.Of, distance)
		}
		return distance
	case *EdgeEnd, *OtherEnd, *Has, *HasNot, *Is, *Identity, *Constant, *ElementPart, *Loops, *Range, *Bulk:
		return distance
	case *Properties:
		f.known = f.known && s.Filter == nil
		return distance
	case *Call, *Dedup, *Math, *PathFilter, *Select, *WherePred: // these use only the first result of a nested traversal
		f.known = f.known && !slices.ContainsFunc(Children(s), hasSeveral)
		f.children(s, distance) // some return to earlier objects of the path, which are not farther away
		return distance
	case *Filter, *Not, *And, *Or, *WhereStart, *WhereEnd:
		f.children(s, distance)
		return distance
	case *Union, *Coalesce, *Optional, *FlatMap, *Local:
		return f.children(s, distance)
	case *Repeat:
		f.repeats = true
		f.children(s, distance)
		return distance
	}
	f.known = false
	return distance
}

// children records the moves of nested traversals and returns the largest distance at
// which one ends, at least that of their start.
func (f *reachFinder) children(s Step, distance int) int {
	end := distance
	for _, c := range Children(s) {
		end = max(end, f.chain(c, distance))
	}
	return end
}

func (f *reachFinder) move(m *Move) {
	if m.Dir != In {
		f.AllOut = f.AllOut || !m.ByLabel
		addLabels(f.out, m.EdgeLabels)
	}
	if m.Dir != Out {
		f.AllIn = f.AllIn || !m.ByLabel
		addLabels(f.in, m.EdgeLabels)
	}
}

func addLabels(to map[string]bool, names []string) {
	for _, n := range names {
		to[n] = true
	}
}
