package graph_test

import (
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
