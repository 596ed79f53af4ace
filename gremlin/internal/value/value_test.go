package value_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

func text(v graph.Value) string {
	return v.Kind().String() + " " + value.Text(nil, v)
}

func decimal(t *testing.T, s string) graph.Value {
	t.Helper()
	v, ok := graph.ParseDecimal(s)
	if !ok {
		t.Fatalf("cannot parse %s", s)
	}
	return v
}

func TestArithmeticWidens(t *testing.T) {
	t.Parallel()
	huge := graph.BigInt(new(big.Int).Lsh(big.NewInt(1), 100))
	for _, c := range []struct {
		op   value.Arith
		a, b graph.Value
		want string
	}{
		{value.Add, graph.Byte(127), graph.Byte(1), "short 128"},
		{value.Add, graph.Short(32767), graph.Byte(1), "int 32768"},
		{value.Add, graph.Int(math.MaxInt32), graph.Int(1), "long 2147483648"},
		{value.Sub, graph.Byte(-128), graph.Byte(1), "short -129"},
		{value.Mul, graph.Int(1 << 20), graph.Int(1 << 20), "long 1099511627776"},
		{value.Div, graph.Byte(-128), graph.Byte(-1), "short 128"},
		{value.Div, graph.Int(7), graph.Int(2), "int 3"},
		{value.Add, graph.Float(math.MaxFloat32), graph.Float(math.MaxFloat32), "double 6.805646932770577E38"},
		{value.Add, graph.Double(math.MaxFloat64), graph.Double(math.MaxFloat64), "double Infinity"},
		{value.Add, graph.Int(1), graph.Float(0.5), "float 1.5"},
		{value.Add, graph.Long(1), graph.Float(0.5), "double 1.5"},
		{value.Add, graph.Int(1), huge, "biginteger 1267650600228229401496703205377"},
		// If one operand is null, the result is the first operand.
		{value.Add, graph.Null, graph.Int(1), "null null"},
		{value.Add, graph.Int(1), graph.Null, "int 1"},
	} {
		got, err := c.op.Apply(c.a, c.b)
		if err != nil {
			t.Errorf("%v %v %v: %v", text(c.a), c.op, text(c.b), err)
			continue
		}
		if text(got) != c.want {
			t.Errorf("%v %v %v: got %s, want %s", text(c.a), c.op, text(c.b), text(got), c.want)
		}
	}
}

func TestDecimalArithmetic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op         value.Arith
		a, b, want string
	}{
		{value.Add, "0.1", "0.2", "0.3"},
		{value.Sub, "1.00", "0.1", "0.90"},
		{value.Mul, "1.5", "1.5", "2.25"},
		{value.Div, "1", "8", "0.125"},
		{value.Div, "10", "4", "2.5"},
		{value.Div, "1", "3", "0.3333333333"},
		{value.Div, "2", "3", "0.6666666667"},
		{value.Div, "1", "21e-25", "4.76190476190E+23"}, // rounding twice would return ...191
	} {
		got, err := c.op.Apply(decimal(t, c.a), decimal(t, c.b))
		if err != nil || value.Text(nil, got) != c.want {
			t.Errorf("%s %v %s: got %s (%v), want %s", c.a, c.op, c.b, value.Text(nil, got), err, c.want)
		}
	}
}

