package graph_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vigil/graph"
)

// TestNumbersOfDifferentKindsAreOrderedExactly compares all pairs of a strictly ascending
// sequence. A conversion to a double would make many neighbours equal.
func TestNumbersOfDifferentKindsAreOrderedExactly(t *testing.T) {
	t.Parallel()
	largeInt := func(s string) graph.Value {
		n, ok := new(big.Int).SetString(s, 10)
		if !ok {
			t.Fatalf("%q is not an integer", s)
		}
		return graph.BigInt(n)
	}
	ascending := []graph.Value{
		graph.Double(math.Inf(-1)),
		graph.Double(math.Nextafter(-1<<63, math.Inf(-1))),
		largeInt("-9223372036854775809"),
		graph.Long(math.MinInt64),
		graph.Long(math.MinInt64 + 1),
		graph.Long(-1<<53 - 1),
		graph.Double(-1 << 53),
		graph.Double(-1.5),
		graph.Int(-1),
		graph.Float(-0.5),
		graph.Double(math.Copysign(0, -1)),
		graph.Int(0),
		graph.Double(math.SmallestNonzeroFloat64),
		graph.Float(0.5),
		graph.Byte(1),
		graph.Float(1 << 24),
		graph.Int(1<<24 + 1),
		graph.Float(1<<24 + 2),
		graph.Double(1 << 53),
		graph.Long(1<<53 + 1),
		graph.Double(1<<53 + 2),
		largeInt("9007199254740995"),
		graph.Long(math.MaxInt64),
		graph.Double(1 << 63),
		largeInt("9223372036854775809"),
		graph.Double(1e23), // this double is 99999999999999991611392
		largeInt("100000000000000000000000"),
		graph.Float(1e30), // this float is 1000000015047466219876688855040
		graph.Double(math.MaxFloat64),
		graph.Double(math.Inf(1)),
		graph.Double(math.NaN()),
	}
	for i, a := range ascending {
		for j, b := range ascending {
			if got, want := graph.Order(a, b), sign(i-j); got != want {
				t.Errorf("Order(%v %v, %v %v) = %d, want %d", a.Kind(), a, b.Kind(), b, got, want)
			}
		}
	}
}

// TestOrderOfNumbersIsTransitive draws numbers that are equal or nearly equal. A float that is not
// a whole number and a decimal are not in the same group: 0.1f equals 0.1M, and 0.1M equals the
// double 0.1D, which is less than 0.1f.
func TestOrderOfNumbersIsTransitive(t *testing.T) {
	t.Parallel()
	for name, number := range map[string]*rapid.Generator[graph.Value]{
		"integers, floats and doubles":   rapid.OneOf(integers(), doubles(), rapid.Map(doubles(), asFloat)),
		"integers, doubles and decimals": rapid.OneOf(integers(), doubles(), decimals()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				checkTransitive(t, rapid.SliceOfN(number, 3, 8).Draw(t, "numbers"))
			})
		})
	}
}

// checkTransitive sorts numbers by the order of neighbours. Then every number must have the
// expected order relative to all others.
func checkTransitive(t *rapid.T, vs []graph.Value) {
	slices.SortFunc(vs, graph.Order)
	for i, a := range vs {
		want := 0
		for j := i; j < len(vs); j++ {
			b := vs[j]
			if j > i && graph.Order(vs[j-1], b) != 0 {
				want = -1
			}
			if x, y := graph.Order(a, b), graph.Order(b, a); x != want || y != -want {
				t.Fatalf("%v %v and %v %v: Order is %d, and %d for exchanged arguments; want %d because of the numbers between them", a.Kind(), a, b.Kind(), b, x, y, want)
			}
			if graph.Eq(a, b) != (want == 0 && a.String() != "NaN") {
				t.Fatalf("%v %v and %v %v: Eq is %t, but Order is %d", a.Kind(), a, b.Kind(), b, graph.Eq(a, b), want)
			}
		}
	}
}

// nearLimits draws integers close to those from which floats lose digits, and close to zero.
func nearLimits() *rapid.Generator[*big.Int] {
	return rapid.Custom(func(t *rapid.T) *big.Int {
		n := big.NewInt(0)
		if bits := rapid.SampledFrom([]uint{0, 24, 31, 53, 62, 63, 64, 80}).Draw(t, "bits"); bits > 0 {
			n.Lsh(big.NewInt(1), bits)
		}
		n.Add(n, big.NewInt(rapid.Int64Range(-3, 3).Draw(t, "offset")))
		if rapid.Bool().Draw(t, "negative") {
			n.Neg(n)
		}
		return n
	})
}

// integers draws an integer of the narrowest or of the widest kind.
func integers() *rapid.Generator[graph.Value] {
	return rapid.Custom(func(t *rapid.T) graph.Value {
		n := nearLimits().Draw(t, "integer")
		switch {
		case rapid.Bool().Draw(t, "big") || !n.IsInt64():
			return graph.BigInt(n)
		case n.Int64() == int64(int32(n.Int64())):
			return graph.Int(int32(n.Int64()))
		}
		return graph.Long(n.Int64())
	})
}

func doubles() *rapid.Generator[graph.Value] {
	return rapid.OneOf(
		rapid.Map(nearLimits(), func(n *big.Int) graph.Value {
			f, _ := new(big.Float).SetInt(n).Float64()
			return graph.Double(f)
		}),
		rapid.Map(rapid.SampledFrom([]float64{
			0.1, 0.5, -0.5, 1.5, math.Copysign(0, -1), 1e23, 1e300, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN(),
		}), graph.Double),
	)
}

func asFloat(v graph.Value) graph.Value { return graph.Float(float32(v.Float())) }

// decimals draws a whole decimal of some scale, or a small one.
func decimals() *rapid.Generator[graph.Value] {
	return rapid.OneOf(
		rapid.Map(nearLimits(), func(n *big.Int) graph.Value { return graph.BigDecimal(new(big.Int).Mul(n, big.NewInt(100)), 2) }),
		rapid.Map(rapid.Int64Range(-20, 20), func(n int64) graph.Value { return graph.BigDecimal(big.NewInt(n), 1) }),
		rapid.Just(graph.BigDecimal(big.NewInt(1), -23)),
	)
}

func sign(n int) int { return min(1, max(-1, n)) }
