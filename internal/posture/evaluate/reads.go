package evaluate

import (
	"fmt"
	"slices"

	"vigil/gremlin/syntax"
	"vigil/internal/posture"
)

// Reads is what a query looks at, by the schema.
type Reads struct {
	Types    []posture.EntityType // whose entities can make a difference to its answer
	Subjects []posture.EntityType // of what it finds
	Clock    bool                 // its answer depends on the time
	// Undeclared are types, properties and edges that the schema does not have at the
	// place where the query asks for them.
	Undeclared []string

	back bool // it also goes against the direction of edges, or may
}

// queryLimits bound the text of a rule's query.
var queryLimits = syntax.Limits{Length: 64 << 10, Steps: 400, Depth: 32, Literals: 10_000}

// Read works out what a Gremlin query looks at. It follows the steps that it knows
// through the schema; at any other it assumes that the query may read every type.
// The error is that of the text.
func (s *Schema) Read(text string) (Reads, error) {
	q, err := syntax.Parse(text, syntax.Options{Limits: queryLimits})
	if err != nil {
		return Reads{}, err
	}
	r := &reader{schema: s, seen: types{}, marks: map[string]place{}, undeclared: map[string]bool{}}
	r.source(q.Source)
	end := r.chain(syntax.Connect(q.Steps, true), place{})
	out := Reads{Types: r.seen.sorted(), Subjects: end.at.sorted(), back: r.back}
	for what := range r.undeclared {
		out.Undeclared = append(out.Undeclared, what)
	}
	slices.Sort(out.Undeclared)
	syntax.Walk(q, func(a syntax.Arg) {
		if f, ok := a.(*syntax.Fresh); ok && f.Name == "datetime" {
			out.Clock = true
		}
	})
	return out, nil
}

// A place is where traversers can be: at vertices of some types, on edges that
// lead from some types to others, or both. At a value it is empty.
type place struct {
	at       types // vertices
	from, to types // ends of edges
	lost     bool  // it could not be followed: anywhere
}

func union(a, b place) place {
	u := place{at: types{}, from: types{}, to: types{}, lost: a.lost || b.lost}
	for _, p := range []place{a, b} {
		u.at.add(p.at)
		u.from.add(p.from)
		u.to.add(p.to)
	}
	return u
}

// size grows with the place, and is the same only if the place is.
func (p place) size() int { return len(p.at) + len(p.from) + len(p.to) }

// A reader follows a query through the schema.
type reader struct {
	schema     *Schema
	seen       types            // whose entities were looked at
	visited    place            // everywhere a traverser has been: by() may look back at it
	marks      map[string]place // of as()
	undeclared map[string]bool
	back       bool
}

// source looks at what configures the traversal: strategies may hold traversals,
// which apply wherever the query goes.
func (r *reader) source(steps []syntax.Step) {
	for _, s := range steps {
		for _, a := range s.Args {
			syntax.Walk(a, func(a syntax.Arg) {
				if _, ok := a.(*syntax.Traversal); ok {
					r.anywhere()
				}
			})
		}
	}
}

// chain follows steps from a place and returns where they end. Conditions on
// labels that stand together count before anything is seen.
func (r *reader) chain(steps []syntax.Step, p place) place {
	begin := p              // of the last step that branches
	var tests []syntax.Step // until() and emit() since the last repeat(), which may stand before it
	for i := 0; i < len(steps); i++ {
		s := &steps[i]
		if next, ok := r.move(s, p); ok {
			p = next
			for _, f := range steps[i+1:] {
				if !isCondition(&f) {
					break
				}
				p = r.narrow(&f, p)
			}
			r.seen.add(p.at)
			r.visited = union(r.visited, p)
			continue
		}
		switch s.Name {
		case "choose", "branch":
			begin = p
			p = r.step(s, p)
		case "option":
			p = union(p, r.children(s, begin))
		case "until", "emit":
			if tests = append(tests, *s); !beforeRepeat(steps[i+1:]) {
				r.children(s, p)
			}
		case "repeat":
			p = r.repeat(s, tests, p)
			tests = nil
		default:
			p = r.step(s, p)
		}
		r.visited = union(r.visited, p)
	}
	return p
}

// beforeRepeat reports whether a repeat() follows the modulators at hand.
func beforeRepeat(steps []syntax.Step) bool {
	for _, s := range steps {
		switch s.Name {
		case "repeat":
			return true
		case "until", "emit", "times":
		default:
			return false
		}
	}
	return false
}

// isCondition reports whether a step only lets through or not, each traverser by
// itself and without a trace.
func isCondition(s *syntax.Step) bool {
	switch s.Name {
	case "has", "hasLabel", "hasNot", "hasId", "hasKey", "hasValue", "as", "identity":
		return true
	case "dedup":
		return len(s.Args) == 0 // by labels, what is dropped depends on other places
	case "where", "filter", "not", "and", "or":
		clean := true
		for _, a := range s.Args {
			syntax.Walk(a, func(a syntax.Arg) {
				if t, ok := a.(*syntax.Traversal); ok {
					clean = clean && !slices.ContainsFunc(t.Steps, leavesTrace)
				}
			})
		}
		return clean
	}
	return false
}