func TestInvalidArithmetic(t *testing.T) {
	t.Parallel()
	enormous := graph.BigInt(new(big.Int).Lsh(big.NewInt(1), 1<<16))
	power, three := new(big.Int).Lsh(big.NewInt(1), 30_000), big.NewInt(3)
	for _, c := range []struct {
		op   value.Arith
		a, b graph.Value
	}{
		{value.Add, graph.Long(math.MaxInt64), graph.Long(1)},
		{value.Mul, graph.Long(math.MinInt64), graph.Long(-1)},
		{value.Div, graph.Int(1), graph.Int(0)},
		{value.Div, decimal(t, "1"), decimal(t, "0")},
		{value.Add, graph.String("a"), graph.Int(1)},
		{value.Mul, enormous, enormous},
		{value.Div, decimal(t, "1"), graph.BigDecimal(power, 0)},                               // the exact quotient has 30,000 places
		{value.Div, decimal(t, "1"), graph.BigDecimal(new(big.Int).Mul(three, power), 10_000)}, // rounding 9,000 digits needs a power of ten above maxScale
	} {
		if got, err := c.op.Apply(c.a, c.b); err == nil {
			t.Errorf("%v %v: got %s, want an error", c.op, text(c.b), text(got))
		}
	}
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"5": "int 5", " 42 ": "int 42", "-7": "int -7", "99999999999": "long 99999999999", "12L": "long 12",
		"123456789012345678901234567890": "biginteger 123456789012345678901234567890",
		"0x1F":                           "int 31", "010": "int 8", "5.75": "float 5.75", "0.1": "float 0.1", "1e3": "float 1000.0", "1.5d": "double 1.5",
		"12345678.9": "double 1.23456789E7", "1.2345678901e25": "double 1.2345678901E25", "9007199254740993.0": "bigdecimal 9007199254740993.0",
	} {
		got, ok := value.ParseNumber(in)
		if !ok || text(got) != want {
			t.Errorf("%q: got %s (%v), want %s", in, text(got), ok, want)
		}
	}
	for _, in := range []string{"", "-", "a", "1,000", "1_000", "0xZZ", "NaN", "Infinity", "1e", "--1"} {
		if got, ok := value.ParseNumber(in); ok {
			t.Errorf("%q was parsed as %s", in, text(got))
		}
	}
	for _, c := range []struct {
		prefix, suffix string
		most           int // digits
	}{{"", "", 4096}, {"-", "", 4096}, {"+", "L", 4095}, {"1.", "", 4094}, {"0x", "", 1024}, {"-#", "", 1024}, {"0", "", 1024}} {
		for _, n := range []int{c.most, c.most + 1, 8 << 20} { // to parse the last would take minutes
			in := c.prefix + strings.Repeat("1", n) + c.suffix
			if _, ok := value.ParseNumber(in); ok != (n == c.most) {
				t.Errorf("%s, %d digits, %s: got %v", c.prefix, n, c.suffix, ok)
			}
		}
	}
}

func TestCast(t *testing.T) {
	t.Parallel()
	got, err := value.Cast(graph.Double(5.97), graph.KindInt)
	if err != nil || text(got) != "int 5" {
		t.Errorf("got %s (%v), want int 5", text(got), err)
	}
	got, err = value.Cast(graph.Float(0.1), graph.KindDouble)
	if err != nil || text(got) != "double 0.1" {
		t.Errorf("got %s (%v), want double 0.1", text(got), err)
	}
	for _, zero := range []string{"1e-2000000000", "0e2000000000"} {
		if got, err = value.Cast(decimal(t, zero), graph.KindBigInt); err != nil || text(got) != "biginteger 0" {
			t.Errorf("%s: got %s (%v), want biginteger 0", zero, text(got), err)
		}
	}
	for _, c := range []struct {
		v  graph.Value
		to graph.Kind
	}{
		{graph.Int(300), graph.KindByte}, {graph.Double(math.NaN()), graph.KindInt}, {graph.Double(math.Inf(1)), graph.KindLong},
		{graph.Double(1e300), graph.KindFloat}, {decimal(t, "1e400"), graph.KindDouble},
		{decimal(t, "1e20000"), graph.KindBigInt}, {decimal(t, "1e2000000000"), graph.KindLong},
	} {
		if got, err := value.Cast(c.v, c.to); err == nil {
			t.Errorf("%s as %v: got %s, want an error", text(c.v), c.to, text(got))
		}
	}
}

