package suite

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"vigil/gremlin/internal/tinkerpop"
)

// Report prints outcomes as they arrive and counts them.
type Report struct {
	Out            io.Writer
	Verbose        bool // also print passing scenarios
	Summary        bool // print the number of failures by feature and by error
	Passed, Failed int
	LeftOut        int // not run

	groups map[string]int
}

// Add counts an outcome. It prints failures, and with Verbose also passing scenarios.
func (r *Report) Add(o Outcome) {
	if o.Failure == "" {
		r.Passed++
		if r.Verbose {
			fmt.Fprintf(r.Out, "ok    %s\n", o.Scenario.ID)
		}
		return
	}
	r.Failed++
	r.group(o)
	fmt.Fprintf(r.Out, "FAIL  %s\n", o.Scenario.ID)
	fmt.Fprintf(r.Out, "      %s\n", strings.ReplaceAll(strings.TrimSpace(o.Scenario.Gremlin), "\n", "\n      "))
	fmt.Fprintf(r.Out, "  why   %s\n", o.Failure)
	fmt.Fprintf(r.Out, "  want  %s\n", o.Scenario.Expect)
	if o.Err != nil {
		fmt.Fprintf(r.Out, "  error %v\n", o.Err)
	} else {
		fmt.Fprintf(r.Out, "  got   %s\n", tinkerpop.Brief(o.Got))
	}
}

// LeaveOut counts a scenario that is not run.
func (r *Report) LeaveOut(s tinkerpop.Scenario, reason string) {
	r.LeftOut++
	if r.Verbose {
		fmt.Fprintf(r.Out, "out   %s: %s\n", s.ID, reason)
	}
}

// group counts a failure by feature and by error.
func (r *Report) group(o Outcome) {
	if r.groups == nil {
		r.groups = map[string]int{}
	}
	feature, _, _ := strings.Cut(o.Scenario.ID, "#")
	r.groups["feature "+feature]++
	if o.Err != nil {
		text := o.Err.Error()
		if _, after, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(text, "line ") {
			text = after // without the position in the query
		}
		r.groups["error   "+text]++
	}
}

// End prints the counts and, if enabled, the summary.
func (r *Report) End() {
	if r.Summary {
		names := slices.SortedFunc(maps.Keys(r.groups), func(a, b string) int {
			if n := r.groups[b] - r.groups[a]; n != 0 {
				return n
			}
			return strings.Compare(a, b)
		})
		for _, name := range names {
			fmt.Fprintf(r.Out, "%5d %s\n", r.groups[name], name)
		}
	}
	if r.LeftOut > 0 {
		fmt.Fprintf(r.Out, "%d were skipped: -v prints the reasons\n", r.LeftOut)
	}
	fmt.Fprintf(r.Out, "%d passed, %d failed\n", r.Passed, r.Failed)
}
