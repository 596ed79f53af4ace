package graph_test

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vigil/graph"
)

func dec(t *testing.T, s string) graph.Value {
	t.Helper()
	v, ok := graph.ParseDecimal(s)
	if !ok {
		t.Fatalf("%q is not a decimal", s)
	}
	return v
}

func TestMalformedDecimals(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", ".", "-", "-.", ".-5", ".+5", "1.-5", "1.+5", "-1.-5", "--5", "1_0", "1._0", "1.0_0", "0x1", "1e", "1e1_0", "1.5.5", "1 ", "Infinity", "NaN",
	} {
		if v, ok := graph.ParseDecimal(s); ok {
			t.Errorf("%q was parsed as %s", s, v)
		}
	}
}

func TestEqComparesNumbersByValue(t *testing.T) {
	t.Parallel()
	big20, _ := new(big.Int).SetString("100000000000000000000", 10)
	tests := []struct {
		name string
		a, b graph.Value
		want bool
	}{
		{"int and long", graph.Int(1), graph.Long(1), true},
		{"byte and short", graph.Byte(-3), graph.Short(-3), true},
		{"int and double", graph.Int(1), graph.Double(1), true},
		// A 32-bit float rounds 2^24+1 to 2^24, and a double rounds 2^53+1 to 2^53.
		{"int and float that rounds it", graph.Int(1<<24 + 1), graph.Float(1 << 24), false},
		{"long and float that rounds it", graph.Long(1<<24 + 1), graph.Float(1 << 24), false},
		{"long and double that rounds it", graph.Long(1<<53 + 1), graph.Double(1 << 53), false},
		{"long and double of its value", graph.Long(1 << 53), graph.Double(1 << 53), true},
		{"longest long and double that rounds it", graph.Long(math.MaxInt64), graph.Double(1 << 63), false},
		{"least long and double of its value", graph.Long(math.MinInt64), graph.Double(-1 << 63), true},
		{"integer and negative zero", graph.Int(0), graph.Double(math.Copysign(0, -1)), false},
		{"big integer and negative zero", graph.BigInt(new(big.Int)), graph.Double(math.Copysign(0, -1)), false},
		{"float and double that round the text differently", graph.Float(0.1), graph.Double(0.1), false},
		{"float and double that are both exact", graph.Float(0.5), graph.Double(0.5), true},
		{"decimal and int", dec(t, "1.00"), graph.Int(1), true},
		{"decimal and the digits of a double", dec(t, "0.1"), graph.Double(0.1), true},
		{"decimal and the digits of a float", dec(t, "0.1"), graph.Float(0.1), true},
		{"decimals of different scale", dec(t, "2.50"), dec(t, "2.5"), true},
		{"big integer and double", graph.BigInt(big20), graph.Double(1e20), true},
		{"big integer and double of its value", graph.BigInt(big.NewInt(1 << 62)), graph.Double(1 << 62), true},
		{"decimal and double that rounds it", dec(t, "1e23"), graph.Double(1e23), false},
		{"big integer and infinity", graph.BigInt(big20), graph.Double(math.Inf(1)), false},
		{"NaN", graph.Double(math.NaN()), graph.Double(math.NaN()), false},
		{"zeros of different sign", graph.Double(0), graph.Double(math.Copysign(0, -1)), false},
		{"number and string", graph.Int(1), graph.String("1"), false},
		{"null and null", graph.Null, graph.Null, true},
		{"null and zero", graph.Null, graph.Int(0), false},
		{"lists", graph.List(graph.Int(1)), graph.List(graph.Long(1)), true},
		{"lists in other order", graph.List(graph.Int(1), graph.Int(2)), graph.List(graph.Int(2), graph.Int(1)), false},
		{"sets in other order", graph.Set(graph.Int(1), graph.Int(2)), graph.Set(graph.Int(2), graph.Int(1)), true},
		{"list and set", graph.List(graph.Int(1)), graph.Set(graph.Int(1)), false},
	}
	for _, tt := range tests {
		if got := graph.Eq(tt.a, tt.b); got != tt.want {
			t.Errorf("%s: Eq(%v, %v) = %t", tt.name, tt.a, tt.b, got)
		}
		if got := graph.Eq(tt.b, tt.a); got != tt.want {
			t.Errorf("%s: Eq(%v, %v) = %t", tt.name, tt.b, tt.a, got)
		}
	}
}

func TestEqualDistinguishesKinds(t *testing.T) {
	t.Parallel()
	nan := graph.Double(math.NaN())
	nanOfOtherBits := graph.Double(math.Float64frombits(math.Float64bits(math.NaN()) ^ 1))
	berlin := time.Date(2024, 5, 6, 12, 0, 0, 0, time.FixedZone("", 7200))
	tests := []struct {
		a, b graph.Value
		want bool
	}{
		{graph.Int(1), graph.Int(1), true},
		{graph.Int(1), graph.Long(1), false},
		{nan, nan, true},
		{nan, nanOfOtherBits, true},
		{dec(t, "1.0"), dec(t, "1.00"), false},
		{graph.String("a"), graph.String(string([]byte{'a'})), true},
		{graph.DateTime(berlin), graph.DateTime(berlin.UTC()), false},
		{graph.DateTime(berlin), graph.DateTime(berlin), true},
		{graph.UUID([16]byte{1}), graph.UUID([16]byte{1}), true},
		{graph.Opaque(3), graph.Opaque(3), true},
		{graph.Opaque([]int{3}), graph.Opaque([]int{3}), false}, // slices do not support ==
		{graph.VertexOf(1), graph.EdgeOf(1), false},
		{graph.VertexPropertyOf(1, 2, 3), graph.VertexPropertyOf(1, 2, 3), true},
		{graph.VertexPropertyOf(1, 2, 3), graph.VertexPropertyOf(1, 2, 4), false},
		{graph.EdgePropertyOf(1, 2), graph.MetaPropertyOf(1, 2, 0, 0), false},
	}
	for _, tt := range tests {
		if got := tt.a.Equal(tt.b); got != tt.want {
			t.Errorf("%v %v equal to %v %v: %t", tt.a.Kind(), tt.a, tt.b.Kind(), tt.b, got)
		}
	}
}

