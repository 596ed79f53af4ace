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

// web makes a graph in which everything leads everywhere: n vertices, each with
// an edge to degree others, and one hub that knows all.
func web(tb testing.TB, n, degree int) *graph.Graph {
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

// A bomb is a query that would use up a machine if it were let.
type bomb struct{ name, text string }

// bombs reads the bombs, one a line with its name before it. cmd/vigil sends the
// same to a server.
func bombs(tb testing.TB) []bomb {
	tb.Helper()
	data, err := os.ReadFile("testdata/bombs.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var all []bomb
	for line := range strings.Lines(string(data)) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			tb.Fatalf("not a bomb: %s", line)
		}
		all = append(all, bomb{name, text})
	}
	if len(all) < 60 {
		tb.Fatalf("%d bombs", len(all))
	}
	return all
}

func TestABombEndsWithAnErrorThatNamesTheBudget(t *testing.T) {
	t.Parallel()
	g := web(t, 2000, 8)
	// A tenth of the default, so that there is not so much to do.
	budget := gremlin.Budget{Traversers: 100_000, Live: 10_000, Memory: 6 << 20, Results: 1000}
	for _, b := range bombs(t) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t.Context(), t, g, b.text, budget)
			var be *gremlin.BudgetError
			if !errors.As(err, &be) {
				// A number may also simply become too large.
				if err == nil || !strings.Contains(err.Error(), "overflow") {
					t.Fatalf("got %v, want a budget error", err)
				}
				return
			}
			if be.Limit == "" || be.Allowed <= 0 {
				t.Errorf("the error does not name its limit: %#v", be)
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

// TestNoBombRunsPastItsTime gives each bomb nothing but time. What else the
// machine does can only make a query later, so the best of many attempts counts.
func TestNoBombRunsPastItsTime(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("takes a while, and must not be slowed down")
	}
	g := web(t, 2000, 8)
	budget := gremlin.Unlimited
	budget.Memory = 128 << 20
	budget.Time = 300 * time.Millisecond
	for _, b := range bombs(t) {
		t.Run(b.name, func(t *testing.T) {
			best := time.Hour
			for range 25 {
				start := time.Now()
				_, _ = run(t.Context(), t, g, b.text, budget) // without other limits some end by themselves
				if best = min(best, time.Since(start)); best <= budget.Time*11/10 {
					return
				}
			}
			t.Errorf("ran for %v with a budget of %v", best, budget.Time)
		})
	}
}

// TestNoBombUsesMoreMemoryThanItsBudget watches what is alive while a bomb goes
// off within a small budget of memory and nothing else but time.
func TestNoBombUsesMoreMemoryThanItsBudget(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("takes a while, and must not be bloated")
	}
	g := web(t, 2000, 8)
	budget := gremlin.Unlimited
	budget.Memory = 32 << 20
	for _, b := range bombs(t) {
		t.Run(b.name, func(t *testing.T) {
			w := &heapWatch{Context: t.Context(), allowed: budget.Memory * 11 / 10, left: time.Second}
			_, err := run(w, t, g, b.text, budget)
			if w.peak > w.allowed {
				t.Errorf("used %d MiB with a budget of %d MiB (%v)", w.peak>>20, budget.Memory>>20, err)
			}
		})
	}
}

// A heapWatch is the context of a query. The query asks it now and then whether
// to go on, and stands still while it looks at the heap: nothing that is made
// meanwhile can be taken for something kept.
type heapWatch struct {
	context.Context
	allowed int64         // bytes that may be alive, above those at the start
	peak    int64         // bytes that were, at most, where that is more than allowed
	left    time.Duration // for which the query may run, without the looks

	base    int64 // alive at the start
	alive   int64 // above that, when last looked at
	made    int64 // bytes ever allocated, when last looked at
	resumed time.Time
}

// Err measures the heap once enough was allocated that more than allowed could
// be alive.
func (w *heapWatch) Err() error {
	if w.resumed.IsZero() {
		w.base = alive()
	} else {
		w.left -= time.Since(w.resumed)
	}
	made := sample("/gc/heap/allocs:bytes")
	if made-w.made > max(w.allowed-w.alive, 1<<20) {
		w.alive, w.made = alive()-w.base, made
		w.peak = max(w.peak, w.alive)
	}
	w.resumed = time.Now()
	if w.left < 0 {
		return context.DeadlineExceeded
	}
	return w.Context.Err()
}

// alive returns the bytes of the heap that are in use.
func alive() int64 {
	runtime.GC()
	return sample("/gc/heap/live:bytes")
}

// sample reads a number that the runtime keeps.
func sample(name string) int64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}
