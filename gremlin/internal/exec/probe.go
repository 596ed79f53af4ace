package exec

import (
	"math"
	"time"

	"vigil/gremlin/internal/plan"
)

// A Measure holds the measurements of a step in a run.
type Measure struct {
	ID         int
	Traversers int64         // number of result rows
	Bulk       int64         // number of traversers in these rows
	Work       int64         // units of work, excluding later steps
	Time       time.Duration // excluding later steps
}

// probes are the measures of a run, by step.
type probes struct {
	byID  map[int]*Measure
	order []int
}

func (p *probes) measure(id int) *Measure {
	if p.byID == nil {
		p.byID = map[int]*Measure{}
	}
	m := p.byID[id]
	if m == nil {
		m = &Measure{ID: id}
		p.byID[id] = m
		p.order = append(p.order, id)
	}
	return m
}

func (p *probes) measures() []Measure {
	out := make([]Measure, len(p.order))
	for i, id := range p.order {
		out[i] = *p.byID[id]
	}
	return out
}

// outProbe is placed after an operator: it counts the results of the operator and
// subtracts the time of later operators.
type outProbe struct {
	base
	m *Measure
}

func (p *probes) addOutput(m *plan.Meta, next op, r *run) op {
	return &outProbe{base: base{run: r, next: next}, m: p.measure(m.ID)}
}

func (o *outProbe) push(b *batch) error {
	o.m.Traversers += int64(b.len())
	n, err := b.total()
	if err == nil {
		n, err = addBulk(o.m.Bulk, n)
	}
	if err != nil {
		n = math.MaxInt64 // only the measure overflows; the run itself may succeed
	}
	o.m.Bulk = n
	start, work := time.Now(), o.run.meter.work
	err = o.next.push(b)
	o.m.Time -= time.Since(start)
	o.m.Work -= o.run.meter.work - work
	return err
}

// inProbe wraps an operator and measures its time including later operators.
type inProbe struct {
	op
	m     *Measure
	meter *meter
}

func (p *probes) addInput(m *plan.Meta, o op, r *run) op {
	return &inProbe{op: o, m: p.measure(m.ID), meter: r.meter}
}

func (o *inProbe) push(b *batch) error {
	return o.measureTime(func() error { return o.op.push(b) })
}

func (o *inProbe) finish() error { return o.measureTime(o.op.finish) }

func (o *inProbe) measureTime(fn func() error) error {
	start, work := time.Now(), o.meter.work
	err := fn()
	o.m.Time += time.Since(start)
	o.m.Work += o.meter.work - work
	return err
}
