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
	Side    map[string]graph.Value // initial values of side effects, in addition to those of the query
	Reading Reading                // treatment of unknown values
	Profile bool                   // measure every step
	From    []graph.Handle         // vertices that the first V() is restricted to, each once; nil for all
	OnLarge func()                 // called once when the run reserves more than Large bytes or does much work; may be nil
}

// Reading is the treatment of unknown values by predicates.
type Reading uint8

// The readings.
const (
	Plain    Reading = iota // an unknown value is absent
	Certain                 // true only if the predicate holds for every possible value
	Possible                // true if the predicate holds for some possible value
)

// A Result is one result and its multiplicity.
type Result struct {
	Value graph.Value
	Bulk  int64
}

// Outcome is the outcome of a run.
type Outcome struct {
	Results []Result
	Total   int64 // number of results, bulks included
	Work    int64
	Peak    int64 // peak of reserved memory
	Held    int64 // reserved memory of the results
	Profile []Measure
	Indexes []string // access paths of V() and E()
}

// run is one execution of a plan on a graph.
type run struct {
	g           *graph.Graph
	root        *plan.Root
	opt         Options
	meter       *meter
	size        int // rows of a batch
	sideEffects *sideEffects
	sackInit    *graph.Value   // nil if the query uses no sacks
	loops       []*repeatOp    // enclosing repeats of the operators being built
	flow        []*repeatOp    // enclosing repeats within the nested traversal being built; see rangeOp
	whereEnds   []*whereTarget // targets of the where() traversals being built
	negated     bool           // the operators being built are within an odd number of not()
	random      func() *value.Random
	probes      *probes
	indexes     []string
	pairs       value.Keys    // pairs of key and value of the properties that were passed to canonical
	firsts      []graph.Value // by index in pairs: the first property with this key and value
	out         Outcome
	resultBytes int64 // reserved memory of the results
}

// batchRows is the regular number of rows of a batch.
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
	r.sideEffects = newSideEffects(r)
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
	r.out.Work, r.out.Peak, r.out.Held, r.out.Indexes = r.meter.work, r.meter.peak, r.resultBytes, r.indexes
	if r.probes != nil {
		r.out.Profile = r.probes.measures()
	}
	return &r.out, nil
}

// Tick counts work that a predicate does.
func (r *run) Tick(n int) bool { return r.meter.tick(n) }

// precheck finds plans that certainly exceed a limit before they are run.
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
	return r.meter.checkLimits()
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

// drive starts the chain of the query: a batch of one null row triggers the first
// operator, which is a source.
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
	return r.meter.checkLimits()
}

// collect stores the results of the query.
func (r *run) collect(b *batch) error {
	n := b.len()
	for i := range n {
		c := b.count(i)
		if take := r.root.Take; take >= 0 && c > take-r.out.Total {
			c = take - r.out.Total
			if c <= 0 {
				return errDone
			}
		}
		var err error
		if r.out.Total, err = addBulk(r.out.Total, c); err != nil {
			return err
		}
		if max := r.opt.Limits.Results; max > 0 && r.out.Total > max {
			return &LimitError{Name: "results", Allowed: max}
		}
		v := b.value(i)
		bytes, err := r.sizeOf(v)
		if err != nil {
			return err
		}
		if err := r.meter.reserve(64 + bytes); err != nil {
			return err
		}
		r.resultBytes += 64 + bytes
		r.out.Results = append(r.out.Results, Result{Value: v, Bulk: c})
	}
	return r.meter.spend(n)
}

// equal is the equality of map keys, sets and deduplication.
func equal(a, b graph.Value) bool { return value.Equal(a, b) }
