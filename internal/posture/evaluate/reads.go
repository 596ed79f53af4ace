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
	// Strange are types, properties and edges that the schema does not have at the
	// place where the query asks for them.
	Strange []string

	back bool // it also goes against the direction of edges, or may
}

// Read works out what a Gremlin query looks at. Where it cannot follow the query
// it assumes every type. The error is that of the text.
func (s *Schema) Read(text string) (Reads, error) {
	limits := syntax.Limits{Length: 64 << 10, Steps: 400, Depth: 32, Literals: 10_000}
	q, err := syntax.Parse(text, syntax.Options{Limits: limits})
	if err != nil {
		return Reads{}, err
	}
	r := &reader{schema: s, seen: types{}, marks: map[string]place{}, strange: map[string]bool{}}
	end := r.chain(syntax.Connect(q.Steps, true), place{})
	out := Reads{Types: r.seen.sorted(), Subjects: end.at.sorted(), back: r.back}
	for what := range r.strange {
		out.Strange = append(out.Strange, what)
	}
	slices.Sort(out.Strange)
	syntax.Walk(q, func(a syntax.Arg) {
		if f, ok := a.(*syntax.Fresh); ok && f.Name == "datetime" {
			out.Clock = true
		}
	})
	return out, nil
}

// A place is where traversers can be: at vertices of some types, or on edges
// between them.
type place struct {
	at       types // vertices
	from, to types // ends of edges; nil at vertices
}

func (p place) vertices() bool { return p.from == nil }

// A reader follows a query through the schema.
type reader struct {
	schema  *Schema
	seen    types
	marks   map[string]place // of as()
	strange map[string]bool
	back    bool
}

// chain follows steps from a place and returns where they end. Conditions on
// labels that stand together count before anything is seen.
func (r *reader) chain(steps []syntax.Step, p place) place {
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
			if p.vertices() {
				r.seen.add(p.at)
			}
			continue
		}
		p = r.step(s, p)
	}
	return p
}

// isCondition reports whether a step only lets through or not.
func isCondition(s *syntax.Step) bool {
	switch s.Name {
	case "has", "hasLabel", "hasNot", "hasId", "hasKey", "hasValue", "where", "filter", "not", "and", "or", "as", "dedup", "identity":
		return true
	}
	return false
}

// move follows a step that goes somewhere.
func (r *reader) move(s *syntax.Step, p place) (place, bool) {
	labels := texts(s.Args)
	switch s.Name {
	case "in", "inE", "both", "bothE", "E", "outV", "otherV", "bothV":
		r.back = true
	}
	switch s.Name {
	case "V":
		return place{at: r.schema.all()}, true
	case "out":
		r.edges(r.schema.out, p, labels)
		return place{at: r.schema.follow(r.schema.out, p.at, labels)}, true
	case "in":
		r.edges(r.schema.in, p, labels)
		return place{at: r.schema.follow(r.schema.in, p.at, labels)}, true
	case "both":
		at := r.schema.follow(r.schema.out, p.at, labels)
		at.add(r.schema.follow(r.schema.in, p.at, labels))
		return place{at: at}, true
	case "outE":
		r.edges(r.schema.out, p, labels)
		return place{from: p.at, to: r.schema.follow(r.schema.out, p.at, labels)}, true
	case "inE":
		r.edges(r.schema.in, p, labels)
		return place{from: r.schema.follow(r.schema.in, p.at, labels), to: p.at}, true
	case "bothE", "E":
		return place{from: r.schema.all(), to: r.schema.all()}, true
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

// edges notes labels that no edge here has.
func (r *reader) edges(ends map[posture.EntityType]map[string][]posture.EntityType, p place, labels []string) {
	if len(p.at) == 0 {
		return
	}
	for _, label := range labels {
		if len(r.schema.follow(ends, p.at, []string{label})) == 0 {
			r.strange[fmt.Sprintf("edge %s at %s", label, few(p.at))] = true
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
	if !p.vertices() {
		return p
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
			r.strange["type "+n] = true
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
