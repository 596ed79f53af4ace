package evaluate

import (
	"fmt"

	"vigil/gremlin/syntax"
)

// step follows a step that does not move traversers itself: it reads their elements or
// contains traversals. After an unknown step traversers may be anywhere.
func (r *reader) step(s *syntax.Step, p position) position {
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
	case "where", "filter", "not", "and", "or", "sideEffect",
		"hasId", "hasKey", "hasValue", "is", "dedup", "limit", "range", "skip", "tail", "sample", "coin", "simplePath", "cyclicPath",
		"timeLimit", "identity", "barrier", "order", "aggregate", "store", "times", "with", "profile", "discard":
		r.children(s, p)
		return p
	case "values", "properties", "valueMap", "propertyMap", "elementMap":
		r.keys(p, texts(s.Args))
		return position{}
	case "id", "label", "key", "value", "count", "constant", "sum", "max", "min", "mean", "math", "loops", "asDate", "asNumber", "asString", "asBool",
		"dateAdd", "dateDiff", "length", "toLower", "toUpper", "trim", "lTrim", "rTrim", "split", "substring", "replace", "concat", "format":
		r.children(s, p)
		return position{}
	case "as":
		return r.mark(texts(s.Args), p)
	case "select":
		return r.selectPosition(s, p)
	case "optional", "choose", "branch": // traversers that no option matches pass unchanged
		return union(p, r.children(s, p))
	case "union", "coalesce", "flatMap", "map", "local":
		return r.children(s, p)
	case "by":
		r.keys(p, texts(s.Args))
		r.children(s, union(p, r.visited)) // path() and select() apply by() to earlier positions
		return p
	}
	r.children(s, union(p, r.visited))
	return r.anywhere()
}

// anywhere returns the position of traversers that could not be followed.
func (r *reader) anywhere() position {
	all := r.schema.all
	r.seen.add(all)
	r.back = true
	return position{vertices: all, from: all, to: all, lost: true}
}

// mark records the position of as() labels. At the start of where(as('a').out()) a known
// label returns to its position.
func (r *reader) mark(names []string, p position) position {
	for _, name := range names {
		p = union(p, r.marks[name])
	}
	for _, name := range names {
		r.marks[name] = union(r.marks[name], p)
	}
	return p
}

// selectPosition returns the position of one label. It does not follow several labels, parts of
// maps, side effects and selected traversals.
func (r *reader) selectPosition(s *syntax.Step, p position) position {
	names := texts(s.Args)
	if mark, ok := r.marks[first(names)]; ok && len(names) == 1 && len(s.Args) == 1 && !p.lost {
		return mark
	}
	r.children(s, union(p, r.visited))
	return r.anywhere()
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// children follows the traversals in the arguments of a step and returns the union of
// their ends.
func (r *reader) children(s *syntax.Step, p position) position {
	var end position
	for _, a := range s.Args {
		if t, ok := a.(*syntax.Traversal); ok {
			end = union(end, r.chain(syntax.Connect(t.Steps, ofTraversal), p))
		}
	}
	return end
}

// repeat follows a traversal, and the until() and emit() before it, to a fixed point.
func (r *reader) repeat(s *syntax.Step, tests []syntax.Step, p position) position {
	for {
		before, recorded := p.size(), r.size()
		p = union(p, r.children(s, p))
		if p.size() > before || r.size() > recorded {
			continue
		}
		for _, t := range tests {
			r.children(&t, p)
		}
		if r.size() == recorded {
			return p
		}
	}
}

// size is a measure for the fixed point: it grows with the positions of labels and visited.
func (r *reader) size() int {
	n := r.visited.size()
	for _, p := range r.marks {
		n += 1 + p.size()
	}
	return n
}

// keys records properties that no type at the position has as undeclared.
func (r *reader) keys(p position, names []string) {
	if len(p.from) > 0 || len(p.vertices) == 0 {
		return // the schema does not declare properties of edges
	}
	for _, name := range names {
		found := false
		for t := range p.vertices {
			found = found || r.schema.HasProperty(t, name)
		}
		if !found {
			r.undeclared[fmt.Sprintf("property %s of %s", name, listShort(p.vertices))] = true
		}
	}
}
