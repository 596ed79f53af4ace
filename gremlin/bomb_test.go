package gremlin_test

import (
	"context"
	"errors"
	"fmt"
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

// bombs are queries that would use up a machine if they were let.
var bombs = []struct{ name, text string }{
	{"paths", `g.V().both().both().both().both().both().path()`},
	{"path explosion in a repeat", `g.V().repeat(both()).times(30).path()`},
	{"simple paths", `g.V().repeat(both().simplePath()).emit().path()`},
	{"endless repeat", `g.V().repeat(both())`},
	{"endless repeat with until", `g.V().repeat(both()).until(has("name", "nobody"))`},
	{"endless repeat that emits", `g.V().repeat(out()).emit()`},
	{"nested repeats", `g.V().repeat(repeat(repeat(both().simplePath()).times(3)).times(3)).times(3).path()`},
	{"cross product", `g.V().as("a").V().as("b").V().as("c").select("a", "b", "c")`},
	{"cross product of counts", `g.V().V().V().where(out().count().is(gt(3))).count()`},
	{"group by itself", `g.V().both().both().path().group().by()`},
	{"group lists", `g.V().both().both().both().group().by("n").by(path().fold())`},
	{"sort everything", `g.V().both().both().both().as("x").order().by(path()).select("x")`},
	{"sort by lists", `g.V().both().both().order().by(both().values("name").fold()).by(both().both().values("name").fold())`},
	{"first of everything sorted", `g.V().both().both().both().as("x").order().by(path()).limit(1000000).select("x")`},
	{"sort paths", `g.V().repeat(both()).times(4).path().order()`},
	{"fold everything", `g.V().both().both().as("a").both().as("b").select("a", "b").fold()`},
	{"dedup paths", `g.V().repeat(both()).times(5).path().dedup().count()`},
	{"aggregate paths", `g.V().repeat(both()).times(4).path().aggregate("x").cap("x")`},
	{"tree", `g.V().repeat(both()).times(5).tree()`},
	{"doubling string", `g.inject("aaaaaaaaaaaaaaaa").repeat(map(project("x").by().select("x").concat(identity()))).times(30).length()`},
	{"growing by replace", `g.inject("aaaaaaaaaaaaaaaa").repeat(replace("a", "aaaaaaaaaaaaaaaa")).times(30).length()`},
	{"doubling list", `g.inject([1,2,3,4]).repeat(combine(identity())).times(30).count(local)`},
	{"product of products", `g.inject([1,2,3,4]).repeat(product(identity())).times(30).count(local)`},
	{"nested projections", `g.V().repeat(project("a","b","c","d").by().by().by().by()).times(30)`},
	{"nested projections compared", `g.V().limit(2).repeat(project("a","b").by().by()).times(30).dedup()`},
	{"nested projections as text", `g.V().limit(2).repeat(project("a","b").by().by()).times(30).asString()`},
	{"nested projections sorted", `g.V().repeat(project("a","b").by().by()).times(30).order()`},
	{"squared number", `g.withSack(99999999999999999999n).V().repeat(sack(mult).by(sack())).times(30).sack()`},
	{"match", `g.V().match(__.as("a").both().as("b"), __.as("b").both().as("c"), __.as("c").both().as("d"), __.as("d").both().as("a"))`},
	{"deep where", `g.V().where(both().where(both().where(both().where(both().where(both().has("name","nobody"))))))`},
	{"not of nothing", `g.V().not(both().both().both().both().has("name","nobody"))`},
	{"count that never ends", `g.V().where(both().both().both().both().both().count().is(123456789)).count()`},
	{"regular expression", `g.V().both().both().both().has("name", regex("(v|e|r|t|x)*(v|e|r|t|x)*number (1|2|3)+$")).path()`},
	{"regular expression on long text", `g.inject("aaaaaaaaaaaaaaaa").repeat(replace("a", "aaaaaaaaaaaaaaaa")).times(4).repeat(union(is(regex("(a|b|ab)*c")), identity())).times(30)`},
	{"within what was collected", `g.V().both().values("n").aggregate("x").repeat(union(where(within("x")), where(without("x")))).times(30)`},
	{"union of unions", `g.V().repeat(union(both(), both(), both(), both()).simplePath()).times(20).path()`},
	{"local explosion", `g.V().local(both().both().both().both().path().fold())`},
	{"projection explosion", `g.V().project("a","b").by(both().both().both().path().fold()).by(both().both().both().path().fold())`},
	{"choose explosion", `g.V().repeat(choose(has("n", gt(10)), both(), both())).times(25).path()`},
	{"side effect list", `g.V().both().both().both().local(aggregate("x")).select("x").count(local).sum()`},
	{"sack of lists", `g.withSack([1]).V().repeat(both().sack(addAll).by(constant([1,2,3,4,5,6,7,8]))).times(20).sack()`},
	{"sample", `g.V().both().both().both().path().sample(100000)`},
	{"tail", `g.V().both().both().both().path().tail(10000000)`},
	{"last of everything", `g.V().both().both().both().path().tail(20000)`},
	{"all of a label", `g.V().as("a").both().as("a").both().as("a").both().as("a").select(all, "a")`},
	{"group of groups", `g.V().both().both().group().by("name").by(both().group().by("name").by(both().values("name").fold()))`},
	{"maps in maps", `g.V().map(both().map(both().map(both().map(both().count()).fold()).fold()).fold())`},
	{"text of everything", `g.V().both().both().both().values("name").fold().conjoin(" ").split("")`},
	{"sorted lists", `g.V().both().both().fold().order(local).by(both().values("name").fold()).unfold()`},
	{"shuffle", `g.V().both().both().both().path().order().by(shuffle)`},
	{"subgraph", `g.V().repeat(bothE().subgraph("s").otherV()).times(20).cap("s")`},
	{"coalesce", `g.V().repeat(coalesce(both().simplePath(), both())).times(20).path()`},
	{"results", `g.V().both().both().both()`},
	{"lists side by side", `g.V().project("a","b","c","d","e","f","g","h").by(both().both().both().values("name").fold())`},
	{"names that grow", `g.V().values("name")` + strings.Repeat(`.replace("e", "eeeeeeeeeeeeeeee")`, 5) + `.length()`},
	{"lists that double", `g.V().map(values("name").fold())` + strings.Repeat(`.combine(identity())`, 16) + `.count(local)`},
	{"sacks that double", `g.withSack([1,2,3,4]).V()` + strings.Repeat(`.sack(addAll).by(sack())`, 16) + `.count()`},
	{"lists of lists", `g.V().map(both().both().map(both().values("name").fold()).fold()).map(unfold().fold()).count(local)`},
	{"group of the last", `g.V().group().by("name").by(map(both().both().map(both().both().values("name").fold()).fold()))`},
	{"group of sums", `g.V().map(both().both().values("name").fold()).both().group().by(count(local)).by(fold([], addAll))`},
	{"group of what follows", `g.V().both().group().by("name").by(both().count().map(inject(1).V().both().values("name").fold()))`},
	{"named groups of groups", `g.V().both().both().group("x").by("name").by(both().group().by("name").by(both().values("name").fold())).cap("x")`},
	{"tree of lists", `g.V().both().tree().by(both().both().values("name").fold())`},
	{"what a label keeps", `g.V().both().map(both().both().values("name").fold()).as("a").constant(1).order().select("a").count(local)`},
	{"what a path keeps", `g.V().both().map(both().both().values("name").fold()).map(count(local)).order().path()`},
	{"sets in lists", `g.V().map(both().map(both().map(both().values("n").fold().merge(["a"])).fold()).fold())`},
	{"parts of sets in lists", `g.V().map(both().map(both().map(both().values("n").fold().difference(["a"])).fold()).fold())`},
	{"short lists in lists", `g.V().map(both().map(both().map(both().values("n").fold()).fold()).fold())`},
	{"what a branch keeps", `g.V().union(map(both().both().values("name").fold()), map(both().both().values("name").fold())).map(union(identity(), identity()).fold()).count(local)`},
}

func TestABombEndsWithAnErrorThatNamesTheBudget(t *testing.T) {
	t.Parallel()
	g := web(t, 2000, 8)
	// A tenth of the default, so that there is not so much to do.
	budget := gremlin.Budget{Traversers: 100_000, Live: 10_000, Memory: 6 << 20, Results: 1000}
	for _, b := range bombs {
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
	for _, b := range bombs {
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
	for _, b := range bombs {
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
