package gremlin_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vigil/graph"
	"vigil/gremlin"
)

// TestRegexOfVariableIsLimited checks that the limit for regular expressions applies to the values
// of variables too.
func TestRegexOfVariableIsLimited(t *testing.T) {
	t.Parallel()
	g := denseGraph(t, 3, 1)
	expression := func(length int) map[string]graph.Value {
		return map[string]graph.Value{"pattern": graph.String(strings.Repeat("a", length))}
	}
	byDefault := gremlin.DefaultBudget.Regex
	for _, text := range []string{`g.V().has("n", regex(pattern))`, `g.V().has("n", notRegex(pattern).or(eq(1)))`} {
		p, err := gremlin.Compile(text, gremlin.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			limit, length int // limit as in Budget
			allowed       int64
		}{
			{limit: 0, length: byDefault},
			{limit: 0, length: byDefault + 1, allowed: int64(byDefault)},
			{limit: 3, length: 3},
			{limit: 3, length: 4, allowed: 3},
			{limit: -1, length: byDefault + 1},
		} {
			_, err := p.Run(t.Context(), g, gremlin.RunOptions{Params: expression(test.length), Budget: gremlin.Budget{Regex: test.limit}})
			var exceeded *gremlin.BudgetError
			switch {
			case test.allowed == 0 && err != nil:
				t.Errorf("%s with %+v: %v", text, test, err)
			case test.allowed != 0 && (!errors.As(err, &exceeded) || exceeded.Limit != gremlin.LimitRegex || exceeded.Allowed != test.allowed):
				t.Errorf("%s with %+v: %v, want the limit %d of %s", text, test, err, test.allowed, gremlin.LimitRegex)
			}
		}
		for length, want := range map[int]bool{byDefault: true, byDefault + 1: false} {
			if _, err := p.Bind(expression(length), time.Time{}); (err == nil) != want {
				t.Errorf("%s: bound to %d bytes: %v", text, length, err)
			}
			if _, ok := p.Reach(expression(length)); ok != want {
				t.Errorf("%s: reach with %d bytes: %t, want %t", text, length, ok, want)
			}
		}
	}
}