// leavesTrace reports whether a step records its traversers for later steps.
func leavesTrace(s syntax.Step) bool {
	switch s.Name {
	case "aggregate", "store", "sideEffect", "group", "groupCount", "subgraph", "tree", "sack", "fail":
		return true
	}
	return false
}

// move follows a step that goes somewhere.
func (r *reader) move(s *syntax.Step, p place) (place, bool) {
	name, labels := moveName(s), texts(s.Args)
	switch name {
	case "in", "inE", "both", "bothE", "E", "outV", "otherV", "bothV":
		r.back = true
	}
	out, in := r.schema.out, r.schema.in
	switch name {
	case "V":
		return place{at: r.schema.all()}, true
	case "out":
		r.edges(out, p, labels)
		return place{at: r.schema.follow(out, p.at, labels)}, true
	case "in":
		r.edges(in, p, labels)
		return place{at: r.schema.follow(in, p.at, labels)}, true
	case "both":
		at := r.schema.follow(out, p.at, labels)
		at.add(r.schema.follow(in, p.at, labels))
		return place{at: at}, true
	case "outE":
		r.edges(out, p, labels)
		return r.onEdges(p.at, r.schema.follow(out, p.at, labels)), true
	case "inE":
		r.edges(in, p, labels)
		return r.onEdges(r.schema.follow(in, p.at, labels), p.at), true
	case "bothE":
		from, to := r.schema.follow(in, p.at, labels), r.schema.follow(out, p.at, labels)
		from.add(p.at)
		to.add(p.at)
		return r.onEdges(from, to), true
	case "E":
		return r.onEdges(r.schema.all(), r.schema.all()), true
	case "inV":
		return place{at: p.to}, true
	case "outV":
		return place{at: p.from}, true
	case "otherV", "bothV":
		at := types{}
		at.add(p.from)
		at.add(p.to)
		return place{at: at}, true
	}
	return p, false
}

// onEdges is a place on edges. An edge is part of the entity that it leaves, and is
// there only when the entity that it leads to is.
func (r *reader) onEdges(from, to types) place {
	r.seen.add(from)
	r.seen.add(to)
	return place{from: from, to: to}
}

// moveName returns the step that a move means whose direction is an argument:
// to(OUT) is out(), toE(IN) is inE(), toV(BOTH) is bothV().
func moveName(s *syntax.Step) string {
	suffix, ok := map[string]string{"to": "", "toE": "E", "toV": "V"}[s.Name]
	if !ok || len(s.Args) == 0 {
		return s.Name
	}
	t, ok := s.Args[0].(*syntax.Token)
	if !ok {
		return s.Name
	}
	direction := map[string]string{"OUT": "out", "from": "out", "IN": "in", "to": "in", "BOTH": "both"}[t.Name]
	if direction == "" {
		return s.Name
	}
	return direction + suffix
}

// edges notes labels that no edge here has.
func (r *reader) edges(ends map[posture.EntityType]map[string][]posture.EntityType, p place, labels []string) {
	if len(p.at) == 0 {
		return
	}
	for _, label := range labels {
		if len(r.schema.follow(ends, p.at, []string{label})) == 0 {
			r.undeclared[fmt.Sprintf("edge %s at %s", label, few(p.at))] = true
		}
	}
}

// few names some types.
func few(t types) string {
	all := t.sorted()
	if len(all) > 3 {
		return fmt.Sprintf("%s and %d more types", all[0], len(all)-1)
	}
	return fmt.Sprint(all)
}

// narrow applies a condition on labels.
func (r *reader) narrow(s *syntax.Step, p place) place {
	if len(p.from) > 0 || p.lost {
		return p // the label may be that of an edge
	}
	var names []string
	switch {
	case s.Name == "hasLabel":
		names = texts(s.Args)
		if len(names) < len(s.Args) { // a predicate
			if names = within(s.Args); names == nil {
				return p
			}
		}
	case s.Name == "has" && len(s.Args) == 3:
		names = texts(s.Args[:1])
	default:
		return p
	}
	for _, n := range names {
		if !r.schema.Has(posture.EntityType(n)) {
			r.undeclared["type "+n] = true
		}
	}
	return place{at: p.at.only(names)}
}

// within returns the strings of a lone predicate that lists them.
func within(args []syntax.Arg) []string {
	if len(args) != 1 {
		return nil
	}
	p, ok := args[0].(*syntax.Predicate)
	if !ok || p.Name != "within" && p.Name != "eq" {
		return nil
	}
	if names := texts(p.Args); len(names) == len(p.Args) {
		return names
	}
	return nil
}

// texts returns the arguments that are strings.
func texts(args []syntax.Arg) []string {
	var all []string
	for _, a := range args {
		if l, ok := a.(*syntax.Literal); ok {
			if s, ok := l.Value.(string); ok {
				all = append(all, s)
			}
		}
	}
	return all
}
