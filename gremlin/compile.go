package gremlin

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/syntax"
)

// CompileOptions configure [Compile].
type CompileOptions struct {
	// Budget limits the text. Compile ignores the limits that apply to a run.
	Budget Budget
}

// A Plan is a compiled query. It does not depend on a graph and is safe for concurrent use.
type Plan struct {
	text  string
	query *syntax.Query
	root  *plan.Root // nil if it depends on RunOptions

	keysOnce sync.Once
	keys     verdictKeys // cache of keysOf(root)
}

// Compile compiles a query. It fails with a [*syntax.Error] with line and
// column, with a [*PlanError] for a query that is syntactically correct but
// invalid, or with a [*BudgetError].
func Compile(text string, opts CompileOptions) (*Plan, error) {
	b := opts.Budget.orDefaults()
	q, err := syntax.Parse(text, syntax.Options{Limits: b.syntax()})
	if err != nil {
		return nil, budgetError(err)
	}
	p := &Plan{text: text, query: q}
	if len(runtimeParts(q)) > 0 {
		return p, nil
	}
	if p.root, err = prepare(q, plan.Binding{}, b.Regex); err != nil {
		return nil, err
	}
	return p, nil
}

// A PlanError is the error of a query that is syntactically correct but invalid.
type PlanError = plan.Error

// prepare builds and optimises the plan of a query. maxRegex limits the bytes of regular
// expressions that are values of variables; a negative one means no limit.
func prepare(q *syntax.Query, bind plan.Binding, maxRegex int) (*plan.Root, error) {
	if maxRegex >= 0 && longestRegex(q, bind.Vars) > maxRegex {
		return nil, &BudgetError{Limit: LimitRegex, Allowed: int64(maxRegex)}
	}
	root, err := plan.Build(q, bind)
	if err != nil {
		return nil, err
	}
	plan.Optimise(root)
	return root, nil
}

// longestRegex returns the length of the longest regular expression that is the value of a
// variable. The parser checks those in the text of the query.
func longestRegex(q *syntax.Query, vars map[string]graph.Value) int {
	longest := 0
	syntax.Walk(q, func(a syntax.Arg) {
		p, ok := a.(*syntax.Predicate)
		if !ok || p.Name != "regex" && p.Name != "notRegex" {
			return
		}
		if variable, ok := p.Args[0].(*syntax.Variable); ok && vars[variable.Name].Kind() == graph.KindString {
			longest = max(longest, len(vars[variable.Name].Str()))
		}
	})
	return longest
}

// runtimeParts names what makes the plan of a query depend on the run: variables, and calls
// of datetime() and UUID().
func runtimeParts(q *syntax.Query) []string {
	var parts []string
	add := func(part string) {
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	syntax.Walk(q, func(a syntax.Arg) {
		switch a := a.(type) {
		case *syntax.Variable:
			add("variables")
		case *syntax.RuntimeValue:
			add("calls of " + a.Name + "()")
		}
	})
	return parts
}

// String returns the text of the query.
func (p *Plan) String() string { return p.text }

// bound returns the plan for a run, with variables replaced by their values.
func (p *Plan) bound(opts RunOptions) (*plan.Root, error) {
	if p.root != nil {
		return p.root, nil
	}
	now := opts.Now
	if now.IsZero() {
		now = time.Now()
	}
	return prepare(p.query, plan.Binding{Vars: opts.Params, Now: now, UUID: newUUID}, opts.Budget.orDefaults().Regex)
}

// Bind returns the plan with its variables, datetime() and UUID() replaced by values. A run
// of the returned plan ignores the variables and the time in its RunOptions, and does not
// have to prepare the plan again. The limit of [DefaultBudget] applies to regular expressions
// in params.
func (p *Plan) Bind(params map[string]graph.Value, now time.Time) (*Plan, error) {
	if p.root != nil {
		return p, nil
	}
	root, err := prepare(p.query, plan.Binding{Vars: params, Now: now, UUID: newUUID}, DefaultBudget.Regex)
	if err != nil {
		return nil, err
	}
	return &Plan{text: p.text, query: p.query, root: root}, nil
}

// newUUID returns the value of UUID().
func newUUID() (u [16]byte) {
	_, _ = rand.Read(u[:]) // never fails

	u[6] = u[6]&0x0f | 0x40 // version 4
	u[8] = u[8]&0x3f | 0x80 // variant of RFC 9562
	return u
}

// usesTime reports whether a query uses the current time.
func usesTime(q *syntax.Query) bool {
	found := false
	syntax.Walk(q, func(a syntax.Arg) {
		if f, ok := a.(*syntax.RuntimeValue); ok && f.Name == "datetime" {
			found = true
		}
	})
	return found
}
