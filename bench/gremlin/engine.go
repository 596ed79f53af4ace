package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"vigil/graph"
	"vigil/gremlin"
)

// runOurs measures a query on our engine. As for TinkerGraph, the text is
// compiled once and each run consumes all results.
func runOurs(ctx context.Context, g *graph.Graph, text string, warm, duration time.Duration) (result, error) {
	plan, err := gremlin.Compile(text, gremlin.CompileOptions{Budget: gremlin.Unlimited})
	if err != nil {
		return result{}, err
	}
	opts := gremlin.RunOptions{Budget: gremlin.Unlimited}
	first, err := plan.Run(ctx, g, opts)
	if err != nil {
		return result{}, err
	}
	var sum checksum
	for _, it := range first.Items {
		sum.add(g, it.Value, it.Bulk)
	}
	runtime.GC() // collect the garbage of the previous query
	r, err := measure(warm, duration, func() error {
		res, err := plan.Run(ctx, g, opts)
		if err != nil {
			return err
		}
		n := int64(0)
		for range res.Values() {
			n++
		}
		if n != sum.count {
			return fmt.Errorf("%d results, but %d in the previous run", n, sum.count)
		}
		return nil
	})
	r.sum = sum
	return r, err
}

// heapOf returns the value of create and the heap memory that it retains.
func heapOf[T any](create func() (T, error)) (T, int64, error) {
	before := heap()
	x, err := create()
	return x, heap() - before, err
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
