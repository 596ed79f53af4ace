package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// star returns a graph of one vertex with edges of the given ids to other vertices.
func star(t *testing.T, label string, ids ...int) *toyGraph {
	t.Helper()
	var edges []string
	for _, id := range ids {
		edges = append(edges, fmt.Sprintf(
			`{"id":{"t":"Int32","v":%d},"label":%q,"outV":{"t":"Int32","v":1},"inV":{"t":"Int32","v":%d},"properties":{}}`, id, label, 100+id))
	}
	var g toyGraph
	if err := json.Unmarshal([]byte(`{"vertices":[],"edges":[`+strings.Join(edges, ",")+`]}`), &g); err != nil {
		t.Fatal(err)
	}
	return &g
}

func TestEdgeOrderOfHashTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		ids  []int
		want []int
	}{
		{"ids below the number of buckets are sorted", []int{3, 1, 2}, []int{1, 2, 3}},
		{"sixteen buckets", []int{15, 17, 32}, []int{32, 17, 15}},
		{"same bucket keeps its order", []int{17, 1, 33}, []int{17, 1, 33}},
		{"thirteen members need thirty-two buckets", []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 33}, []int{0, 1, 33, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16}},
	} {
		g := star(t, "x", c.ids...)
		var got []int
		for _, i := range g.edgeOrder() {
			got = append(got, c.ids[i])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
}

func TestEveryEdgeIsLoadedOnce(t *testing.T) {
	t.Parallel()
	g := star(t, "x", 1, 16, 40, 3)
	order := g.edgeOrder()
	slices.Sort(order)
	if !slices.Equal(order, []int{0, 1, 2, 3}) {
		t.Errorf("positions %v", order)
	}
}

func TestHashOfStringsIsThatOfJava(t *testing.T) {
	t.Parallel()
	if hashOf("Ea") != 2236 || hashOf("FB") != 2236 {
		t.Error("the hash of a string differs from Java's String.hashCode")
	}
}
