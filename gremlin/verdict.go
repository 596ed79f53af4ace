package gremlin

import (
	"context"
	"fmt"
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/exec"
	"vigil/gremlin/internal/plan"
)

// An Answer says whether a query finds a vertex, given unknown values.
type Answer uint8

// The answers.
const (
	No      Answer = iota // it does not, for all possible values
	Yes                   // it does, for all possible values
	Unknown               // it depends on unknown values
)

// String returns the answer as a word.
func (a Answer) String() string { return [...]string{"no", "yes", "unknown"}[a] }

// A Verdict holds the vertices that a query certainly finds and those that it may find.
type Verdict struct {
	Yes     []graph.Handle // in ascending order
	Unknown []graph.Handle // in ascending order
	// AllUnknownBecause are keys with unknown values that the query uses other than in
	// conditions, such as to sort. If there are any, nothing is certain: Yes is empty, and every
	// vertex is unknown, including those that are not in Unknown.
	AllUnknownBecause []string
	Work              int64 // total work of all runs
}

// Of returns the answer for a vertex.
func (v *Verdict) Of(h graph.Handle) Answer {
	if _, ok := slices.BinarySearch(v.Yes, h); ok {
		return Yes
	}
	if _, ok := slices.BinarySearch(v.Unknown, h); ok || len(v.AllUnknownBecause) > 0 {
		return Unknown
	}
	return No
}

// Verdict runs a query that finds vertices under two interpretations of unknown
// values: one in which they satisfy no condition, and one in which they satisfy
// every condition; within not() it is the opposite. Vertices found in both are
// certain, those found in one are unknown.
func (p *Plan) Verdict(ctx context.Context, g *graph.Graph, opts RunOptions) (*Verdict, error) {
	root, err := p.bound(opts)
	if err != nil {
		return nil, err
	}
	out, err := runRoot(ctx, g, root, opts, exec.Options{Reading: exec.Certain, From: opts.From})
	if err != nil {
		return nil, err
	}
	v := &Verdict{Work: out.Work}
	if v.Yes, err = vertices(out); err != nil {
		return nil, err
	}
	keys := p.keysOf(root)
	if len(withUnknown(g, keys.read, keys.readAll)) == 0 {
		return v, nil
	}
	possible, err := runRoot(ctx, g, root, opts, exec.Options{Reading: exec.Possible, From: opts.From})
	if err != nil {
		return nil, err
	}
	v.Work += possible.Work
	all, err := vertices(possible)
	if err != nil {
		return nil, err
	}
	v.AllUnknownBecause = withUnknown(g, keys.nonMonotonic, keys.allNonMonotonic)
	if len(v.AllUnknownBecause) > 0 {
		all = append(all, v.Yes...)
		slices.Sort(all)
		v.Yes, v.Unknown = nil, slices.Compact(all)
		return v, nil
	}
	// The second run finds everything that the first found: v.Yes is a part of all.
	for _, h := range all {
		if _, ok := slices.BinarySearch(v.Yes, h); !ok {
			v.Unknown = append(v.Unknown, h)
		}
	}
	return v, nil
}

// verdictKeys are the keys whose unknown values matter for a verdict.
type verdictKeys struct {
	read            []string // that the query reads
	readAll         bool
	nonMonotonic    []string // see plan.NonMonotonicKeys
	allNonMonotonic bool
}

// keysOf returns the keys of a bound plan. It keeps those of a plan that does not depend
// on the run.
func (p *Plan) keysOf(root *plan.Root) verdictKeys {
	if root == p.root {
		p.keysOnce.Do(func() { p.keys = findKeys(root) })
		return p.keys
	}
	return findKeys(root)
}

func findKeys(root *plan.Root) (k verdictKeys) {
	t := plan.Touches(root)
	k.read, k.readAll = t.Keys, t.AllKeys
	k.nonMonotonic, k.allNonMonotonic = plan.NonMonotonicKeys(root)
	return k
}

// vertices returns the vertices among the results in ascending order.
func vertices(out *exec.Outcome) ([]graph.Handle, error) {
	hs := make([]graph.Handle, 0, len(out.Results))
	for _, r := range out.Results {
		if r.Value.Kind() != graph.KindVertex {
			return nil, fmt.Errorf("a verdict needs a query that finds vertices, this one finds a %s", r.Value.Kind())
		}
		hs = append(hs, r.Value.Handle())
	}
	slices.Sort(hs)
	return slices.Compact(hs), nil
}

// withUnknown returns those of the keys, or of all keys, that have unknown values.
func withUnknown(g *graph.Graph, keys []string, all bool) []string {
	if all {
		keys = slices.Sorted(slices.Values(g.Keys()))
	}
	var out []string
	for _, key := range keys {
		if hasUnknown(g, key) {
			out = append(out, key)
		}
	}
	return out
}

// hasUnknown reports whether a key has an unknown value on an element of the graph.
func hasUnknown(g *graph.Graph, key string) bool {
	k, ok := g.KeyByName(key)
	return ok && g.HasUnknown(k)
}
