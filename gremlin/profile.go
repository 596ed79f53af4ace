package gremlin

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"vigil/graph"
	"vigil/gremlin/internal/exec"
	"vigil/gremlin/internal/plan"
)

// A Profile holds the measurements of one run of a query, in total and of each step.
type Profile struct {
	Query   string
	Steps   []ProfiledStep
	Start   []string // how each V() and E() found its elements, such as by which index
	Results int64    // number of results
	Work    int64    // traversers processed and edges visited
	Bytes   int64    // peak of reserved memory
	Time    time.Duration
}

// A ProfiledStep holds the measurements of one step. The steps of its nested traversals
// follow it in the profile, one level deeper; Time of the outer step includes their time.
type ProfiledStep struct {
	Depth      int // of nesting; 0 for the steps of the query itself
	Text       string
	Traversers int64 // number of traversers that left the step, each of which may stand for several equal ones
	Bulk       int64 // number of traversers that left the step, with equal ones counted separately
	Cost       int64 // traversers processed and edges visited
	Time       time.Duration
	Percent    float64 // share of the total time
}

// Profile runs the query and measures every step.
func (p *Plan) Profile(ctx context.Context, g *graph.Graph, opts RunOptions) (*Profile, error) {
	root, err := p.bound(opts)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	out, err := runRoot(ctx, g, root, opts, exec.Options{Profile: true})
	if err != nil {
		return nil, err
	}
	prof := &Profile{Query: p.text, Start: out.Indexes, Results: out.Total, Work: out.Work, Bytes: out.Peak, Time: time.Since(start)}
	byID := map[int]exec.Measure{}
	for _, m := range out.Profile {
		byID[m.ID] = m
	}
	prof.add(&root.Traversal, 0, byID)
	return prof, nil
}

// add adds the steps of a traversal, and of the traversals nested in it, to the profile.
func (p *Profile) add(t *plan.Traversal, depth int, measures map[int]exec.Measure) {
	for _, s := range t.Steps {
		m, ok := measures[s.Info().ID]
		if depth > 0 && (!ok || m == exec.Measure{ID: m.ID}) {
			continue // the enclosing step executed it without measuring it separately
		}
		step := ProfiledStep{Depth: depth, Text: plan.Describe(s), Traversers: m.Traversers, Bulk: m.Bulk, Cost: m.Work, Time: m.Time}
		if p.Time > 0 {
			step.Percent = 100 * float64(m.Time) / float64(p.Time)
		}
		p.Steps = append(p.Steps, step)
		for _, c := range plan.Children(s) {
			p.add(c, depth+1, measures)
		}
	}
}

// String formats the profile as a table.
func (p *Profile) String() string {
	var b strings.Builder
	width := len("step")
	for _, s := range p.Steps {
		width = max(width, min(utf8.RuneCountInString(s.Text)+2*s.Depth, 60))
	}
	fmt.Fprintf(&b, "%-*s  %12s  %14s  %12s  %12s  %6s\n", width, "step", "traversers", "bulk", "cost", "time", "%")
	for _, s := range p.Steps {
		text := strings.Repeat("  ", s.Depth) + s.Text
		if characters := []rune(text); len(characters) > width {
			text = string(characters[:width-3]) + "..."
		}
		fmt.Fprintf(&b, "%-*s  %12d  %14d  %12d  %12v  %6.1f\n",
			width, text, s.Traversers, s.Bulk, s.Cost, s.Time.Round(time.Microsecond), s.Percent)
	}
	fmt.Fprintf(&b, "\n%d results in %v, cost %d, memory %d bytes\n", p.Results, p.Time.Round(time.Microsecond), p.Work, p.Bytes)
	for _, s := range p.Start {
		b.WriteString("start: " + s + "\n")
	}
	return b.String()
}
