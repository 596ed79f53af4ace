package gremlin_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/graph"
	"vigil/gremlin"
)

// TestExplainBoundPlan checks that the explanation of a bound plan has the steps as written, and
// the values in the steps that are run.
func TestExplainBoundPlan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	p, err := gremlin.Compile(`g.V().has('n', lt(most)).has('t', lt(datetime())).has('u', neq(UUID()))`, gremlin.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := p.Bind(map[string]graph.Value{"most": graph.Int(7)}, now)
	if err != nil {
		t.Fatal(err)
	}
	e := bound.Explain()
	if want := p.Explain().Written; len(want) == 0 || !slices.Equal(e.Written, want) {
		t.Errorf("as understood: %q, want %q", e.Written, want)
	}
	run := ""
	for _, s := range e.Steps {
		run += s.Text + "\n"
	}
	if !strings.Contains(run, "lt(7)") || !strings.Contains(run, "2026-06-01T12:00") || strings.Contains(run, "0001-01-01") {
		t.Errorf("as run: %s", run)
	}
}