func TestLargeMapsAndSetsIgnoreOrder(t *testing.T) {
	t.Parallel()
	var a, b []graph.Value
	var m, n []graph.Entry
	for i := range int32(50) {
		a, b = append(a, graph.Int(i)), append(b, graph.Int(49-i))
		m = append(m, graph.Entry{Key: graph.Int(i), Value: graph.Long(int64(i))})
		n = append(n, graph.Entry{Key: graph.Int(49 - i), Value: graph.Long(int64(49 - i))})
	}
	if !graph.Set(a...).Equal(graph.Set(b...)) || graph.Set(a...).Hash() != graph.Set(b...).Hash() {
		t.Error("sets differ by order")
	}
	if !graph.Map(m...).Equal(graph.Map(n...)) || graph.Map(m...).Hash() != graph.Map(n...).Hash() {
		t.Error("maps differ by order")
	}
	b[7] = graph.Int(99)
	if graph.Set(a...).Equal(graph.Set(b...)) {
		t.Error("different sets are equal")
	}
}

func TestOrderPutsTypesInSequence(t *testing.T) {
	t.Parallel()
	want := []graph.Value{
		graph.Null, graph.Bool(false), graph.Bool(true),
		graph.Double(math.Inf(-1)), graph.Long(-5), dec(t, "-4.5"), graph.Int(0), graph.Float(0.5), graph.Byte(1), graph.Double(math.Inf(1)), graph.Double(math.NaN()),
		graph.DateTime(time.Unix(-5, 0)), graph.DateTime(time.Unix(5, 1)),
		graph.String("a"), graph.String("b"),
		graph.UUID([16]byte{0x80}), graph.UUID([16]byte{1}), // signed, as in Java: the first is negative
		graph.VertexOf(0), graph.EdgeOf(0), graph.Set(graph.Int(1)), graph.List(graph.Int(1)), graph.List(graph.Int(1), graph.Null), graph.Map(),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortStableFunc(got, graph.Order)
	for i := range want {
		if !got[i].Equal(want[i]) {
			t.Fatalf("place %d: %v %v, want %v %v", i, got[i].Kind(), got[i], want[i].Kind(), want[i])
		}
	}
}

func TestCompareWithoutOrder(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]graph.Value{
		{graph.Int(1), graph.String("1")},
		{graph.Double(math.NaN()), graph.Int(1)},
		{graph.Null, graph.Int(1)},
		{graph.List(graph.Int(1)), graph.List(graph.String("a"))},
		{graph.List(graph.Int(1)), graph.List(graph.Int(1), graph.Int(2))},
	} {
		if _, ok := graph.Compare(pair[0], pair[1]); ok {
			t.Errorf("%v and %v have an order", pair[0], pair[1])
		}
	}
	if c, ok := graph.Compare(graph.Int(3), dec(t, "3.01")); !ok || c >= 0 {
		t.Errorf("Compare(3, 3.01) = %d, %t", c, ok)
	}
}

func TestDecimalsOfAnyScaleCompareQuickly(t *testing.T) {
	t.Parallel()
	huge, tiny := graph.BigDecimal(big.NewInt(1), math.MinInt32), graph.BigDecimal(big.NewInt(1), math.MaxInt32)
	if graph.Order(huge, tiny) <= 0 || graph.Order(tiny, graph.Int(0)) <= 0 || graph.Order(huge, graph.Double(1e300)) <= 0 {
		t.Error("decimals of extreme scale compare wrongly")
	}
	if graph.Order(tiny, tiny) != 0 {
		t.Error("a decimal differs from itself")
	}
}

func TestDecimalsAreWrittenWithoutExponent(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"-12.50": "-12.50", "1e-3": "0.001", "12e2": "1200", "0.05": "0.05"} {
		if got := dec(t, s).String(); got != want {
			t.Errorf("%s is written %s, want %s", s, got, want)
		}
	}
}

func TestHashAgreesWithEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := values().Draw(t, "a"), values().Draw(t, "b")
		if a.Equal(b) && a.Hash() != b.Hash() {
			t.Fatalf("%v and %v are equal but hash differently", a, b)
		}
		if c := graph.Order(a, b); c != -graph.Order(b, a) || a.Equal(b) && c != 0 {
			t.Fatalf("order of %v and %v is %d", a, b, c)
		}
	})
}

func TestPropertyReferences(t *testing.T) {
	t.Parallel()
	tests := map[graph.PropertyRef]graph.Value{
		{Owner: 7, Key: 3, Index: 2, Meta: -1}:             graph.VertexPropertyOf(7, 3, 2),
		{Owner: 7, Key: 3, Meta: -1, Edge: true}:           graph.EdgePropertyOf(7, 3),
		{Owner: 1 << 31, Key: 1 << 30, Index: 9, Meta: 12}: graph.MetaPropertyOf(1<<31, 1<<30, 9, 12),
	}
	for want, v := range tests {
		if got := v.Property(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestWrongAccessorPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an int was read as a string")
		}
	}()
	_ = graph.Int(5).Str()
}
