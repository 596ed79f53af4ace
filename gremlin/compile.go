package gremlin

import (
	"crypto/rand"
	"time"

	"vigil/gremlin/internal/plan"
	"vigil/gremlin/syntax"
)

// CompileOptions say how a text is read.
type CompileOptions struct {
	// Budget bounds the text. The fields about running do not matter here.
	Budget Budget
}

// A Plan is a query that was read and understood. It does not depend on a graph
// and is safe for concurrent use.
type Plan struct {
	text  string
	query *syntax.Query
	root  *plan.Root // nil if it depends on what a run is given
	plain *plan.Root // as written, for Explain
}

// Compile reads a query. An error is a [*syntax.Error] with line and column, a
// [*PlanError] for a query that reads well but means nothing, or a
// [*BudgetError].
func Compile(text string, opts CompileOptions) (*Plan, error) {
	b := opts.Budget.orDefaults()
	q, err := syntax.Parse(text, syntax.Options{Limits: b.syntax()})
	if err != nil {
		return nil, budgetError(err)
	}
	p := &Plan{text: text, query: q}
	if depends(q) {
		return p, nil
	}
	p.root, p.plain, err = prepare(q, plan.Binding{})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// A PlanError says what is wrong with a query that reads well but means nothing.
type PlanError = plan.Error

// prepare builds and optimises the plan of a query.
func prepare(q *syntax.Query, bind plan.Binding) (root, plain *plan.Root, err error) {
	if plain, err = plan.Build(q, bind); err != nil {
		return nil, nil, err
	}
	if root, err = plan.Build(q, bind); err != nil {
		return nil, nil, err
	}
	plan.Optimise(root)
	return root, plain, nil
}

// depends reports whether a query means something else each time it is run: it
// has variables, or asks for the time.
func depends(q *syntax.Query) bool {
	found := false
	syntax.Walk(q, func(a syntax.Arg) {
		switch a.(type) {
		case *syntax.Variable, *syntax.Fresh:
			found = true
		}
	})
	return found
}

// String returns the text of the query.
func (p *Plan) String() string { return p.text }

// bound returns the plan for a run.
func (p *Plan) bound(opts RunOptions) (*plan.Root, error) {
	if p.root != nil {
		return p.root, nil
	}
	now := opts.Now
	if now.IsZero() {
		now = time.Now()
	}
	root, _, err := prepare(p.query, plan.Binding{Vars: opts.Params, Now: now, UUID: newUUID})
	return root, err
}

// newUUID returns what UUID() stands for.
func newUUID() (u [16]byte) {
	_, _ = rand.Read(u[:]) // never fails
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return u
}

// asksTime reports whether a query asks for the time.
func asksTime(q *syntax.Query) bool {
	found := false
	syntax.Walk(q, func(a syntax.Arg) {
		if f, ok := a.(*syntax.Fresh); ok && f.Name == "datetime" {
			found = true
		}
	})
	return found
}
