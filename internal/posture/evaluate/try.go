package evaluate

import (
	"context"
	"slices"

	"vigil/gremlin"
	"vigil/internal/posture"
)

// An Answer is the verdict of a rule on an account, without findings.
type Answer struct {
	Violating []posture.EntityID // by id
	Unknown   []posture.EntityID // by id
	Passing   int
	// NotApplicable is the number of resources of its types that the rule is not
	// applicable to; Outside reports whether a resource is one of them.
	NotApplicable int
	Outside       func(posture.EntityID) bool
	Work          int64 // traversers handled and edges touched
}

// Try evaluates rules on an account without writing findings, independent of their
// status and provider, to show their results and costs. It fails with the error of the
// first rule that cannot be run.
func (e *Evaluator) Try(ctx context.Context, a Account, rules ...posture.Rule) ([]Answer, error) {
	onlySomeRegions := len(a.Regions) > 0
	j := &judging{Evaluator: e, Account: a, at: e.now(), trust: newTrust(a.Coverage, onlySomeRegions)}
	answers := make([]Answer, len(rules))
	for i, r := range rules {
		v, err := j.verdict(ctx, r.Query)
		if err != nil {
			return nil, &RuleError{r.ID, err}
		}
		result := j.settle(v)
		answers[i] = Answer{
			Violating: j.ids(result.violating), Unknown: j.ids(result.unknown), Passing: result.passing, NotApplicable: result.notApplicable, Work: v.work,
			Outside: func(id posture.EntityID) bool {
				h, ok := j.vertex(id)
				return ok && result.outside(h)
			},
		}
	}
	return answers, nil
}

// ReadSet lists what a query reads.
type ReadSet struct {
	Types         []posture.EntityType // whose entities can affect its result
	Subjects      []posture.EntityType // of the entities that it returns
	Properties    []string             // that the query names
	AllProperties bool                 // it may read properties of any name
	Edges         []string             // labels that the query names
	AllEdges      bool                 // it may follow edges of any label
	Tags          bool                 // it may read tags
	Clock         bool                 // its result depends on the time
	Undeclared    []string             // names in the query that the schema does not have there
}

// ReadSet returns what a query reads. It fails if the text is wrong.
func (e *Evaluator) ReadSet(q posture.RuleQuery) (ReadSet, error) {
	parsed, err := e.query(q)
	if err != nil {
		return ReadSet{}, err
	}
	return ReadSet{
		Types: slices.Sorted(slices.Values(parsed.reads.Types)), Subjects: slices.Sorted(slices.Values(parsed.reads.Subjects)),
		Properties: slices.Sorted(slices.Values(parsed.touches.Keys)), AllProperties: parsed.touches.AllKeys,
		Edges: slices.Sorted(slices.Values(parsed.touches.Edges)), AllEdges: parsed.touches.AllEdges,
		Tags:  parsed.readsTags(),
		Clock: parsed.reads.Clock, Undeclared: parsed.reads.Undeclared,
	}, nil
}

// Explain returns what a query reads and, of a Gremlin query, how it is run. It fails if
// the text is wrong.
func (e *Evaluator) Explain(q posture.RuleQuery) (ReadSet, *gremlin.Explanation, error) {
	reads, err := e.ReadSet(q)
	if err != nil {
		return reads, nil, err
	}
	parsed, err := e.query(q)
	if err != nil || parsed.plan == nil {
		return reads, nil, err
	}
	return reads, parsed.plan.Explain(), nil
}
