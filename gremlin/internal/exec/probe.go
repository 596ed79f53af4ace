package exec

import (
	"time"

	"vigil/gremlin/internal/plan"
)

// A Measure is what a step did in a run.
type Measure struct {
	ID         int
	Batches    int64
	Traversers int64 // rows that came out
	Bulk       int64 // traversers they stand for
	Time       time.Duration
}

// probes are the measuring points of a run, by step.
type probes struct {
	all []*probe
}

// probe counts what comes out of a step and how long what follows takes.
type probe struct {
	base
	Measure
	inner time.Duration // time spent in the steps after this one
	calls int
}

// watch puts a measuring point behind a step.
func (p *probes) watch(m *plan.Meta, next op, r *run) op {
	o := &probe{base: base{run: r, next: next}, Measure: Measure{ID: m.ID}}
	p.all = append(p.all, o)
	return o
}

func (o *probe) push(b *batch) error {
	o.Batches++
	o.Traversers += int64(b.len())
	o.Bulk += b.total()
	start := time.Now()
	err := o.next.push(b)
	o.inner += time.Since(start)
	return err
}

func (p *probes) measures() []Measure {
	byID := map[int]*Measure{}
	var out []Measure
	for _, o := range p.all {
		m := byID[o.ID]
		if m == nil {
			out = append(out, Measure{ID: o.ID})
			m = &out[len(out)-1]
			byID[o.ID] = m
		}
		m.Batches += o.Batches
		m.Traversers += o.Traversers
		m.Bulk += o.Bulk
		m.Time += o.inner
	}
	return out
}
