package gremlin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"vigil/graph"
	"vigil/gremlin"
)

// denseGraph returns a highly connected graph of n vertices. Each has degree outgoing edges, and
// vertex 0 also has an edge to every vertex.
func denseGraph(tb testing.TB, n, degree int) *graph.Graph {
	tb.Helper()
	b := graph.NewBuilder(graph.Limits{})
	must := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	for i := range n {
		h, err := b.AddVertex(graph.Int(int32(i)), "node")
		must(err)
		must(b.SetProperty(h, "name", graph.String(fmt.Sprintf("vertex number %d", i))))
		must(b.SetProperty(h, "n", graph.Int(int32(i))))
	}
	edge := func(from, to int) {
		_, err := b.AddEdge(graph.Null, "to", graph.Int(int32(from)), graph.Int(int32(to)))
		must(err)
	}
	for i := range n {
		edge(0, i)
		for k := range degree {
			edge(i, (i*7+k*13+1)%n)
		}
	}
	g, err := b.Build()
	must(err)
	return g
}

// A hostileQuery is a query that would exhaust a machine without limits.
type hostileQuery struct{ name, text string }

// hostileQueries reads the queries, one per line after its name. A test of cmd/vigil sends
// the same queries to a server.
func hostileQueries(tb testing.TB) []hostileQuery {
	tb.Helper()
	data, err := os.ReadFile("testdata/hostile-queries.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var all []hostileQuery
	for line := range strings.Lines(string(data)) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			tb.Fatalf("not a name and a query: %s", line)
		}
		all = append(all, hostileQuery{name, text})
	}
	if len(all) < 60 {
		tb.Fatalf("%d queries", len(all))
	}
	return all
}

func TestHostileQueriesExceedBudget(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 2000, 8)
	// A tenth of the default budget, so that the test is faster.
	budget := gremlin.Budget{Traversers: 100_000, Live: 10_000, Memory: 6 << 20, Results: 1000}
	for _, q := range hostileQueries(t) {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t.Context(), t, g, q.text, budget)
			var budgetErr *gremlin.BudgetError
			if !errors.As(err, &budgetErr) {
				// A number may also overflow.
				if err == nil || !strings.Contains(err.Error(), "overflow") {
					t.Fatalf("got %v, want a budget error", err)
				}
				return
			}
			if budgetErr.Limit == "" || budgetErr.Allowed <= 0 {
				t.Errorf("the error does not name its limit: %#v", budgetErr)
			}
		})
	}
}

// run compiles and runs a query within a budget.
func run(ctx context.Context, tb testing.TB, g *graph.Graph, text string, budget gremlin.Budget) (*gremlin.Result, error) {
	tb.Helper()
	p, err := gremlin.Compile(text, gremlin.CompileOptions{Budget: budget})
	if err != nil {
		tb.Fatalf("compile %s: %v", text, err)
	}
	return p.Run(ctx, g, gremlin.RunOptions{Budget: budget})
}

// TestLimitEndsNestedTraversals runs queries that need only the first result of a nested
// traversal that has many more: because of limit(1), or because not() needs no second one.
func TestLimitEndsNestedTraversals(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 2000, 8)
	for _, text := range []string{
		`g.V(0).match(__.as("a").both().as("b"), __.as("b").both().as("c")).limit(1).count()`,
		`g.V(0).match(__.as("a").both().as("b"), or(__.as("b").both().as("c"), __.as("b").out().as("c"))).limit(1).count()`,
		`g.V(1).match(__.as("a").out().as("b"), not(and(__.as("b").both().as("c"), __.as("c").both().as("d")))).count()`,
		`g.V().flatMap(both().both()).limit(1).count()`,
		`g.V().coalesce(both().both(), identity()).limit(1).count()`,
		`g.V().local(both().both()).limit(1).count()`,
		`g.V().optional(both().both()).limit(1).count()`,
	} {
		res, err := run(t.Context(), t, g, text, gremlin.Unlimited)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if res.Work > 10_000 {
			t.Errorf("%s: %d units of work", text, res.Work)
		}
	}
}

// TestHostileQueriesRespectTimeLimit runs each query with a time limit and, to protect the
// machine, a memory limit. Other load on the machine can only delay a query, so the test
// uses the best of many attempts.
func TestHostileQueriesRespectTimeLimit(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("slow, and needs an unloaded machine: scripts/test runs it again without the race detector, and so does make query-limits")
	}
	g := denseGraph(t, 2000, 8)
	budget := gremlin.Unlimited
	budget.Memory = 128 << 20
	budget.Time = 300 * time.Millisecond
	for _, q := range hostileQueries(t) {
		t.Run(q.name, func(t *testing.T) {
			best := time.Hour
			for range 25 {
				start := time.Now()
				_, _ = run(t.Context(), t, g, q.text, budget) // without other limits some queries succeed
				best = min(best, time.Since(start))
				if best <= budget.Time*11/10 {
					return
				}
			}
			t.Errorf("ran for %v with a budget of %v", best, budget.Time)
		})
	}
}

// TestHostileQueriesRespectMemoryLimit measures the live heap while a query runs with only
// a small memory limit and a time limit.
func TestHostileQueriesRespectMemoryLimit(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("slow, and needs an undisturbed heap: scripts/test runs it again without the race detector, and so does make query-limits")
	}
	g := denseGraph(t, 2000, 8)
	budget := gremlin.Unlimited
	budget.Memory = 32 << 20
	for _, q := range hostileQueries(t) {
		t.Run(q.name, func(t *testing.T) {
			w := &heapWatch{Context: t.Context(), allowed: budget.Memory * 11 / 10, remaining: time.Second}
			_, err := run(w, t, g, q.text, budget)
			if w.peak > w.allowed {
				t.Errorf("used %d MiB with a budget of %d MiB (%v)", w.peak>>20, budget.Memory>>20, err)
			}
		})
	}
}

// A heapWatch is the context of a query. The query calls Err from time to time
// and pauses while Err measures the heap, so that no garbage of the query is
// counted as live.
type heapWatch struct {
	context.Context
	allowed   int64         // allowed live bytes above those at the start
	peak      int64         // most live bytes above those at the start at any measurement
	remaining time.Duration // remaining run time of the query, excluding measurements

	base      int64 // live bytes at the start
	alive     int64 // live bytes above base at the last measurement
	allocated int64 // bytes allocated in total at the last measurement
	resumed   time.Time
}

// Err measures the heap when enough was allocated since the last measurement for
// the live bytes to exceed the limit.
func (w *heapWatch) Err() error {
	if w.resumed.IsZero() {
		w.base = liveHeap()
	} else {
		w.remaining -= time.Since(w.resumed)
	}
	allocated := sample("/gc/heap/allocs:bytes")
	if allocated-w.allocated > max(w.allowed-w.alive, 1<<20) {
		w.alive, w.allocated = liveHeap()-w.base, allocated
		w.peak = max(w.peak, w.alive)
	}
	w.resumed = time.Now()
	if w.remaining < 0 {
		return context.DeadlineExceeded
	}
	return w.Context.Err()
}

// liveHeap collects garbage and returns the live bytes of the heap.
func liveHeap() int64 {
	runtime.GC()
	return sample("/gc/heap/live:bytes")
}

// sample reads a runtime metric.
func sample(name string) int64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}
