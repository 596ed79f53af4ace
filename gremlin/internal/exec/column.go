package exec

import (
	"math"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// rowTest reports whether a row of a column satisfies a predicate.
type rowTest func(row uint32) bool

// columnTest builds the test of a predicate on a column; without a predicate, it
// tests whether a value exists. Typed columns are compared without converting
// cells to values.
func (r *run) columnTest(c *graph.Column, p *plan.Pred, negate bool) rowTest {
	test := r.knownTest(c, p)
	if r.opt.Reading == Plain || !c.HasUnknown() {
		return test
	}
	possible := (r.opt.Reading == Possible) != negate // the result for an unknown value
	return func(row uint32) bool {
		if _, unknown := c.Unknown(row); unknown {
			return possible
		}
		return test(row)
	}
}

// knownTest is columnTest for rows whose value is not unknown.
func (r *run) knownTest(c *graph.Column, p *plan.Pred) rowTest {
	if p == nil {
		return hasValue(c)
	}
	if c.HasMany() {
		return func(row uint32) bool {
			for i := range c.Count(row) {
				if p.Test(r, c.Nth(row, i)) {
					return true
				}
			}
			return false
		}
	}
	if test := r.equalTest(c, p); test != nil {
		return test
	}
	if test := r.placeTest(c, p); test != nil {
		return rowTestOf(c, test)
	}
	return func(row uint32) bool {
		v, ok := c.At(row)
		return ok && p.Test(r, v)
	}
}

// hasValue tests whether a row has a value.
func hasValue(c *graph.Column) rowTest {
	if _, sparse := c.Rows(); sparse {
		return c.Has
	}
	if present := c.Present(); present != nil {
		return present.Has
	}
	n := uint32(c.Places())
	return func(row uint32) bool { return row < n }
}

// equalTest is a fast path for equality, the most frequent predicate.
func (r *run) equalTest(c *graph.Column, p *plan.Pred) rowTest {
	if p.Op != plan.Eq {
		return nil
	}
	switch k := p.Value.Kind(); {
	case c.Kind() == graph.KindString && k == graph.KindString:
		code, ok := r.g.CodeOf(p.Value.Str())
		if !ok {
			return func(uint32) bool { return false }
		}
		return cellIs(c, c.Codes(), code)
	case c.Kind() == graph.KindInt && p.Value.IsInteger() && p.Value.Int() == int64(int32(p.Value.Int())):
		return cellIs(c, c.Ints(), int32(p.Value.Int()))
	case c.Kind() == graph.KindLong && p.Value.IsInteger():
		return cellIs(c, c.Longs(), p.Value.Int())
	}
	return nil
}

// cellIs tests whether a row has the given value.
func cellIs[T comparable](c *graph.Column, cells []T, want T) rowTest {
	if _, sparse := c.Rows(); sparse {
		return func(row uint32) bool {
			i := c.Place(row)
			return i >= 0 && cells[i] == want
		}
	}
	present := c.Present()
	if present == nil {
		return func(row uint32) bool { return int(row) < len(cells) && cells[row] == want }
	}
	return func(row uint32) bool { return int(row) < len(cells) && cells[row] == want && present.Has(row) }
}

// rowTestOf converts a test of positions to a test of rows.
func rowTestOf(c *graph.Column, test func(i int) bool) rowTest {
	if _, sparse := c.Rows(); !sparse && c.Present() == nil {
		n := c.Places()
		return func(row uint32) bool { return int(row) < n && test(int(row)) }
	}
	return func(row uint32) bool {
		i := c.Place(row)
		return i >= 0 && test(i)
	}
}

// placeTest builds a test for the cells of a typed column, or returns nil if
// there is no fast path for the predicate.
func (r *run) placeTest(c *graph.Column, p *plan.Pred) func(i int) bool {
	switch c.Kind() {
	case graph.KindString:
		return r.stringTest(c.Codes(), p)
	case graph.KindBool:
		return boolTest(c.Bools(), p)
	case graph.KindInt:
		return numberTest(c.Ints(), p)
	case graph.KindLong:
		return numberTest(c.Longs(), p)
	case graph.KindDouble:
		return floatTest(c.Doubles(), p)
	}
	return nil
}

// stringTest compares codes, or searches in strings. It returns nil for other predicates, such as
// those on the order of strings.
func (r *run) stringTest(codes []uint32, p *plan.Pred) func(i int) bool {
	switch p.Op {
	case plan.Eq, plan.Neq:
		code, ok := uint32(0), false
		if p.Value.Kind() == graph.KindString {
			code, ok = r.g.CodeOf(p.Value.Str())
		}
		if p.Op == plan.Neq {
			return func(i int) bool { return !ok || codes[i] != code }
		}
		return func(i int) bool { return ok && codes[i] == code }
	case plan.Within, plan.Without:
		if p.Set != nil { // the values are in a bulk set, not in p.Values
			return nil
		}
		set := make(map[uint32]bool, len(p.Values))
		for _, v := range p.Values {
			if v.Kind() == graph.KindString {
				if code, ok := r.g.CodeOf(v.Str()); ok {
					set[code] = true
				}
			}
		}
		want := p.Op == plan.Within
		return func(i int) bool { return set[codes[i]] == want }
	case plan.StartingWith, plan.EndingWith, plan.Containing, plan.Regex:
		return func(i int) bool { return p.TestText(r, r.g.StringOf(codes[i])) }
	}
	return nil
}

func boolTest(bits graph.Bits, p *plan.Pred) func(i int) bool {
	if p.Op != plan.Eq && p.Op != plan.Neq {
		return nil
	}
	if p.Value.Kind() != graph.KindBool {
		differs := p.Op == plan.Neq // from a value that is no boolean, every boolean differs
		return func(int) bool { return differs }
	}
	want := p.Value.Bool() == (p.Op == plan.Eq)
	return func(i int) bool { return bits.Has(uint32(i)) == want }
}

// numberTest compares integers with an integer or a double.
func numberTest[T int32 | int64](nums []T, p *plan.Pred) func(i int) bool {
	if p.Op > plan.Gte { // not a comparison: those are Eq to Gte
		return nil
	}
	if p.Value.Kind() == graph.KindDouble {
		x := p.Value.Float()
		if isSpecial(x) || roundsIntegers(x) {
			return nil
		}
		return compareWith(p.Op, x, func(i int) float64 { return float64(nums[i]) })
	}
	if !p.Value.IsInteger() {
		return nil
	}
	x := p.Value.Int()
	switch p.Op { // frequent predicates avoid the second function call of compareWith
	case plan.Eq:
		return func(i int) bool { return int64(nums[i]) == x }
	case plan.Gt:
		return func(i int) bool { return int64(nums[i]) > x }
	case plan.Lt:
		return func(i int) bool { return int64(nums[i]) < x }
	}
	return compareWith(p.Op, x, func(i int) int64 { return int64(nums[i]) })
}

// floatTest compares doubles with a number.
func floatTest(nums []float64, p *plan.Pred) func(i int) bool {
	if p.Op > plan.Gte { // not a comparison: those are Eq to Gte
		return nil
	}
	var x float64
	switch {
	case p.Value.Kind() == graph.KindDouble:
		x = p.Value.Float()
	case p.Value.IsInteger():
		if x = float64(p.Value.Int()); roundsIntegers(x) {
			return nil
		}
	default:
		return nil
	}
	if isSpecial(x) {
		return nil
	}
	switch p.Op { // frequent predicates avoid the second function call of compareWith
	case plan.Gt:
		return func(i int) bool { return nums[i] > x }
	case plan.Lt:
		return func(i int) bool { return nums[i] < x }
	}
	return compareWith(p.Op, x, func(i int) float64 { return nums[i] })
}

// isSpecial reports whether Gremlin compares x by rules other than those of the machine: NaN
// and the two zeros.
func isSpecial(x float64) bool { return x != x || x == 0 }

// roundsIntegers reports whether an integer other than x can have x as its nearest double.
func roundsIntegers(x float64) bool { return math.Abs(x) >= 1<<53 }

func compareWith[T int64 | float64](op plan.PredOp, x T, valueAt func(i int) T) func(i int) bool {
	switch op {
	case plan.Eq:
		return func(i int) bool { return valueAt(i) == x }
	case plan.Neq:
		return func(i int) bool { return valueAt(i) != x }
	case plan.Lt:
		return func(i int) bool { return valueAt(i) < x }
	case plan.Lte:
		return func(i int) bool { return valueAt(i) <= x }
	case plan.Gt:
		return func(i int) bool { return valueAt(i) > x }
	}
	return func(i int) bool { return valueAt(i) >= x }
}
