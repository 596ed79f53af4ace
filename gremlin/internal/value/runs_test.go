package value_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

func bulkSet(t *testing.T, counts map[int]int64, pool []graph.Value) *value.BulkSet {
	t.Helper()
	s := &value.BulkSet{}
	for i, v := range pool {
		if n := counts[i]; n > 0 {
			if _, err := s.Add(v, n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// TestBulkSetsCompareLikeTheirItems compares random bulk sets and the lists of their sorted items.
func TestBulkSetsCompareLikeTheirItems(t *testing.T) {
	t.Parallel()
	pool := []graph.Value{
		graph.Int(1), graph.Long(1), graph.Int(2), graph.Double(2), graph.String("a"), graph.Null,
		graph.Double(math.NaN()), graph.List(graph.Int(1)), graph.List(graph.Long(1)), graph.Set(graph.Int(1)),
	}
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() (set, items graph.Value) {
		few := pool[:2+random.IntN(len(pool)-1)]
		shuffled := slices.Clone(few)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		counts := map[int]int64{}
		for range random.IntN(4) {
			counts[random.IntN(len(shuffled))] += 1 + random.Int64N(3)
		}
		s := bulkSet(t, counts, shuffled)
		sorted := s.Elems()
		slices.SortStableFunc(sorted, func(a, b graph.Value) int { return value.Order(nil, a, b) })
		return graph.Opaque(s), graph.List(sorted...)
	}
	equal, prefixes := 0, 0
	for range 20_000 {
		a, as := draw()
		b, bs := draw()
		c, ok := value.Compare(nil, a, b)
		wantC, wantOK := value.Compare(nil, as, bs)
		order, wantOrder := value.Order(nil, a, b), value.Order(nil, as, bs)
		eq, wantEq := value.Eq(nil, a, b), value.Eq(nil, as, bs)
		if c != wantC || ok != wantOK || order != wantOrder || eq != wantEq {
			t.Fatalf("%s and %s: Compare %d %v, Order %d, Eq %v; want %d %v, %d, %v",
				text(a), text(b), c, ok, order, eq, wantC, wantOK, wantOrder, wantEq)
		}
		if as.Len() > 0 && eq {
			equal++
		}
		if n := min(as.Len(), bs.Len()); n > 0 && as.Len() != bs.Len() && value.Eq(nil, graph.List(as.Elems()[:n]...), graph.List(bs.Elems()[:n]...)) {
			prefixes++
		}
	}
	if equal == 0 || prefixes == 0 {
		t.Errorf("%d pairs were equal, and in %d one set was the start of the other: want some of both", equal, prefixes)
	}
}

func TestLargeBulkSetsAreNotListed(t *testing.T) {
	t.Parallel()
	const large = 1 << 60
	pool := []graph.Value{graph.Int(1), graph.Int(2), graph.Int(3)}
	a := graph.List(graph.Opaque(bulkSet(t, map[int]int64{0: large, 1: large, 2: large}, pool)))
	b := graph.List(graph.Opaque(bulkSet(t, map[int]int64{0: large, 1: large + 1, 2: large - 1}, pool)))
	var w work
	if value.Eq(&w, a, b) || !value.Eq(&w, a, a) {
		t.Error("Eq must tell bulk sets of equal size by their counts")
	}
	if c, ok := value.Compare(&w, a, b); c <= 0 || !ok {
		t.Errorf("Compare: got %d %v, want that the set with fewer 2s is greater", c, ok)
	}
	if w.n == 0 || w.n > 100 {
		t.Errorf("%d units of work were counted, want 1 to 100", w.n)
	}
}
