package exec

import (
	"context"
	"math/rand/v2"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// Options of a run.
type Options struct {
	Limits  Limits
	Side    map[string]graph.Value // values of side effects, besides those of the query
	Reading Reading                // what unknown values mean
	Profile bool                   // measure every step
	OnLarge func()                 // called once when the run keeps more than Large bytes or does much work; may be nil
}

// Reading says what a predicate makes of a value that is unknown.
type Reading uint8

// The readings.
const (
	Plain   Reading = iota // an unknown value is not there
	Certain                // only what holds whatever the unknown values are
	Perhaps                // also what holds for some unknown values
)

// A Result is one result and how often it occurs.
type Result struct {
	Value graph.Value
	Bulk  int64
}

// Outcome is what a run leaves behind.
type Outcome struct {
	Results []Result
	Total   int64 // number of results, bulks included
	Work    int64
	Peak    int64 // accounted memory
	Held    int64 // accounted memory of the results
	Profile []Measure
	Indexes []string // how the query started
}

// run is one execution of a plan on a graph.
type run struct {
	g         *graph.Graph
	root      *plan.Root
	opt       Options
	meter     *meter
	size      int // rows of a batch
	sides     *sides
	sackInit  *graph.Value
	loops     []*repeatOp    // the repeats around the operators being built
	flow      []*repeatOp    // those of them that the rows being handled go round in
	whereEnds []*whereTarget // of the where() traversals being built
	negated   bool           // the operators being built are within an odd number of not()
	random    func() *value.Random
	probes    *probes
	indexes   []string
	pairs     value.Keys    // of properties that were compared: key and value
	firsts    []graph.Value // the first property of each pair
	out       Outcome
	held      int64 // bytes of the results, by account
}

// batchRows is how many rows a batch has in full flow.
const batchRows = 1024

// Run executes a plan.
func Run(ctx context.Context, g *graph.Graph, root *plan.Root, opt Options) (*Outcome, error) {
	r := &run{g: g, root: root, opt: opt, meter: newMeter(ctx, opt.Limits, opt.OnLarge), size: batchRows}
	if root.Lazy {
		r.size = 1
	}
	if opt.Profile {
		r.probes = &probes{}
	}
	if root.Sack != nil {
		r.sackInit = &root.Sack.Initial
	} else if usesSack(root) {
		r.sackInit = &graph.Value{}
	}
	r.sides = newSides(r)
	r.random = func() *value.Random {
		if root.Seed != nil {
			return value.NewRandom(*root.Seed)
		}
		return value.NewRandom(rand.Int64())
	}
	if err := r.precheck(); err != nil {
		return nil, err
	}
	c, err := r.link(root.Steps, &sink{take: r.collect})
	if err != nil {
		return nil, err
	}
	if err := r.drive(&c); err != nil {
		return nil, err
	}
	r.out.Work, r.out.Peak, r.out.Held, r.out.Indexes = r.meter.work, r.meter.peak, r.held, r.indexes
	if r.probes != nil {
		r.out.Profile = r.probes.measures()
	}
	return &r.out, nil
}

// Tick counts work that a predicate does.
func (r *run) Tick(n int) bool { return r.meter.tick(n) }

// precheck finds what cannot stay within the limits before anything is run.
func (r *run) precheck() error {
	var err error
	if max := r.opt.Limits.Repeat; max > 0 {
		plan.Walk(&r.root.Traversal, func(s plan.Step) {
			if rep, ok := s.(*plan.Repeat); ok && rep.Times > max {
				err = &LimitError{Name: "repeat", Allowed: max}
			}
		})
	}
	if err != nil {
		return err
	}
	return r.meter.look()
}

func usesSack(root *plan.Root) bool {
	found := false
	plan.Walk(&root.Traversal, func(s plan.Step) {
		switch s.(type) {
		case *plan.SackPut, *plan.SackOf:
			found = true
		}
	})
	return found
}

// drive feeds the chain of the query: an empty batch makes the first operator,
// which is a source, start.
func (r *run) drive(c *chain) error {
	start := &batch{vals: []graph.Value{graph.Null}}
	if r.sackInit != nil {
		start.sack = []graph.Value{*r.sackInit}
	}
	if err := c.push(start); err != nil && err != errDone {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	return r.meter.look()
}

// collect keeps the results of the query.
func (r *run) collect(b *batch) error {
	n := b.len()
	for i := range n {
		c := b.count(i)
		if take := r.root.Take; take >= 0 && r.out.Total+c > take {
			if c = take - r.out.Total; c <= 0 {
				return errDone
			}
		}
		r.out.Total += c
		if max := r.opt.Limits.Results; max > 0 && r.out.Total > max {
			return &LimitError{Name: "results", Allowed: max}
		}
		v := b.value(i)
		bytes, err := r.weigh(v)
		if err != nil {
			return err
		}
		if err := r.meter.hold(64 + bytes); err != nil {
			return err
		}
		r.held += 64 + bytes
		r.out.Results = append(r.out.Results, Result{Value: v, Bulk: c})
	}
	return r.meter.spend(n)
}

// equal is the equality of keys, sets and duplicates.
func equal(a, b graph.Value) bool { return value.Equal(a, b) }