func TestOrderIsTotal(t *testing.T) {
	t.Parallel()
	inOrder := []graph.Value{
		graph.Null, graph.Bool(false), graph.Bool(true), graph.Int(1), graph.Double(1.5), graph.Long(2), graph.Double(math.NaN()),
		graph.String("a"), graph.String("b"), graph.Opaque(&value.Path{Objects: []graph.Value{graph.Int(1)}}),
		graph.Set(graph.Int(1)), graph.List(graph.Int(1)), graph.List(graph.Int(1), graph.Int(0)), graph.List(graph.Int(2)),
		graph.Map(graph.Entry{Key: graph.String("k"), Value: graph.Int(1)}),
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			got := value.Order(nil, a, b)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s against %s: got %d", text(a), text(b), got)
			}
		}
	}
}

func TestEqAndEqualDiffer(t *testing.T) {
	t.Parallel()
	one, long := graph.List(graph.Int(1)), graph.List(graph.Long(1))
	if !value.Eq(nil, one, long) || value.Equal(one, long) {
		t.Error("[1] and [1L] must be equal for eq() and different as keys")
	}
	nan := graph.Double(math.NaN())
	if value.Eq(nil, nan, nan) || !value.Equal(nan, nan) {
		t.Error("NaN must equal nothing for eq() and itself as a key")
	}
}

// work is a Space without elements that counts the work.
type work struct{ n int }

func (w *work) ID(graph.Value) graph.Value                 { return graph.Null }
func (w *work) Property(graph.Value) (string, graph.Value) { return "", graph.Null }
func (w *work) Tick(n int) bool                            { w.n += n; return true }

// properties is a Space of edges with one property each: all[i] is the key and value of the property
// of the edge with handle i.
type properties struct {
	work
	all []graph.Entry
}

func (p *properties) Property(v graph.Value) (string, graph.Value) {
	e := p.all[v.Property().Owner]
	return e.Key.Str(), e.Value
}

func TestEqOfSetsOfProperties(t *testing.T) {
	t.Parallel()
	s := &properties{}
	for _, weight := range []graph.Value{graph.Int(1), graph.Int(2), graph.Long(2), graph.Int(1), graph.Int(3)} { // of the edges 0 to 4
		s.all = append(s.all, graph.Entry{Key: graph.String("weight"), Value: weight})
	}
	setOf := func(edges ...graph.Handle) graph.Value {
		var members []graph.Value
		for _, e := range edges {
			members = append(members, graph.EdgePropertyOf(e, 0))
		}
		return graph.Set(members...)
	}
	for _, c := range []struct {
		a, b graph.Value
		want bool
	}{
		{setOf(0, 1), setOf(1, 0), true},
		{setOf(0, 1), setOf(2, 3), true},
		{setOf(1, 0), setOf(2, 3), true},
		{setOf(0, 1), setOf(2, 4), false},
		{graph.Set(graph.VertexOf(2), graph.VertexOf(1)), graph.Set(graph.VertexOf(1), graph.VertexOf(2)), true}, // this Space returns the id null for all vertices
		{graph.Set(graph.VertexOf(2), graph.VertexOf(1)), graph.Set(graph.VertexOf(1), graph.VertexOf(3)), false},
	} {
		if got := value.Eq(s, c.a, c.b); got != c.want {
			t.Errorf("Eq(%v, %v) = %t, want %t", c.a.Elems(), c.b.Elems(), got, c.want)
		}
	}
}

// TestErrorsShortenValues puts a text of megabytes into an error, which repeats at most 1,000 bytes
// of it. Most characters of the text have two bytes: none is cut in half.
func TestErrorsShortenValues(t *testing.T) {
	t.Parallel()
	got := value.Errorf("can't parse %s as %s", "1"+strings.Repeat("é", 1<<20), "Boolean").Error()
	if want := "can't parse 1" + strings.Repeat("é", 499) + "… as Boolean"; got != want {
		t.Errorf("the error has %d bytes: %.1200s", len(got), got)
	}
}

