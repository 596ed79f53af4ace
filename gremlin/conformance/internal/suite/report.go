package suite

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Report prints outcomes as they come and counts them.
type Report struct {
	Out            io.Writer
	Verbose        bool // print what passes, too
	Summary        bool // print how many failed by tag and by failure
	Passed, Failed int

	groups map[string]int
}

// Add prints an outcome if it is a failure.
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
		fmt.Fprintf(r.Out, "  got   %s\n", list(o.Got))
	}
}

// group counts a failure by the scenario's feature and by its error, if any.
func (r *Report) group(o Outcome) {
	if r.groups == nil {
		r.groups = map[string]int{}
	}
	feature, _, _ := strings.Cut(o.Scenario.ID, "#")
	r.groups["feature "+feature]++
	if o.Err != nil {
		text := o.Err.Error()
		if _, after, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(text, "line ") {
			text = after
		}
		r.groups["error   "+text]++
	}
}

// End prints the summary if it is wanted, and the counts.
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
	fmt.Fprintf(r.Out, "%d passed, %d failed\n", r.Passed, r.Failed)
}

// String writes what is expected in one line.
func (e Expectation) String() string {
	switch e.Kind {
	case "error":
		return fmt.Sprintf("an error %s %q", e.Match, e.Message)
	case "empty":
		return "nothing"
	case "count":
		return fmt.Sprintf("%d results", e.Count)
	case "tree":
		return "a tree\n        " + strings.Join(e.Values, "\n        ")
	}
	return e.Kind + " " + list(e.Values)
}

// list writes texts in one line, cut where there are very many.
func list(texts []string) string {
	const most = 60
	if len(texts) > most {
		return strings.Join(texts[:most], " | ") + fmt.Sprintf(" | and %d more", len(texts)-most)
	}
	return strings.Join(texts, " | ")
}
