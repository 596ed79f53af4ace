package suite

import (
	"cmp"
	"slices"
)

// Scenarios with a seeded shuffle depend on the order in which TinkerGraph, the
// reference implementation, returns the edges of a vertex: the iteration order of
// Java hash tables, one per label and direction. No engine guarantees an order. This
// engine returns edges in the order in which they were added, so the edges of toy
// graphs are added in the order of TinkerGraph.

// edgeOrder returns the indexes of edges in the order to add them. When the
// orders of outgoing and incoming edges conflict, that of outgoing edges is
// used.
func (t *toyGraph) edgeOrder() []int {
	byLabel := map[string][]int{}
	var labels []string
	for i, e := range t.Edges {
		if !e.ID.IsInteger() || !e.OutV.IsInteger() || !e.InV.IsInteger() {
			return t.fileOrder()
		}
		if byLabel[e.Label] == nil {
			labels = append(labels, e.Label)
		}
		byLabel[e.Label] = append(byLabel[e.Label], i)
	}
	slices.SortStableFunc(labels, func(a, b string) int {
		return cmp.Compare(bucket(hashOf(a), minTableSize), bucket(hashOf(b), minTableSize))
	})
	var out []int
	for _, l := range labels {
		outgoing := t.groupInTableOrder(byLabel[l], func(i int) int64 { return t.Edges[i].OutV.Int() })
		incoming := t.groupInTableOrder(byLabel[l], func(i int) int64 { return t.Edges[i].InV.Int() })
		order, ok := topologicalOrder(byLabel[l], append(outgoing, incoming...))
		if !ok {
			order, _ = topologicalOrder(byLabel[l], outgoing)
		}
		out = append(out, order...)
	}
	return out
}

// fileOrder returns the indexes of the edges in the order of the file.
func (t *toyGraph) fileOrder() []int {
	out := make([]int, len(t.Edges))
	for i := range out {
		out[i] = i
	}
	return out
}

// groupInTableOrder groups edges by one of their vertices. It sorts each group in the
// iteration order of a hash table of edge ids. The groups are in no particular order.
func (t *toyGraph) groupInTableOrder(edges []int, vertex func(int) int64) [][]int {
	groups := map[int64][]int{}
	for _, i := range edges {
		groups[vertex(i)] = append(groups[vertex(i)], i)
	}
	var out [][]int
	for _, g := range groups {
		size := tableSize(len(g))
		slices.SortStableFunc(g, func(a, b int) int {
			return cmp.Compare(bucket(int32(t.Edges[a].ID.Int()), size), bucket(int32(t.Edges[b].ID.Int()), size))
		})
		out = append(out, g)
	}
	return out
}

// minTableSize is the initial number of buckets of a java.util.HashMap.
const minTableSize = 16

// tableSize returns the number of buckets of a hash table with n members. The table
// doubles when it is more than three quarters full.
func tableSize(n int) uint32 {
	size := minTableSize
	for 4*n > 3*size {
		size *= 2
	}
	return uint32(size)
}

// bucket returns the bucket of a hash in a table of the given size, as in java.util.HashMap.
func bucket(hash int32, size uint32) uint32 {
	h := uint32(hash)
	return (h ^ h>>16) & (size - 1)
}

// hashOf returns the hash of a string as Java's String.hashCode does.
func hashOf(s string) int32 {
	var h int32
	for _, c := range s {
		h = 31*h + c
	}
	return h
}

// topologicalOrder sorts edges topologically: each edge comes after those before it in
// every chain. Among several possible edges, the lowest index comes first, so that the
// order of the chains does not matter. It returns false if the chains conflict.
func topologicalOrder(edges []int, chains [][]int) ([]int, bool) {
	successors := map[int][]int{}
	inDegree := map[int]int{}
	for _, c := range chains {
		for k := 1; k < len(c); k++ {
			successors[c[k-1]] = append(successors[c[k-1]], c[k])
			inDegree[c[k]]++
		}
	}
	var ready, out []int
	for _, e := range edges {
		if inDegree[e] == 0 {
			ready = append(ready, e)
		}
	}
	for len(ready) > 0 {
		i := slices.Index(ready, slices.Min(ready))
		e := ready[i]
		ready = slices.Delete(ready, i, i+1)
		out = append(out, e)
		for _, n := range successors[e] {
			inDegree[n]--
			if inDegree[n] == 0 {
				ready = append(ready, n)
			}
		}
	}
	return out, len(out) == len(edges)
}
