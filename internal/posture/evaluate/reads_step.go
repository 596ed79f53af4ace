package evaluate

import (
	"fmt"

	"vigil/gremlin/syntax"
)

// step follows a step that goes nowhere by itself: it looks at where it is, or
// sends traversers into traversals.
func (r *reader) step(s *syntax.Step, p place) place {
	switch s.Name {
	case "hasLabel":
		return r.narrow(s, p)
	case "has":
		if len(s.Args) == 3 {
			p = r.narrow(s, p)
			r.keys(p, texts(s.Args[1:2]))
		} else {
			r.keys(p, texts(s.Args[:min(1, len(s.Args))]))
		}
		r.children(s, p)
		return p
	case "hasNot":
		r.keys(p, texts(s.Args))
		return p
	case "values", "properties", "valueMap", "propertyMap", "elementMap":
		r.keys(p, texts(s.Args))
		return place{}
	case "as":
		for _, name := range texts(s.Args) {
			r.marks[name] = p
		}
		return p
	case "select":
		if names := texts(s.Args); len(names) == 1 && len(s.Args) == 1 {
			return r.marks[names[0]]
		}
		return place{}
	case "repeat":
		return r.repeat(s, p)
	case "optional":
		return union(p, r.children(s, p))
	case "union", "coalesce", "flatMap", "map", "local", "choose", "branch", "option":
		return r.children(s, p)
	case "by":
		r.keys(p, texts(s.Args))
		r.children(s, p)
		return p
	case "match", "inject", "call", "sack", "fold", "unfold", "cap", "group", "groupCount", "project", "tree", "subgraph", "path":
		r.children(s, p)
		return place{at: r.lost()}
	case "id", "label", "count", "constant", "asDate", "dateAdd", "dateDiff", "math", "sum", "max", "min", "mean":
		r.children(s, p)
		return place{}
	}
	r.children(s, p) // where, filter, not, and, or, until, emit and whatever else asks
	return p
}

// lost is where a traverser is that could not be followed: anywhere.
func (r *reader) lost() types {
	all := r.schema.all()
	r.seen.add(all)
	r.back = true
	return all
}

// children follows the traversals among the arguments of a step and returns where
// they end.
func (r *reader) children(s *syntax.Step, p place) place {
	var end place
	for _, a := range s.Args {
		if t, ok := a.(*syntax.Traversal); ok {
			end = union(end, r.chain(syntax.Connect(t.Steps, false), p))
		}
	}
	return end
}

// repeat follows a traversal until it leads to nothing new.
func (r *reader) repeat(s *syntax.Step, p place) place {
	for {
		next := union(p, r.children(s, p))
		if len(next.at) == len(p.at) {
			return next
		}
		p = next
	}
}

func union(a, b place) place {
	at := types{}
	at.add(a.at)
	at.add(b.at)
	return place{at: at}
}

// keys notes properties that nothing here has.
func (r *reader) keys(p place, names []string) {
	if !p.vertices() || len(p.at) == 0 {
		return // what edges have is not part of the schema
	}
	for _, name := range names {
		found := false
		for t := range p.at {
			found = found || r.schema.HasProperty(t, name)
		}
		if !found {
			r.strange[fmt.Sprintf("property %s of %s", name, few(p.at))] = true
		}
	}
}
