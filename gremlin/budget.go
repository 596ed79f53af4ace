package gremlin

import (
	"errors"
	"fmt"
	"time"

	"vigil/gremlin/internal/exec"
	"vigil/gremlin/syntax"
)

// A Budget limits the cost of a query, from parsing its text to storing its
// results. A zero field means the value of [DefaultBudget], a negative one no
// limit.
type Budget struct {
	Length   int // bytes of text
	Steps    int // steps, nested ones included
	Depth    int // nesting of traversals
	Literals int // values in the text
	Regex    int // bytes of a regular expression

	Repeat     int64         // iterations of a repeat()
	Traversers int64         // work: traversers processed and edges visited
	Live       int64         // traversers stored at the same time
	Memory     int64         // estimated bytes of memory
	PathLength int64         // objects of a path
	Results    int64         // results
	Time       time.Duration // from the start of the run
}

// DefaultBudget is the budget of an interactive query.
var DefaultBudget = Budget{
	Length: 16 << 10, Steps: 200, Depth: 16, Literals: 1000, Regex: 512,
	Repeat: 32, Traversers: 1_000_000, Live: 100_000, Memory: 64 << 20, PathLength: 64, Results: 10_000, Time: 10 * time.Second,
}

// RuleBudget is the budget of a rule that runs unattended.
var RuleBudget = Budget{
	Length: 64 << 10, Steps: 400, Depth: 32, Literals: 10_000, Regex: 512,
	Repeat: 64, Traversers: 10_000_000, Live: 1_000_000, Memory: 256 << 20, PathLength: 64, Results: 100_000, Time: 60 * time.Second,
}

// Unlimited is a Budget that limits nothing.
var Unlimited = Budget{
	Length: -1, Steps: -1, Depth: -1, Literals: -1, Regex: -1,
	Repeat: -1, Traversers: -1, Live: -1, Memory: -1, PathLength: -1, Results: -1, Time: -1,
}

// The names of the limits in a [BudgetError].
const (
	LimitLength     = syntax.LimitLength
	LimitSteps      = syntax.LimitSteps
	LimitDepth      = syntax.LimitDepth
	LimitLiterals   = syntax.LimitLiterals
	LimitRegex      = syntax.LimitRegex
	LimitRepeat     = "max-repeat"
	LimitTraversers = "max-traversers"
	LimitLive       = "max-live-traversers"
	LimitMemory     = "max-memory"
	LimitPath       = "max-path-length"
	LimitResults    = "max-results"
	LimitTime       = "timeout"
	LimitText       = "max-string-length" // of a computed string; not in a Budget
	LimitParts      = "max-value-parts"   // of a nested value; not in a Budget
)

// A BudgetError is the error of a query that exceeds a limit.
type BudgetError struct {
	Limit   string // one of the Limit names
	Allowed int64  // value of the limit; nanoseconds for LimitTime
	err     error
}

// Error returns a message with the name and value of the limit.
func (e *BudgetError) Error() string {
	switch e.Limit {
	case LimitTime:
		return fmt.Sprintf("the query exceeds its budget: it ran longer than %s %v", e.Limit, time.Duration(e.Allowed))
	case LimitMemory:
		return fmt.Sprintf("the query exceeds its budget: it needs more than %s %d bytes", e.Limit, e.Allowed)
	}
	if e.err != nil {
		return "the query exceeds its budget: " + e.err.Error()
	}
	return fmt.Sprintf("the query exceeds its budget: %s is %d", e.Limit, e.Allowed)
}

// Unwrap returns the error that stopped the query: that of the parser or of the deadline.
func (e *BudgetError) Unwrap() error { return e.err }

// orDefaults replaces zero fields by defaults.
func (b Budget) orDefaults() Budget {
	d := DefaultBudget
	for _, f := range []struct{ have, want *int }{
		{&b.Length, &d.Length}, {&b.Steps, &d.Steps}, {&b.Depth, &d.Depth}, {&b.Literals, &d.Literals}, {&b.Regex, &d.Regex},
	} {
		if *f.have == 0 {
			*f.have = *f.want
		}
	}
	for _, f := range []struct{ have, want *int64 }{
		{&b.Repeat, &d.Repeat}, {&b.Traversers, &d.Traversers}, {&b.Live, &d.Live}, {&b.Memory, &d.Memory},
		{&b.PathLength, &d.PathLength}, {&b.Results, &d.Results},
	} {
		if *f.have == 0 {
			*f.have = *f.want
		}
	}
	if b.Time == 0 {
		b.Time = d.Time
	}
	return b
}

// syntax returns the limits of the text.
func (b Budget) syntax() syntax.Limits {
	limit := func(n int) int {
		if n < 0 { // no limit
			return 1 << 30
		}
		return n
	}
	return syntax.Limits{
		Length: limit(b.Length), Steps: limit(b.Steps), Depth: limit(b.Depth),
		Literals: limit(b.Literals), Regex: limit(b.Regex),
	}
}

// exec returns the limits of the run.
func (b Budget) exec() exec.Limits {
	return exec.Limits{
		Work: b.Traversers, Live: b.Live, Memory: b.Memory, Results: b.Results, Repeat: b.Repeat, Path: b.PathLength,
		Regex: int64(b.Regex), Time: b.Time,
	}
}

// limitNames maps the limit names of the executor to those of this package.
var limitNames = map[string]string{
	"work": LimitTraversers, "live traversers": LimitLive, "memory": LimitMemory, "results": LimitResults, "repeat": LimitRepeat,
	"path length": LimitPath, "regex": LimitRegex, "time": LimitTime, "text": LimitText, "parts": LimitParts,
}

// budgetError converts limit errors of the parser and the executor to a
// BudgetError. It returns other errors unchanged.
func budgetError(err error) error {
	var le *exec.LimitError
	if errors.As(err, &le) {
		if le.Allowed == 0 && le.Cause != nil { // the caller's context has ended, not the time of the budget
			return fmt.Errorf("run query: %w", le.Cause)
		}
		return &BudgetError{Limit: limitNames[le.Name], Allowed: le.Allowed, err: le.Cause}
	}
	var se *syntax.Error
	if errors.As(err, &se) && se.Kind == syntax.Exceeded {
		return &BudgetError{Limit: se.Limit, Allowed: int64(se.Allowed), err: se}
	}
	return err
}
