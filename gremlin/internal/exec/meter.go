package exec

import (
	"context"
	"fmt"
	"time"
)

// Limits bound what a run may cost. A field that is zero or negative does not
// limit.
type Limits struct {
	Work    int64         // units of work: rows and edges touched
	Live    int64         // traversers kept at one time
	Memory  int64         // accounted bytes
	Results int64         // results
	Repeat  int64         // rounds of a repeat
	Path    int64         // objects of a path
	Time    time.Duration // of the run
}

// A LimitError says that a run was stopped because a limit was exceeded.
type LimitError struct {
	Name    string
	Allowed int64
	Cause   error // the error of the context, if it was that
}

// Error names the limit and what it allows.
func (e *LimitError) Error() string {
	if e.Cause != nil && e.Allowed == 0 {
		return fmt.Sprintf("query stopped: %v", e.Cause)
	}
	if e.Name == "time" {
		return fmt.Sprintf("query exceeds its budget: %s (limit %v)", e.Name, time.Duration(e.Allowed))
	}
	return fmt.Sprintf("query exceeds its budget: %s (limit %d)", e.Name, e.Allowed)
}

// Unwrap returns the error of the context, if it was that.
func (e *LimitError) Unwrap() error { return e.Cause }

// meter counts what a run costs.
type meter struct {
	ctx      context.Context
	limits   Limits
	deadline time.Time
	work     int64
	check    int64 // work at which clock and context are looked at again
	err      error // of tick
	memory   int64
	peak     int64
	live     int64
	large    func() // called when the run turns out to be large; nil once it was
}

// Large is the accounted memory at which Options.OnLarge is called, and largeWork
// the work at which it is: what much work leaves behind is much garbage.
const (
	Large     = 4 << 20
	largeWork = 1 << 16
)

// checkEvery is how much work is done between two looks at the clock.
const checkEvery = 2048

func newMeter(ctx context.Context, l Limits, onLarge func()) *meter {
	m := &meter{ctx: ctx, limits: l, check: checkEvery, large: onLarge}
	if l.Time > 0 {
		m.deadline = time.Now().Add(l.Time)
	}
	return m
}

// spend counts n units of work.
func (m *meter) spend(n int) error {
	m.work += int64(n)
	if m.work < m.check {
		return nil
	}
	return m.look()
}

// tick is spend for those who cannot return an error: it reports false when the
// budget is used up, and the next spend returns the error.
func (m *meter) tick(n int) bool {
	m.work += int64(n)
	if m.work < m.check {
		return true
	}
	if m.err == nil {
		m.err = m.look()
	}
	if m.err != nil {
		m.check = 0 // so that spend finds out
	}
	return m.err == nil
}

// look checks everything that is too dear to check each time.
func (m *meter) look() error {
	if m.err != nil {
		return m.err
	}
	m.check = m.work + checkEvery
	if m.work > largeWork && m.large != nil {
		m.grown()
	}
	if m.limits.Work > 0 && m.work > m.limits.Work {
		return &LimitError{Name: "work", Allowed: m.limits.Work}
	}
	if err := m.ctx.Err(); err != nil {
		return &LimitError{Name: "context", Cause: context.Cause(m.ctx)}
	}
	if !m.deadline.IsZero() && time.Now().After(m.deadline) {
		return &LimitError{Name: "time", Allowed: int64(m.limits.Time), Cause: context.DeadlineExceeded}
	}
	return nil
}

// hold accounts for memory that is kept.
func (m *meter) hold(bytes int64) error {
	m.memory += bytes
	if m.memory > m.peak {
		m.peak = m.memory
		if m.peak > Large && m.large != nil {
			m.grown()
		}
		if m.limits.Memory > 0 && m.memory > m.limits.Memory {
			return &LimitError{Name: "memory", Allowed: m.limits.Memory}
		}
	}
	return nil
}

// grown says that much memory is used, once.
func (m *meter) grown() {
	m.large()
	m.large = nil
}

// release accounts for memory that is no longer kept.
func (m *meter) release(bytes int64) { m.memory -= bytes }

// keep accounts for traversers that are kept.
func (m *meter) keep(n int) error {
	m.live += int64(n)
	if m.limits.Live > 0 && m.live > m.limits.Live {
		return &LimitError{Name: "live traversers", Allowed: m.limits.Live}
	}
	return nil
}

// let accounts for traversers that are no longer kept.
func (m *meter) let(n int) { m.live -= int64(n) }

// once checks that something of a size may be made at all.
func (m *meter) once(bytes int64) error {
	if m.memory+bytes > Large && m.large != nil {
		m.grown()
	}
	if m.limits.Memory > 0 && m.memory+bytes > m.limits.Memory {
		return &LimitError{Name: "memory", Allowed: m.limits.Memory}
	}
	return nil
}
