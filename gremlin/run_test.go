package gremlin_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/gremlin/syntax"
)

func texts(g *graph.Graph, res *gremlin.Result) []string {
	var out []string
	for v := range res.Values() {
		out = append(out, gremlin.Text(g, v))
	}
	return out
}

func TestVariables(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 10, 1)
	p, err := gremlin.Compile(`g.V(ids).has("n", gt(least)).values("n")`, gremlin.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for least, want := range map[int32][]string{2: {"3", "5"}, 4: {"5"}} {
		res, err := p.Run(t.Context(), g, gremlin.RunOptions{Params: map[string]graph.Value{
			"ids": graph.List(graph.Int(1), graph.Int(3), graph.Int(5)), "least": graph.Int(least),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, texts(g, res)); diff != "" {
			t.Errorf("least %d (-want +got):\n%s", least, diff)
		}
	}
	if _, err := p.Run(t.Context(), g, gremlin.RunOptions{}); err == nil {
		t.Error("a variable without a value was accepted")
	}
}

// TestGeneratedEdgeIDs finds an edge by numbers that are equal to its generated id.
func TestGeneratedEdgeIDs(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 3, 0)
	for _, text := range []string{`g.E(1)`, `g.E(1.0)`, `g.E(1.0f)`, `g.E(1n)`, `g.E(1.00m)`, `g.E("1")`, `g.E().hasId(1.0)`, `g.E().hasId(1n)`} {
		res, err := run(t.Context(), t, g, text+`.inV().values("n")`, gremlin.DefaultBudget)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff([]string{"1"}, texts(g, res)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestSortWithLimit(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 2000, 0)
	for _, c := range []struct {
		text string
		want []string
	}{
		{`g.V().order().by("n", desc).limit(3).values("n")`, []string{"1999", "1998", "1997"}},
		{`g.V().order().by("n").range(998, 1000).values("n")`, []string{"998", "999"}},
		{`g.V().order().by(shuffle).limit(2).count()`, []string{"2"}},
		{`g.V().order().by("n").by(shuffle).limit(700).count()`, []string{"700"}},
		{`g.V().order().by("n", desc).by(shuffle).by("n").limit(2).values("n")`, []string{"0", "1"}}, // as in TinkerPop, shuffle cancels the by() before it
		{`g.V().order().by("n").limit(4611686018427387904).count()`, []string{"2000"}},               // the sort must not multiply the limit by 4: that exceeds 64 bits
	} {
		res, err := run(t.Context(), t, g, c.text, gremlin.DefaultBudget)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if diff := cmp.Diff(c.want, texts(g, res)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestMergedSacksCountAsMemory(t *testing.T) {
	t.Parallel()
	text := "g.withSack([" + strings.Repeat("1,", 199) + "1], addAll).V().constant(1).barrier().constant(2)"
	budget := gremlin.Budget{Memory: 256 << 10, Traversers: 1 << 40, Time: 5 * time.Minute}
	_, err := run(t.Context(), t, denseGraph(t, 100, 0), text, budget) // the merged sack takes 480 kB
	var budgetErr *gremlin.BudgetError
	if !errors.As(err, &budgetErr) || !strings.Contains(budgetErr.Limit, "memory") {
		t.Errorf("got %v, want an error about memory", err)
	}
}

func TestBigNumbersCountAsMemory(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"n", "m"} {
		// Each sum has 5000 digits, which take 2 kB.
		text := "g.withSack(" + strings.Repeat("9", 5000) + suffix + `).V().sack(sum).by("n").sack().fold().count(local)`
		_, err := run(t.Context(), t, denseGraph(t, 2000, 0), text, gremlin.Budget{Memory: 1 << 20})
		var budgetErr *gremlin.BudgetError
		if !errors.As(err, &budgetErr) || budgetErr.Limit != gremlin.LimitMemory {
			t.Errorf("%s: got %v, want an error about memory", suffix, err)
		}
	}
}

// TestNestedGroupCountReleasesMemory counts the neighbours of every vertex by name. The memory of
// one vertex is enough, because a nested traversal runs for one vertex at a time.
func TestNestedGroupCountReleasesMemory(t *testing.T) {
	t.Parallel()
	var peaks []int64
	for _, n := range []int{10, 1000} {
		text := fmt.Sprintf(`g.V(1).repeat(out("to")).times(3).limit(%d).where(out("to").groupCount().by("name").count(local).is(gt(1))).count()`, n)
		res, err := run(t.Context(), t, denseGraph(t, 2000, 10), text, gremlin.DefaultBudget)
		if err != nil {
			t.Fatal(err)
		}
		peaks = append(peaks, res.Bytes)
	}
	if peaks[1] > 2*peaks[0] {
		t.Errorf("%d bytes for 1000 vertices, %d for 10", peaks[1], peaks[0])
	}
}

// TestCostIsLinearInEdges doubles a graph and expects twice the work. Each query
// visits every edge a fixed number of times.
func TestCostIsLinearInEdges(t *testing.T) {
	t.Parallel()
	var graphs []*graph.Graph
	for _, n := range []int{500, 1000, 2000} {
		graphs = append(graphs, denseGraph(t, n, 6))
	}
	for _, c := range []struct {
		text  string
		times int64 // maximum number of visits per edge
	}{
		{`g.V().out("to").values("n").sum()`, 1},
		{`g.V().out("to").dedup().count()`, 1},
		{`g.V().both().groupCount().by("n")`, 2},
		{`g.V().where(out("to").has("name", "nobody")).count()`, 1},
		{`g.V().order().by(out("to").count(), desc).limit(3)`, 1},
		{`g.V().repeat(out("to")).times(5).count()`, 5},
		{`g.V().outE("to").inV().in("to").where(out("to").has("n", gt(1000000))).count()`, 8},
	} {
		var works []int64
		for _, g := range graphs {
			res, err := run(t.Context(), t, g, c.text, gremlin.Unlimited)
			if err != nil {
				t.Fatalf("%s: %v", c.text, err)
			}
			// Traversers between steps count as work too: a few for each edge.
			if limit := 6 * c.times * int64(g.NumEdges()); res.Work > limit {
				t.Errorf("%s: %d units of work for %d edges", c.text, res.Work, g.NumEdges())
			}
			works = append(works, res.Work)
		}
		for i := range works[1:] {
			if ratio := float64(works[i+1]) / float64(works[i]); ratio < 1.7 || ratio > 2.3 {
				t.Errorf("%s: twice the graph is %.2f times the work: %v", c.text, ratio, works)
			}
		}
	}
}

func TestInitialSideEffects(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 3, 0)
	p, err := gremlin.Compile(`g.V().values("n").where(within("some"))`, gremlin.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Run(t.Context(), g, gremlin.RunOptions{SideEffects: map[string]graph.Value{
		"some": graph.List(graph.Int(2), graph.Int(7)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2"}, texts(g, res)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBulkOverflows checks that every step that adds or multiplies bulks fails when the
// result exceeds 64 bits: a wrapped bulk gives a wrong count, and a negative one removes
// work from the budget.
func TestBulkOverflows(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 3, 2)
	const (
		double = `repeat(union(identity(), identity()))`
		vertex = `V().limit(1).` + double + `.times(31).` + double + `.times(31)` // 2^62 traversers
		rows   = `.union(identity(), identity(), identity(), identity())`         // after vertex, 4 rows that stand for 2^62 traversers each
	)
	budget := gremlin.Unlimited
	budget.Memory, budget.Time = 32<<20, time.Minute
	for _, steps := range []string{
		`.` + double + `.times(2)`,
		`.` + double + `.until(loops().is(2))`,
		`.as("a").` + double + `.times(2).select("a")`,
		`.values("n").` + double + `.times(2).count()`,
		rows + `.barrier().count()`,
		rows + `.as("a").barrier().select("a").count()`,
		rows + `.values("n").barrier().count()`,
		rows + `.order().by(shuffle).count()`,
		`.flatMap(` + double + `.times(2)).count()`,
		`.local(` + double + `.times(2)).count()`,
		`.optional(` + double + `.times(2)).count()`,
		`.as("a").match(__.as("a").` + double + `.times(2).as("b")).select("b").count()`,
		rows + `.aggregate("x").cap("x").count(local)`,
		`.aggregate("x").aggregate("x").cap("x").count(local)`,
		`.sideEffect(union(identity(), identity()).aggregate("x")).select("x").unfold()`,
		rows,
		rows + `.count()`,
		rows + `.order().by("n").count()`,
		rows + `.order().by("n").tail(9223372036854775807L)`,
		rows + `.order().by("n").sample(5)`,
		`.both().count()`,
		rows + `.group().by("n").by(count())`,
		`.group().by("n").by(both().count())`,
		rows + `.groupCount()`,
		rows + `.groupCount().by(label)`,
		rows + `.groupCount().by("name")`,
		rows + `.groupCount("x").by("n").cap("x")`,
		rows + `.values("n").mean()`,
	} {
		if res, err := run(t.Context(), t, g, `g.`+vertex+steps, budget); err == nil {
			t.Errorf("%s: got %d results, want an error", steps, res.Count)
		} else if !strings.HasPrefix(err.Error(), "long overflow") {
			t.Errorf("%s: got %v", steps, err)
		}
	}
	for query, want := range map[string]string{ // without overflow
		`g.` + vertex + rows + `.limit(1)`:                                        "v[0]",
		`g.` + vertex + rows + `.skip(9223372036854775807L).limit(1)`:             "v[0]",
		`g.` + vertex + rows + `.range(4611686018427387905L, -1).limit(1)`:        "v[0]",
		`g.` + vertex + rows + `.range(1, 9223372036854775807L).count()`:          "9223372036854775806",
		`g.` + vertex + `.sample(1)`:                                              "v[0]",
		`g.` + vertex + `.count()`:                                                "4611686018427387904",
		`g.` + vertex + `.union(identity(), limit(4611686018427387903L)).count()`: "9223372036854775807",
	} {
		res, err := run(t.Context(), t, g, query, budget)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if diff := cmp.Diff([]string{want}, texts(g, res)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestCancelledQuery(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 500, 8)
	p, err := gremlin.Compile(`g.V().repeat(both().simplePath()).times(9).path().count()`, gremlin.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reason := errors.New("the client has disconnected")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
	_, err = p.Run(ctx, g, gremlin.RunOptions{Budget: gremlin.Unlimited})
	if !errors.Is(err, reason) {
		t.Errorf("got %v, want %v", err, reason)
	}
	var budgetErr *gremlin.BudgetError
	if errors.As(err, &budgetErr) {
		t.Error("the error of a cancelled query says that it exceeded its budget")
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 500, 8)
	budget := gremlin.Unlimited
	budget.Time = 10 * time.Millisecond
	_, err := run(t.Context(), t, g, `g.V().repeat(both().simplePath()).times(9).path().count()`, budget)
	var budgetErr *gremlin.BudgetError
	if !errors.As(err, &budgetErr) || budgetErr.Limit != gremlin.LimitTime || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a budget error of %s", err, gremlin.LimitTime)
	}
}

func TestErrorsHavePosition(t *testing.T) {
	t.Parallel()
	_, err := gremlin.Compile("g.V().\n  has(\"a\", 1).\n  drop()", gremlin.CompileOptions{})
	var se *syntax.Error
	if !errors.As(err, &se) || se.Span.Pos.Line != 3 || se.Kind != syntax.Forbidden {
		t.Errorf("got %v, want a forbidden step in line 3", err)
	}
}

// TestManyPatterns solves a match() with the maximum number of patterns. More are refused.
func TestManyPatterns(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 3, 1)
	for n, wantErr := range map[int]bool{63: false, 64: true, 70: true} {
		list := strings.Repeat(`, __.as("a").has("n", 1)`, n)[2:]
		for _, text := range []string{`g.V().match(` + list + `).count()`, `g.V().match(__.as("a"), or(` + list + `)).dedup().count()`} {
			p, err := gremlin.Compile(text, gremlin.CompileOptions{Budget: gremlin.Unlimited})
			if (err != nil) != wantErr {
				t.Errorf("%d patterns: %v", n, err)
			}
			if err != nil {
				continue
			}
			res, err := p.Run(t.Context(), g, gremlin.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"1"}, texts(g, res)); diff != "" {
				t.Errorf("%d patterns (-want +got):\n%s", n, diff)
			}
		}
	}
}

// TestInvalidQueriesArePlanErrors compiles queries that are refused as a whole, not at a step.
func TestInvalidQueriesArePlanErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`g.V().times(3)`,
		// EdgeLabelVerificationStrategy refuses moves without an edge label.
		`g.withStrategies(EdgeLabelVerificationStrategy(throwException: true)).V().out()`,
		`g.withStrategies(SubgraphStrategy(vertices: __.out()), EdgeLabelVerificationStrategy(throwException: true)).V()`,
		`g.withStrategies(SubgraphStrategy(vertexProperties: __.out()), EdgeLabelVerificationStrategy(throwException: true)).V().values('a')`,
	} {
		_, err := gremlin.Compile(text, gremlin.CompileOptions{})
		var planErr *gremlin.PlanError
		if !errors.As(err, &planErr) {
			t.Errorf("%s: got %v, want a plan error", text, err)
		}
	}
}

// TestWrongArgumentsHavePosition binds values of a wrong kind to variables, whose kind is
// known only when the query runs. Queries without a variable have a literal out of range.
func TestWrongArgumentsHavePosition(t *testing.T) {
	t.Parallel()
	huge := graph.BigInt(new(big.Int).Lsh(big.NewInt(1), 70))
	for _, c := range []struct {
		text string
		bad  []graph.Value
	}{
		{`g.inject('a').concat(x)`, []graph.Value{graph.Int(5), graph.Bool(true), graph.List(graph.String("b")), huge}},
		{`g.inject('a').concat('b', x)`, []graph.Value{graph.Int(5), graph.VertexOf(0)}},
		{
			`g.inject(datetime('2020-01-01')).dateAdd(DT.day, x)`,
			[]graph.Value{graph.String("1"), graph.Null, graph.Bool(true), graph.List(graph.Int(1)), graph.Double(1), huge},
		},
		{`g.inject(datetime('2020-01-01')).dateAdd(DT.day, 99999999999999999999999n)`, []graph.Value{graph.Null}},
		{`g.inject('abc').substring(99999999999999999999999n)`, []graph.Value{graph.Null}},
		{`g.inject(['abc']).substring(local, 0, -99999999999999999999999n)`, []graph.Value{graph.Null}},
		{`g.V().out(x)`, []graph.Value{graph.Int(5)}},
		{`g.V().limit(x)`, []graph.Value{graph.Null, graph.String("1"), huge}},
		{`g.V().range(5, x)`, []graph.Value{graph.Null, graph.String("1"), huge}},
	} {
		for _, x := range c.bad {
			var planErr *gremlin.PlanError
			if err := runWith(t, c.text, x); !errors.As(err, &planErr) || planErr.Pos.Line != 1 || planErr.Pos.Column < 3 {
				t.Errorf("%s with x = %s: got %v, want a plan error with a position", c.text, x, err)
			}
		}
	}
	for _, text := range []string{`g.inject('a').concat(x)`, `g.inject(null).concat(x, 'b')`} {
		for _, x := range []graph.Value{graph.Null, graph.String("b")} {
			if err := runWith(t, text, x); err != nil {
				t.Errorf("%s with x = %s: %v", text, x, err)
			}
		}
	}
}

// runWith compiles a query and runs it with a value of the variable x.
func runWith(t *testing.T, text string, x graph.Value) error {
	t.Helper()
	p, err := gremlin.Compile(text, gremlin.CompileOptions{})
	if err == nil {
		_, err = p.Run(t.Context(), denseGraph(t, 1, 0), gremlin.RunOptions{Params: map[string]graph.Value{"x": x}})
	}
	return err
}

// TestConcurrentRuns runs one plan on several graphs from many goroutines: on accounts, in
// which the security queries find something, and on dense graphs. With -race it shows that
// runs share no mutable state.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	graphs := []*graph.Graph{account(t, 400), account(t, 600), denseGraph(t, 40, 3), denseGraph(t, 60, 2)}
	var plans []*gremlin.Plan
	for _, text := range append(securityQueries,
		`g.V().out().out().group().by("n").by(count())`, `g.V().as("a").both().as("b").where("a", neq("b")).by("n").select("a", "b")`,
		`g.V().repeat(both()).times(3).groupCount().by("name")`, `g.V().aggregate("x").out().where(within("x")).order().by("name", desc)`,
	) {
		p, err := gremlin.Compile(text, gremlin.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	want := make([][]string, len(graphs))
	for i, g := range graphs {
		for _, p := range plans {
			want[i] = append(want[i], countResult(t, p, g))
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		for i, g := range graphs {
			wg.Go(func() {
				for k, p := range plans {
					if got := countResult(t, p, g); got != want[i][k] {
						t.Errorf("%s: got %s, want %s", p, got, want[i][k])
					}
				}
			})
		}
	}
	wg.Wait()
}

func countResult(t *testing.T, p *gremlin.Plan, g *graph.Graph) string {
	res, err := p.Run(t.Context(), g, gremlin.RunOptions{Budget: gremlin.Unlimited})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(res.Count, res.Work)
}

func TestProfileMatchesRun(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 100, 4)
	p, err := gremlin.Compile(`g.V().has("n", lt(50)).out().out().where(out().has("n", 3)).local(out().order().by("n").limit(1)).values("name")`, gremlin.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Run(t.Context(), g, gremlin.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	prof, err := p.Profile(t.Context(), g, gremlin.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var cost int64
	for _, s := range prof.Steps {
		if s.Depth == 0 {
			cost += s.Cost
		}
		if s.Time < 0 || s.Bulk < s.Traversers {
			t.Errorf("odd numbers: %+v", s)
		}
	}
	if prof.Results != res.Count || prof.Work != res.Work {
		t.Errorf("the profile has %d results and %d units of work, the run %d and %d", prof.Results, prof.Work, res.Count, res.Work)
	}
	if cost > prof.Work || cost < prof.Work*8/10 {
		t.Errorf("the steps account for %d of %d units of work", cost, prof.Work)
	}
}

func TestVerdictWithVariables(t *testing.T) {
	t.Parallel()
	g, err := readGraph("v 1 B p=1\nv 2 B\nunknown 2 p denied\n")
	if err != nil {
		t.Fatal(err)
	}
	p, err := gremlin.Compile(`g.V().has("p", x)`, gremlin.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Verdict(t.Context(), g, gremlin.RunOptions{Params: map[string]graph.Value{"x": graph.Int(1)}})
	if err != nil {
		t.Fatal(err)
	}
	if v.Of(0) != gremlin.Yes || v.Of(1) != gremlin.Unknown {
		t.Errorf("got %v and %v, want yes and unknown", v.Of(0), v.Of(1))
	}
}
