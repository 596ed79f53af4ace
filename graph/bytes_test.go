package graph_test

import (
	"fmt"
	"runtime"
	"testing"

	"vigil/graph"
)

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBytesMatchHeap does not run in parallel because it measures the heap.
func TestBytesMatchHeap(t *testing.T) {
	makers := map[string]func() *graph.Graph{
		"built": func() *graph.Graph { return account(t, 5_000) },
		"read": func() *graph.Graph {
			g, err := graph.Decode(snapshot(t, account(t, 5_000)))
			if err != nil {
				t.Fatal(err)
			}
			return g
		},
		"indexed": func() *graph.Graph {
			g := account(t, 5_000)
			for _, key := range []string{"name", "size", "state"} {
				k, _ := g.KeyByName(key)
				for l := range g.VertexLabels() {
					g.VertexIndex(graph.Label(l), k)
				}
			}
			return g
		},
	}
	for name, create := range makers {
		before := heapInUse()
		g := create()
		used := heapInUse() - before
		if ratio := float64(used) / float64(g.Bytes()); ratio < 0.8 || ratio > 1.2 {
			t.Errorf("%s: the graph uses %d bytes and reports %d", name, used, g.Bytes())
		}
		runtime.KeepAlive(g)
	}
}

// TestIndexBytesMatchHeap measures indexes without the columns that they refer to. It does
// not run in parallel because it measures the heap.
func TestIndexBytesMatchHeap(t *testing.T) {
	for name, valuesOf := range map[string]func(row int64) []graph.Value{
		"distinct numbers":        func(row int64) []graph.Value { return []graph.Value{graph.Long(row)} },
		"distinct strings":        func(row int64) []graph.Value { return []graph.Value{graph.String(fmt.Sprint(row))} },
		"several distinct values": func(row int64) []graph.Value { return []graph.Value{graph.Long(2 * row), graph.Long(2*row + 1)} },
		"several equal strings": func(row int64) []graph.Value {
			return []graph.Value{graph.String(fmt.Sprint(row % 10)), graph.String(fmt.Sprint(10 + row%10))}
		},
	} {
		b := graph.NewBuilder(graph.Limits{})
		for row := range int64(20_000) {
			h, err := b.AddVertex(graph.Null, "A")
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range valuesOf(row) {
				if err := b.AddProperty(h, "p", graph.VertexProperty{Value: v}); err != nil {
					t.Fatal(err)
				}
			}
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		b = nil
		reportedBefore, usedBefore := g.Bytes(), heapInUse()
		g.VertexIndex(0, 0)
		reported, used := g.Bytes()-reportedBefore, heapInUse()-usedBefore
		if ratio := float64(used) / float64(reported); ratio < 0.8 || ratio > 1.2 {
			t.Errorf("%s: the index uses %d bytes and reports %d", name, used, reported)
		}
		runtime.KeepAlive(g)
	}
}
