package evaluate

import (
	"fmt"
	"slices"

	"vigil/gremlin/syntax"
	"vigil/internal/posture"
)

// Reads is the result of the static analysis of a query.
type Reads struct {
	Types    []posture.EntityType // whose entities can affect its result
	Subjects []posture.EntityType // of the entities that it returns
	Clock    bool                 // its result depends on the time
	// Undeclared are types, properties and edges in the query that the schema does not
	// have there.
	Undeclared []string

	back bool // it may also follow edges backwards
}

// queryLimits bound the text of a rule's query.
var queryLimits = syntax.Limits{Length: 64 << 10, Steps: 400, Depth: 32, Literals: 10_000}

// The second argument of syntax.Connect says whether the steps are those of the whole query
// or of a traversal in it.
const (
	ofQuery     = true
	ofTraversal = false
)

// Read analyses which types a Gremlin query reads. It is an abstract interpretation: it
// follows the possible types of traversers through the schema, step by step. After a
// step that it does not know, it assumes that the query may read every type. It fails
// if the text does not parse.
func (s *Schema) Read(text string) (Reads, error) {
	q, err := syntax.Parse(text, syntax.Options{Limits: queryLimits})
	if err != nil {
		return Reads{}, err
	}
	r := &reader{schema: s, seen: types{}, marks: map[string]position{}, undeclared: map[string]bool{}}
	r.source(q.Source)
	end := r.chain(syntax.Connect(q.Steps, ofQuery), position{})
	out := Reads{Types: r.seen.sorted(), Subjects: end.vertices.sorted(), back: r.back}
	for what := range r.undeclared {
		out.Undeclared = append(out.Undeclared, what)
	}
	slices.Sort(out.Undeclared)
	syntax.Walk(q, func(a syntax.Arg) {
		if f, ok := a.(*syntax.RuntimeValue); ok && f.Name == "datetime" {
			out.Clock = true
		}
	})
	return out, nil
}

// A position is the abstract state of traversers: they can be at vertices of some types,
// on edges from some types to others, or both. At a value it is empty. Positions share
// their sets, which are never changed.
type position struct {
	vertices types // vertices
	from, to types // ends of edges
	lost     bool  // it could not be followed: traversers may be anywhere
}

func union(a, b position) position {
	u := position{vertices: types{}, from: types{}, to: types{}, lost: a.lost || b.lost}
	for _, p := range []position{a, b} {
		u.vertices.add(p.vertices)
		u.from.add(p.from)
		u.to.add(p.to)
	}
	return u
}

// size is a measure for the fixed point of repeat(): it grows when the position grows.
func (p position) size() int { return len(p.vertices) + len(p.from) + len(p.to) }

// A reader is the abstract interpreter of one query.
type reader struct {
	schema     *Schema
	seen       types               // types read so far
	visited    position            // union of all positions so far, which by() may refer to
	marks      map[string]position // positions of as() labels
	undeclared map[string]bool
	back       bool
}

// source follows the configuration of the traversal: strategies may contain traversals,
// which apply everywhere in the query.
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

// chain follows steps from a position and returns the position where they end. It applies
// adjacent conditions on labels before it counts a type as read.
func (r *reader) chain(steps []syntax.Step, p position) position {
	begin := p              // position of the last branching step
	var tests []syntax.Step // until() and emit() since the last repeat(); they can precede the repeat() to which they belong
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
			r.seen.add(p.vertices)
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
			tests = append(tests, *s)
			if !isBeforeRepeat(steps[i+1:]) {
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

// isBeforeRepeat reports whether a repeat() follows the current modulators.
func isBeforeRepeat(steps []syntax.Step) bool {
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

// isCondition reports whether a step only filters, each traverser independently and
// without side effects.
func isCondition(s *syntax.Step) bool {
	switch s.Name {
	case "has", "hasLabel", "hasNot", "hasId", "hasKey", "hasValue", "as", "identity":
		return true
	case "dedup":
		return len(s.Args) == 0 // with labels, the result depends on other positions
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

// move follows a step that moves traversers.
func (r *reader) move(s *syntax.Step, p position) (position, bool) {
	name, labels := moveName(s), texts(s.Args)
	switch name {
	case "in", "inE", "both", "bothE", "E", "outV", "otherV", "bothV":
		r.back = true
	}
	out, in := r.schema.out, r.schema.in
	switch name {
	case "V":
		return position{vertices: r.schema.all}, true
	case "out":
		r.edges(out, p, labels)
		return position{vertices: r.schema.follow(out, p.vertices, labels)}, true
	case "in":
		r.edges(in, p, labels)
		return position{vertices: r.schema.follow(in, p.vertices, labels)}, true
	case "both":
		reached := r.schema.follow(out, p.vertices, labels)
		reached.add(r.schema.follow(in, p.vertices, labels))
		return position{vertices: reached}, true
	case "outE":
		r.edges(out, p, labels)
		return r.onEdges(p.vertices, r.schema.follow(out, p.vertices, labels)), true
	case "inE":
		r.edges(in, p, labels)
		return r.onEdges(r.schema.follow(in, p.vertices, labels), p.vertices), true
	case "bothE":
		from, to := r.schema.follow(in, p.vertices, labels), r.schema.follow(out, p.vertices, labels)
		from.add(p.vertices)
		to.add(p.vertices)
		return r.onEdges(from, to), true
	case "E":
		return r.onEdges(r.schema.all, r.schema.all), true
	case "inV":
		return position{vertices: p.to}, true
	case "outV":
		return position{vertices: p.from}, true
	case "otherV", "bothV":
		reached := types{}
		reached.add(p.from)
		reached.add(p.to)
		return position{vertices: reached}, true
	}
	return p, false
}

// onEdges returns a position on edges. It counts both ends as read: an edge is part of its
// source entity, and exists only if its target entity does.
func (r *reader) onEdges(from, to types) position {
	r.seen.add(from)
	r.seen.add(to)
	return position{from: from, to: to}
}

// moveName returns the name of the equivalent step for one with a direction argument:
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

// edges adds a label to the undeclared ones if no edge at the position has it.
func (r *reader) edges(ends map[posture.EntityType]map[string][]posture.EntityType, p position, labels []string) {
	if len(p.vertices) == 0 {
		return
	}
	for _, label := range labels {
		if len(r.schema.follow(ends, p.vertices, []string{label})) == 0 {
			r.undeclared[fmt.Sprintf("edge %s at %s", label, listShort(p.vertices))] = true
		}
	}
}

// listShort returns the names of at most a few types.
func listShort(t types) string {
	all := t.sorted()
	if len(all) > 3 {
		return fmt.Sprintf("%s and %d more types", all[0], len(all)-1)
	}
	return fmt.Sprint(all)
}

// narrow applies a condition on labels.
func (r *reader) narrow(s *syntax.Step, p position) position {
	if len(p.from) > 0 || p.lost {
		return p // the label may be that of an edge
	}
	var names []string
	switch {
	case s.Name == "hasLabel":
		names = texts(s.Args)
		if len(names) < len(s.Args) { // some arguments are predicates
			names = within(s.Args)
			if names == nil {
				return p
			}
		}
	case s.Name == "has" && len(s.Args) == 3:
		names = texts(s.Args[:1])
		if len(names) == 0 {
			return p // the label is a variable
		}
	default:
		return p
	}
	for _, n := range names {
		if !r.schema.Has(posture.EntityType(n)) {
			r.undeclared["type "+n] = true
		}
	}
	return position{vertices: p.vertices.only(names)}
}

// within returns the strings of a single within() or eq() predicate.
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
