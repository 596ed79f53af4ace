package judge

import (
	"context"
	"slices"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// Verdict is the verdict of a rule on an entity.
type Verdict string

// The verdicts.
const (
	Violation Verdict = "Violation"
	Pass      Verdict = "Pass"
	Unknown   Verdict = "Unknown"
	// NotApplicable means that the rule is not applicable to the resource.
	NotApplicable Verdict = "NotApplicable"
)

// An EntityVerdict is a rule with its verdict on an entity.
type EntityVerdict struct {
	Rule    posture.RuleID
	Verdict Verdict
}

// Entity returns the verdicts on e of the enabled rules about entities of its type. It
// evaluates them on the account as it is now. The verdict of a rule that cannot be run is
// unknown. A rule whose query is invalid is left out: the types that it is about are not
// known.
func (j *Judge) Entity(ctx context.Context, org posture.OrgID, e posture.Entity) ([]EntityVerdict, error) {
	rules, _, err := j.Book.RulesAt(ctx, org)
	if err != nil {
		return nil, err
	}
	s, err := j.loadAccount(ctx, org, e.Account)
	if err != nil {
		return nil, err
	}
	if s.removed {
		return nil, fault.New(fault.NotFound, "cloud account %q was not found", e.Account)
	}
	limited, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	all := []EntityVerdict{}
	for _, r := range rules {
		if r.Provider != e.Provider || r.Status != posture.RuleEnabled {
			continue
		}
		readSet, err := j.Evaluator.ReadSet(r.Query)
		if err != nil || !slices.Contains(readSet.Subjects, e.Type) {
			continue
		}
		verdict := Pass
		answers, err := j.Evaluator.Try(limited, s.Account, r)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil || slices.Contains(answers[0].Unknown, e.ID):
			verdict = Unknown
		case slices.Contains(answers[0].Violating, e.ID):
			verdict = Violation
		case answers[0].Outside(e.ID):
			verdict = NotApplicable
		}
		all = append(all, EntityVerdict{r.ID, verdict})
	}
	return all, nil
}
