package evaluate

import (
	"context"
	"slices"

	"vigil/gremlin"
	"vigil/internal/posture"
)

// An Answer is what a rule says of an account, without findings.
type Answer struct {
	Violating []posture.EntityID // by id
	Unknown   []posture.EntityID // by id
	Passing   int
	// NotApplicable is how many resources of the types that it finds the rule is not
	// about, and Outside tells of one.
	NotApplicable int
	Outside       func(posture.EntityID) bool
	Work          int64 // traversers handled and edges touched
}

// Try holds rules against an account without writing findings, whatever their
// status and provider: to see what they would do, and what they cost. It fails
// with the first that cannot be run.
func (e *Evaluator) Try(ctx context.Context, a Account, rules ...posture.Rule) ([]Answer, error) {
	j := &judging{Evaluator: e, Account: a, at: e.now(), trust: newTrust(a.Coverage)}
	answers := make([]Answer, len(rules))
	for i, r := range rules {
		v, err := j.verdict(ctx, r)
		if err != nil {
			return nil, &RuleError{r.ID, err}
		}
		said := j.settle(v)
		answers[i] = Answer{
			Violating: j.ids(said.violating), Unknown: j.ids(said.unknown), Passing: said.passing, NotApplicable: said.notApplicable, Work: v.work,
			Outside: func(id posture.EntityID) bool {
				h, ok := j.vertex(id)
				return ok && said.outside(h)
			},
		}
	}
	return answers, nil
}

// Sees is what a query looks at. Where it does not say of which type, property or
// edge, it is all of them.
type Sees struct {
	Types      []posture.EntityType // whose entities can make a difference
	Subjects   []posture.EntityType // of what it finds
	Properties []string
	Edges      []string
	Clock      bool     // its answer depends on the time
	Undeclared []string // names that the schema does not have where the query asks for them
}

// See says what a query looks at. It fails when the text is wrong.
func (e *Evaluator) See(q posture.RuleQuery) (Sees, error) {
	known, err := e.query(q)
	if err != nil {
		return Sees{}, err
	}
	return Sees{
		Types: slices.Sorted(slices.Values(known.reads.Types)), Subjects: slices.Sorted(slices.Values(known.reads.Subjects)),
		Properties: slices.Sorted(slices.Values(known.touches.Keys)), Edges: slices.Sorted(slices.Values(known.touches.Edges)),
		Clock: known.reads.Clock, Undeclared: known.reads.Undeclared,
	}, nil
}

// Explain says what a query looks at, and how it is run if it is Gremlin. It
// fails when the text is wrong.
func (e *Evaluator) Explain(q posture.RuleQuery) (Sees, *gremlin.Explanation, error) {
	sees, err := e.See(q)
	if err != nil {
		return sees, nil, err
	}
	known, err := e.query(q)
	if err != nil || known.plan == nil {
		return sees, nil, err
	}
	return sees, known.plan.Explain(), nil
}
