package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// reduceOperator builds the operators that reduce their whole input to one result.
func (r *run) reduceOperator(s plan.Step, next op) (op, error) {
	switch s := s.(type) {
	case *plan.Count:
		if s.Of != nil {
			return r.countOf(s, next), nil
		}
		return r.newReduceOp(s, next, func() reduction { return &counting{} }), nil
	case *plan.Reduce:
		return r.newReduceOp(s, next, func() reduction { return &arithmetic{op: s.Op} }), nil
	case *plan.Fold:
		return r.newReduceOp(s, next, func() reduction { return newFolding(r, s) }), nil
	case *plan.Order:
		return r.orderOp(s, next)
	case *plan.Group:
		return r.groupOp(s, next)
	case *plan.GroupCount:
		return r.groupCountOp(s, next)
	case *plan.TreeOf:
		bys, err := r.projectors(s.Bys)
		t := treeMaker{run: r, bys: bys}
		if s.SideEffect != "" {
			return r.treeEffect(s, t, next), err
		}
		return &treeOp{output: r.output(s, next), treeMaker: t, tree: &value.Tree{}}, err
	}
	return nil, nil
}

// A reduction reduces many values to one.
type reduction interface {
	// add adds row i of in and returns the memory used.
	add(in *batch, i int) (int64, error)
	// result returns the value, or false if there is none.
	result() (graph.Value, bool, error)
}

// reduceOp feeds its input to a reduction.
type reduceOp struct {
	output
	newReduction func() reduction
	reduction    reduction
}

func (r *run) newReduceOp(s plan.Step, next op, newReduction func() reduction) op {
	return &reduceOp{output: r.output(s, next), newReduction: newReduction, reduction: newReduction()}
}