func TestEqOfMaps(t *testing.T) {
	t.Parallel()
	const n = 1000
	integers := func(i int) graph.Value { return graph.Int(int32(i)) }
	longs := func(i int) graph.Value { return graph.Long(int64(i)) }
	ascending := func(i int) int { return i }
	descending := func(i int) int { return n - 1 - i }
	mapOf := func(order func(int) int, key, val func(int) graph.Value) graph.Value {
		es := make([]graph.Entry, n)
		for i := range es {
			es[i] = graph.Entry{Key: key(order(i)), Value: val(order(i))}
		}
		return graph.Map(es...)
	}
	lastDiffers := func(i int) graph.Value { return graph.Int(int32(i % (n - 1))) } // i, but 0 for the last i
	base := mapOf(ascending, integers, integers)
	for _, c := range []struct {
		name string
		b    graph.Value
		want bool
		most int // work
	}{
		{"same order", mapOf(ascending, longs, longs), true, 0},
		{"other order", mapOf(descending, integers, longs), true, 0},
		{"other order and width", mapOf(descending, longs, integers), true, n * n},
		{"other value", mapOf(descending, integers, lastDiffers), false, n},
		{"other key", mapOf(ascending, lastDiffers, integers), false, n},
	} {
		var w work
		if got := value.Eq(&w, base, c.b); got != c.want || w.n > c.most {
			t.Errorf("%s: got %v after %d units of work, want %v and at most %d", c.name, got, w.n, c.want, c.most)
		}
		if c.most == n*n && w.n < c.most/2 { // the linear searches must count
			t.Errorf("%s: %d units of work are too few to bound the search", c.name, w.n)
		}
	}
}

func TestEqOfNestedMaps(t *testing.T) {
	t.Parallel()
	const depth = 16
	nested := func(v graph.Value) graph.Value {
		for range depth {
			v = graph.Map(graph.Entry{Key: graph.String("k"), Value: v})
		}
		return v
	}
	var w work
	if value.Eq(&w, nested(graph.Int(1)), nested(graph.Int(2))) {
		t.Error("maps with different values deep inside are equal")
	}
	if w.n != depth {
		t.Errorf("%d units of work, want %d: one search in each map", w.n, depth)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	var k value.Keys
	for i := range 1000 {
		if index, fresh := k.Put(graph.List(graph.Int(int32(i)), graph.String("x"))); index != i || !fresh {
			t.Fatalf("value %d is at %d, fresh %v", i, index, fresh)
		}
	}
	for i := range 1000 {
		if index := k.Find(graph.List(graph.Int(int32(i)), graph.String("x"))); index != i {
			t.Fatalf("value %d is found at %d", i, index)
		}
	}
	if k.Find(graph.List(graph.Int(1000), graph.String("x"))) >= 0 {
		t.Error("a value that was not added is found")
	}
}

func TestRandomMatchesReference(t *testing.T) {
	t.Parallel()
	r := value.NewRandom(42)
	got := []int32{r.Intn(100), r.Intn(100), r.Intn(100), r.Intn(64), r.Intn(1000000)}
	if diff := cmp.Diff([]int32{30, 63, 48, 3, 969970}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f := value.NewRandom(42).Float64(); math.Abs(f-0.7275636800328681) > 1e-16 {
		t.Errorf("the first fraction is %v", f)
	}
}

func TestTextMatchesReference(t *testing.T) {
	t.Parallel()
	var bulk value.BulkSet
	bulk.Add(graph.String("a"), 2)
	for want, v := range map[string]graph.Value{
		"[1, a, null]": graph.List(graph.Int(1), graph.String("a"), graph.Null),
		"{k=[1.0]}":    graph.Map(graph.Entry{Key: graph.String("k"), Value: graph.List(graph.Double(1))}),
		"{a=2}":        graph.Opaque(&bulk),
		"path[1, 2]":   graph.Opaque(&value.Path{Objects: []graph.Value{graph.Int(1), graph.Int(2)}}),
		"1.0E10":       graph.Double(1e10),
		"1.0E-5":       graph.Double(1e-5),
		"9999999.0":    graph.Double(9999999),
		"Infinity":     graph.Float(float32(math.Inf(1))),
		"id":           graph.Opaque(value.TokenID),
	} {
		if got := value.Text(nil, v); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
