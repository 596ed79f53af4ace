package exec

import (
	"slices"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// listCall builds the steps that combine the current list with the list in their argument:
// combine, product, merge, intersect, difference and disjunct. merge also takes two maps.
func (r *run) listCall(s *plan.Call, next op) (op, error) {
	arg, err := r.argument(s)
	if err != nil {
		return nil, err
	}
	literal := len(s.Traversals) == 0
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		v := in.value(i)
		if s.Name == "merge" {
			if es, ok := value.Entries(v); ok {
				m, err := r.mergeMap(es, arg, in, i)
				return m, true, err
			}
		}
		a, err := listOperand(s.Name, v)
		if err != nil {
			return graph.Null, false, err
		}
		other, err := arg(in, i)
		if err != nil {
			return graph.Null, false, err
		}
		if err := r.checkBulk(other); err != nil {
			return graph.Null, false, err
		}
		b, err := listArgument(s.Name, other, literal)
		if err != nil {
			return graph.Null, false, err
		}
		// The result has at most size items of itemBytes each. Most of the steps use hash tables.
		size, itemBytes := len(a)+len(b), int64(2*keyBytes)
		switch s.Name {
		case "combine":
			itemBytes = 24 // one value
		case "product":
			size, itemBytes = len(a)*len(b), 72 // a list of two values
		}
		if err := r.meter.checkSize(itemBytes * int64(size)); err != nil {
			return graph.Null, false, err
		}
		if err := r.meter.spend(size); err != nil {
			return graph.Null, false, err
		}
		return combine(s.Name, a, b), true, nil
	}), nil
}

func listOperand(name string, v graph.Value) ([]graph.Value, error) {
	if v.IsNull() {
		return nil, value.Errorf("Incoming traverser for %s step can't be null.", name)
	}
	vs, ok := value.Elems(v)
	if !ok {
		return nil, value.Errorf("%s step can only take an array or an Iterable type for incoming traversers, encountered %s", name, value.ClassName(v))
	}
	return vs, nil
}

func listArgument(name string, v graph.Value, literal bool) ([]graph.Value, error) {
	vs, ok := value.Elems(v)
	switch {
	case ok:
		return vs, nil
	case name == "merge" && literal && v.Kind() == graph.KindMap:
		return nil, value.Errorf("merge step type mismatch: expected argument to be Iterable but got Map")
	case literal && v.IsNull():
		return nil, value.Errorf("Argument provided for %s step can't be null.", name)
	case literal:
		return nil, value.Errorf("%s step can only take an array or an Iterable as an argument, encountered %s", name, value.ClassName(v))
	case v.IsNull():
		return nil, value.Errorf("Provided traversal argument for %s step must yield an iterable type, not null", name)
	}
	return nil, value.Errorf("Provided traversal argument for %s step must yield an iterable type, encountered %s", name, value.ClassName(v))
}

func (r *run) mergeMap(es []graph.Entry, arg func(*batch, int) (graph.Value, error), in *batch, i int) (graph.Value, error) {
	v, err := arg(in, i)
	if err != nil {
		return graph.Null, err
	}
	other, ok := value.Entries(v)
	if !ok {
		return graph.Null, value.Errorf("merge step expected provided argument to evaluate to a Map, encountered %s", value.ClassName(v))
	}
	return mergeMaps(es, other), r.meter.spend(len(es) + len(other))
}

// combine returns the result of the named step for two lists.
func combine(name string, a, b []graph.Value) graph.Value {
	switch name {
	case "combine":
		return graph.List(slices.Concat(a, b)...)
	case "product":
		out := make([]graph.Value, 0, len(a)*len(b))
		for _, x := range a {
			for _, y := range b {
				out = append(out, graph.List(x, y))
			}
		}
		return graph.List(out...)
	case "merge":
		return plan.SetOf(slices.Concat(a, b))
	case "intersect":
		return plan.SetOf(keep(b, tableOf(a), true))
	case "difference":
		return plan.SetOf(keep(a, tableOf(b), false))
	}
	// disjunct: what is in one of them only
	return plan.SetOf(append(keep(a, tableOf(b), false), keep(b, tableOf(a), false)...))
}

func tableOf(vs []graph.Value) *value.Keys {
	var k value.Keys
	for _, v := range vs {
		k.Put(v)
	}
	return &k
}

// keep returns the values that are in a table, or if want is false those that are not.
func keep(vs []graph.Value, in *value.Keys, want bool) []graph.Value {
	var out []graph.Value
	for _, v := range vs {
		if (in.Find(v) >= 0) == want {
			out = append(out, v)
		}
	}
	return out
}

// conjoin joins the items of a list to a string; it ignores null.
func (r *run) conjoin(sep string) func(graph.Value) (graph.Value, error) {
	return func(v graph.Value) (graph.Value, error) {
		vs, err := listOperand("conjoin", v)
		if err != nil {
			return graph.Null, err
		}
		if len(vs) == 0 {
			return graph.String(""), nil
		}
		var parts []string
		size := int64(0)
		for _, x := range vs {
			if x.IsNull() {
				continue
			}
			t, err := r.text(x)
			if err != nil {
				return graph.Null, err
			}
			parts = append(parts, t)
			size += int64(len(t) + len(sep))
			if err := r.checkLength(size); err != nil {
				return graph.Null, err
			}
		}
		if size == 0 { // only null, or empty strings without a separator, as in TinkerPop
			return graph.Null, nil
		}
		return graph.String(strings.Join(parts, sep)), r.meter.spend(int(size / 64))
	}
}
