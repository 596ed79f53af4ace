package gremlin_test

import (
	"errors"
	"fmt"
	"slices"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/gremlin/syntax"
)

// reference is a naive interpreter of a few steps: it runs one traverser at a time,
// without plan, batches and bulk. Tests compare the engine with it. The interpreter
// stops when a query produces too many traversers: nested unions and repeats
// produce billions of them on a graph of seven vertices.
type reference struct {
	g         *graph.Graph
	remaining *int // remaining number of traversers
}

var errTooMuch = errors.New("too many traversers for the reference")

func newReference(g *graph.Graph) reference {
	remaining := 200_000
	return reference{g, &remaining}
}

// traverser is an object with its path.
type traverser struct {
	obj  graph.Value
	path []graph.Value
}

func (t traverser) to(v graph.Value) traverser {
	return traverser{v, append(slices.Clone(t.path), v)}
}

// run returns the results as texts.
func (r reference) run(text string) ([]string, error) {
	q, err := syntax.Parse(text, syntax.Options{})
	if err != nil {
		return nil, err
	}
	ts, err := r.steps(q.Steps, []traverser{{}})
	if err != nil {
		return nil, err
	}
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = gremlin.Text(r.g, t.obj)
	}
	return out, nil
}

func (r reference) steps(steps []syntax.Step, in []traverser) ([]traverser, error) {
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		var err error
		if s.Name == "repeat" { // always followed by times()
			times := int(steps[i+1].Args[0].(*syntax.Literal).Value.(int32))
			i++
			for range times {
				if in, err = r.steps(body(s.Args[0]), in); err != nil {
					return nil, err
				}
			}
			continue
		}
		if in, err = r.step(s, in); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func body(a syntax.Arg) []syntax.Step { return a.(*syntax.Traversal).Steps }

func (r reference) step(s syntax.Step, in []traverser) ([]traverser, error) {
	switch s.Name {
	case "count":
		v := graph.Long(int64(len(in)))
		return []traverser{{v, []graph.Value{v}}}, nil
	case "dedup":
		return dedup(in), nil
	case "union":
		return r.union(s, in)
	}
	var out []traverser
	for _, t := range in {
		more, err := r.one(s, t)
		if err != nil {
			return nil, err
		}
		*r.remaining -= len(more)
		if *r.remaining < 0 {
			return nil, errTooMuch
		}
		out = append(out, more...)
	}
	return out, nil
}

func dedup(in []traverser) []traverser {
	var out []traverser
	for _, t := range in {
		if !slices.ContainsFunc(out, func(o traverser) bool { return o.obj.Equal(t.obj) }) {
			out = append(out, t)
		}
	}
	return out
}

func (r reference) union(s syntax.Step, in []traverser) ([]traverser, error) {
	var out []traverser
	for _, a := range s.Args {
		more, err := r.steps(body(a), in)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// one applies a step to one traverser.
func (r reference) one(s syntax.Step, t traverser) ([]traverser, error) {
	var out []traverser
	switch s.Name {
	case "V":
		for _, h := range r.g.Vertices() {
			out = append(out, t.to(graph.VertexOf(h)))
		}
	case "out", "in", "both":
		for _, h := range r.neighbours(s, t.obj.Handle()) {
			out = append(out, t.to(graph.VertexOf(h)))
		}
	case "values":
		out = append(out, r.values(s, t)...)
	case "path":
		out = append(out, t.to(graph.Opaque(&gremlin.Path{Objects: t.path})))
	case "has":
		if r.has(s, t.obj.Handle()) {
			out = append(out, t)
		}
	case "where", "not":
		found, err := r.steps(body(s.Args[0]), []traverser{t})
		if err != nil {
			return nil, err
		}
		if (len(found) > 0) == (s.Name == "where") {
			out = append(out, t)
		}
	default:
		return nil, fmt.Errorf("the reference does not support %s()", s.Name)
	}
	return out, nil
}

// neighbours scans every edge of the graph.
func (r reference) neighbours(s syntax.Step, v graph.Handle) []graph.Handle {
	var out []graph.Handle
	follow := func(from, to func(graph.Handle) graph.Handle) {
		for _, e := range r.g.Edges() {
			if from(e) == v && (len(s.Args) == 0 || r.g.EdgeLabels()[r.g.EdgeLabel(e)] == str(s.Args[0])) {
				out = append(out, to(e))
			}
		}
	}
	if s.Name != "in" {
		follow(r.g.Source, r.g.Target)
	}
	if s.Name != "out" {
		follow(r.g.Target, r.g.Source)
	}
	return out
}

func str(a syntax.Arg) string { return a.(*syntax.Literal).Value.(string) }

func (r reference) property(v graph.Handle, key string) (graph.Value, bool) {
	k, ok := r.g.KeyByName(key)
	if !ok {
		return graph.Null, false
	}
	return r.g.VertexValue(v, k)
}

func (r reference) values(s syntax.Step, t traverser) []traverser {
	if v, ok := r.property(t.obj.Handle(), str(s.Args[0])); ok {
		return []traverser{t.to(v)}
	}
	return nil
}

// has supports has(key), has(key, number) and has(key, gt(number)), lt, neq.
func (r reference) has(s syntax.Step, v graph.Handle) bool {
	actual, ok := r.property(v, str(s.Args[0]))
	if !ok || len(s.Args) == 1 {
		return ok
	}
	op, want := "eq", s.Args[1]
	if p, isPred := want.(*syntax.Predicate); isPred {
		op, want = p.Name, p.Args[0]
	}
	n, isInt := want.(*syntax.Literal).Value.(int32)
	equal := isInt && actual.IsInteger() && actual.Int() == int64(n)
	switch op {
	case "eq":
		return equal
	case "neq":
		return !equal
	case "gt":
		return actual.IsInteger() && actual.Int() > int64(n)
	}
	return actual.IsInteger() && actual.Int() < int64(n) // lt
}
