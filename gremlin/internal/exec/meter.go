package exec

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Limits limit the cost of a run. A zero or negative field means no limit.
type Limits struct {
	Work    int64         // units of work: rows processed and edges visited
	Live    int64         // traversers stored at the same time
	Memory  int64         // reserved bytes
	Results int64         // results
	Repeat  int64         // iterations of a repeat
	Path    int64         // objects of a path
	Regex   int64         // bytes of a regular expression that is a value
	Time    time.Duration // of the run
}

// A LimitError is the error of a run that exceeded a limit, one of Limits or one of the fixed
// limits of a value (maxText, maxNodes).
type LimitError struct {
	Name    string
	Allowed int64
	Cause   error // error of the context, if that ended the run
}

// Error returns a message with the name and value of the limit.
func (e *LimitError) Error() string {
	if e.Cause != nil && e.Allowed == 0 {
		return fmt.Sprintf("query stopped: %v", e.Cause)
	}
	if e.Name == "time" {
		return fmt.Sprintf("query exceeds its budget: %s (limit %v)", e.Name, time.Duration(e.Allowed))
	}
	return fmt.Sprintf("query exceeds its budget: %s (limit %d)", e.Name, e.Allowed)
}

// Unwrap returns the error of the context, if that ended the run.
func (e *LimitError) Unwrap() error { return e.Cause }

// meter tracks the cost of a run.
type meter struct {
	ctx      context.Context
	limits   Limits
	deadline time.Time
	work     int64
	check    int64 // work at which clock and context are checked next
	err      error // found by addWork or tick, which cannot return it; spend does
	memory   int64
	peak     int64
	live     int64
	large    func() // called once when the run becomes large; nil afterwards
}

// Large is the reserved memory at which Options.OnLarge is called, and largeWork
// the amount of work at which it is called, because much work produces much
// garbage.
const (
	Large     = 4 << 20
	largeWork = 1 << 16
)

// checkEvery is the amount of work between two checks of the clock.
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
	if !m.addWork(n) {
		return nil
	}
	return m.checkLimits()
}

// addWork adds n units of work and reports whether the limits must be checked.
func (m *meter) addWork(n int) bool {
	if n < 0 || int64(n) > math.MaxInt64-m.work {
		m.failWork()
		return true
	}
	m.work += int64(n)
	return m.work >= m.check
}

// failWork ends the run because its work cannot be counted: a wrapped counter would
// never reach a limit.
func (m *meter) failWork() {
	m.work = math.MaxInt64
	if m.err == nil {
		m.err = &LimitError{Name: "work", Allowed: allowed(m.limits.Work)}
	}
}

// allowed returns a limit, or for an absent one the largest amount that can be counted.
func allowed(limit int64) int64 {
	if limit > 0 {
		return limit
	}
	return math.MaxInt64
}

// tick is spend for callers that cannot return an error: it returns false when a
// limit is exceeded, and the next spend returns the error.
func (m *meter) tick(n int) bool {
	if !m.addWork(n) {
		return true
	}
	if m.err == nil {
		m.err = m.checkLimits()
	}
	if m.err != nil {
		m.check = 0 // so that spend checks at once
	}
	return m.err == nil
}

// checkLimits makes the checks that are too expensive to make every time.
func (m *meter) checkLimits() error {
	if m.err != nil {
		return m.err
	}
	m.check = m.work + checkEvery
	if m.work > largeWork && m.large != nil {
		m.notifyLarge()
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

// reserve reserves memory.
func (m *meter) reserve(bytes int64) error {
	m.memory += bytes
	if m.memory > m.peak {
		m.peak = m.memory
		if m.peak > Large && m.large != nil {
			m.notifyLarge()
		}
		if m.limits.Memory > 0 && m.memory > m.limits.Memory {
			return &LimitError{Name: "memory", Allowed: m.limits.Memory}
		}
	}
	return nil
}

// notifyLarge calls the OnLarge function once.
func (m *meter) notifyLarge() {
	m.large()
	m.large = nil
}

// release releases reserved memory.
func (m *meter) release(bytes int64) { m.memory -= bytes }

// addLive counts stored traversers.
func (m *meter) addLive(n int) error {
	m.live += int64(n)
	if m.limits.Live > 0 && m.live > m.limits.Live {
		return &LimitError{Name: "live traversers", Allowed: m.limits.Live}
	}
	return nil
}

// removeLive counts traversers that are no longer stored.
func (m *meter) removeLive(n int) { m.live -= int64(n) }

// checkSize checks that a single object of a size is within the memory limit.
func (m *meter) checkSize(bytes int64) error { return m.checkItems(bytes, 1) }

// checkItems checks that a single object of n items of a size is within the memory limit.
func (m *meter) checkItems(n, each int64) error {
	limit := allowed(m.limits.Memory)
	if n < 0 || n > (math.MaxInt64-max(0, m.memory))/each {
		return &LimitError{Name: "memory", Allowed: limit}
	}
	total := m.memory + n*each
	if total > Large && m.large != nil {
		m.notifyLarge()
	}
	if total > limit {
		return &LimitError{Name: "memory", Allowed: limit}
	}
	return nil
}