func (o *reduceOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	if c, ok := o.reduction.(*counting); ok {
		return c.addAll(b)
	}
	for i := range n {
		bytes, err := o.reduction.add(b, i)
		if err != nil {
			return err
		}
		if bytes != 0 {
			if err := o.reserve(bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *reduceOp) finish() error {
	v, ok, err := o.reduction.result()
	o.reduction = o.newReduction()
	if err != nil || !ok {
		return err
	}
	if err := o.emitReduced(v); err != nil {
		return err
	}
	return o.flush()
}

func (o *reduceOp) reset() {
	o.reduction = o.newReduction()
	o.output.reset()
}

// counting counts traversers.
type counting struct{ n int64 }

func (c *counting) addAll(b *batch) error {
	n, err := b.total()
	if err == nil {
		c.n, err = addBulk(c.n, n)
	}
	return err
}

func (c *counting) add(in *batch, i int) (_ int64, err error) {
	c.n, err = addBulk(c.n, in.count(i))
	return 0, err
}

func (c *counting) result() (graph.Value, bool, error) { return graph.Long(c.n), true, nil }

// arithmetic computes a sum, minimum, maximum or mean. Null is skipped.
type arithmetic struct {
	op    plan.ReduceOp
	local bool // reduce a collection: among equal values the last is used
	acc   graph.Value
	any   bool  // a value was added, possibly null
	count int64 // of the added numbers, for the mean
}

func (a *arithmetic) add(in *batch, i int) (int64, error) {
	return 0, a.addValue(in.value(i), in.count(i))
}

func (a *arithmetic) addValue(v graph.Value, bulk int64) error {
	first := !a.any
	a.any = true
	if v.IsNull() {
		return nil
	}
	if !value.Comparable(v) {
		return value.NotComparable(v)
	}
	if a.op == plan.Min || a.op == plan.Max {
		return a.pick(v, first)
	}
	return a.sum(v, bulk)
}

// pick keeps the smaller or the greater of v and the value so far.
func (a *arithmetic) pick(v graph.Value, first bool) (err error) {
	if first {
		a.acc = v
		return nil
	}
	x, y := a.acc, v
	if a.local {
		x, y = y, x // Min and Max return the first of equal values
	}
	if a.op == plan.Min {
		a.acc, err = value.Min(x, y)
	} else {
		a.acc, err = value.Max(x, y)
	}
	return err
}

// sum adds a number to the sum as often as its bulk says.
func (a *arithmetic) sum(v graph.Value, bulk int64) (err error) {
	if !v.IsNumber() {
		return value.Errorf("%s cannot be cast to Number", value.ClassName(v))
	}
	if a.count, err = addBulk(a.count, bulk); err != nil {
		return err
	}
	times := narrow(bulk)
	wide := a.op == plan.Mean && !a.local // this mean is computed in at least 64 bits
	if wide {
		times = graph.Long(bulk)
	}
	if bulk != 1 || wide {
		if v, err = value.Mul.Apply(v, times); err != nil {
			return err
		}
	}
	if a.acc.IsNull() {
		a.acc = v
		return nil
	}
	a.acc, err = value.Add.Apply(a.acc, v)
	return err
}

// narrow returns a bulk in the smallest integer type, so that multiplying by it
// does not widen the result unnecessarily.
func narrow(n int64) graph.Value {
	switch {
	case n == int64(int8(n)):
		return graph.Byte(int8(n))
	case n == int64(int16(n)):
		return graph.Short(int16(n))
	case n == int64(int32(n)):
		return graph.Int(int32(n))
	}
	return graph.Long(n)
}

func (a *arithmetic) result() (graph.Value, bool, error) {
	if !a.any {
		return graph.Null, false, nil
	}
	if a.op == plan.Mean && !a.acc.IsNull() {
		v, err := value.Quotient(a.acc, graph.Long(a.count))
		return v, true, err
	}
	return a.acc, true, nil
}

// folding collects values in a list, or reduces them with an operator.
type folding struct {
	run   *run
	list  valueList
	op    plan.Operator
	acc   graph.Value
	bytes int64 // reserved memory of acc
}

func newFolding(r *run, s *plan.Fold) *folding { return &folding{run: r, op: s.Reduce, acc: s.Seed} }

func (f *folding) add(in *batch, i int) (int64, error) {
	v := in.value(i)
	if f.op != "" {
		before := f.bytes
		for range in.count(i) {
			err := f.run.meter.spend(1) // a bulk may be large
			if err != nil {
				return 0, err
			}
			if f.acc, err = f.run.operate(f.op, f.acc, v); err != nil {
				return 0, err
			}
			if f.bytes, err = f.run.checkSize(f.acc); err != nil {
				return 0, err
			}
		}
		return f.bytes - before, nil
	}
	return f.run.append(&f.list, v, in.count(i))
}

func (f *folding) result() (graph.Value, bool, error) {
	if f.op != "" {
		return f.acc, true, nil
	}
	v, err := f.run.list(&f.list)
	return v, true, err
}

// operate applies one of Gremlin's operators.
func (r *run) operate(op plan.Operator, a, b graph.Value) (graph.Value, error) {
	switch op {
	case "sum", "sumLong":
		return value.Add.Apply(a, b)
	case "minus":
		return value.Sub.Apply(a, b)
	case "mult":
		return value.Mul.Apply(a, b)
	case "div":
		return value.Div.Apply(a, b)
	case "min":
		return value.Min(a, b)
	case "max":
		return value.Max(a, b)
	case "assign":
		return b, nil
	case "and", "or":
		return logic(op == "or", a, b)
	case "addAll":
		for _, v := range [2]graph.Value{a, b} {
			if err := r.checkBulk(v); err != nil {
				return graph.Null, err
			}
		}
		return addAll(a, b)
	}
	return graph.Null, value.Errorf("operator %s is not supported", op)
}

func logic(or bool, a, b graph.Value) (graph.Value, error) {
	switch {
	case a.IsNull():
		return b, nil
	case b.IsNull():
		return a, nil
	case a.Kind() != graph.KindBool:
		return graph.Null, value.Errorf("%s cannot be cast to Boolean", value.ClassName(a))
	case b.Kind() != graph.KindBool:
		return graph.Null, value.Errorf("%s cannot be cast to Boolean", value.ClassName(b))
	case or:
		return graph.Bool(a.Bool() || b.Bool()), nil
	}
	return graph.Bool(a.Bool() && b.Bool()), nil
}

// addAll adds the items of one collection to another.
func addAll(a, b graph.Value) (graph.Value, error) {
	switch {
	case a.IsNull():
		return b, nil
	case b.IsNull():
		return a, nil
	}
	if ea, ok := value.Entries(a); ok {
		if eb, ok := value.Entries(b); ok {
			return mergeMaps(ea, eb), nil
		}
	}
	la, okA := value.Elems(a)
	lb, okB := value.Elems(b)
	if !okA || !okB {
		return graph.Null, value.Errorf("Objects must be both of Map or Collection: a=%s b=%s", value.ClassName(a), value.ClassName(b))
	}
	all := slices.Concat(la, lb)
	if a.Kind() == graph.KindSet {
		return plan.SetOf(all), nil
	}
	return graph.List(all...), nil
}

func mergeMaps(a, b []graph.Entry) graph.Value {
	var m mapBuilder
	for _, e := range a {
		m.put(e.Key, e.Value)
	}
	for _, e := range b {
		m.put(e.Key, e.Value)
	}
	return m.value()
}
