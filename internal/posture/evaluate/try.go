package evaluate

import (
	"context"

	"vigil/internal/posture"
)

// An Answer is what a rule says of an account, without findings.
type Answer struct {
	Violating []posture.EntityID // by id
	Unknown   []posture.EntityID // by id
	Passing   int
	Work      int64 // traversers handled and edges touched
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
		violating, unknown := j.sort(v, j.trust.of(v.reads))
		answers[i] = Answer{j.ids(violating), j.ids(unknown), max(0, j.count(v.subjects)-len(violating)-len(unknown)), v.work}
	}
	return answers, nil
}
