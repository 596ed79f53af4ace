package judge

import (
	"context"
	"errors"
	"slices"
	"time"

	"vigil/gremlin"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/queryfault"
)

// A Trial is what a rule would say of an account, and how it gets there.
type Trial struct {
	evaluate.Answer
	Entities   map[posture.EntityID]posture.Entity // the first of those that are told
	Generation int64                               // of the account
	Took       time.Duration
	Reads      evaluate.Sees
	Explain    *gremlin.Explanation // nil for a search
}

// Sees is what a query looks at.
type Sees = evaluate.Sees

// trialTime is how long a trial may take: somebody waits for it.
const trialTime = 10 * time.Second

// Shown is how many entities of each kind a trial tells of.
const Shown = 100

// Try holds a query against an account as a rule, without a finding. It fails
// with fault.NotFound without the account and with fault.Invalid for a query that
// is no rule.
func (j *Judge) Try(ctx context.Context, org posture.OrgID, id posture.AccountID, q posture.RuleQuery) (Trial, error) {
	s, err := j.loadAccount(ctx, org, id)
	if err != nil {
		return Trial{}, err
	}
	if s.gone {
		return Trial{}, fault.New(fault.NotFound, "cloud account %q was not found", id)
	}
	var t Trial
	if t.Reads, t.Explain, err = j.Evaluator.Explain(q); err != nil {
		return t, refused(err)
	}
	began := j.Now()
	limited, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	answers, err := j.Evaluator.Try(limited, s.Account, posture.Rule{Provider: s.Provider, Query: q})
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		return t, refused(err)
	}
	t.Answer, t.Generation, t.Took = answers[0], s.Generation, j.Now().Sub(began)
	shown := slices.Concat(first(t.Violating), first(t.Unknown))
	t.Entities, err = j.Store.EntitiesOf(ctx, org, id, shown)
	return t, err
}

func first(ids []posture.EntityID) []posture.EntityID { return ids[:min(len(ids), Shown)] }

// refused turns what is wrong with a query into what the caller did wrong.
func refused(err error) error {
	if e, ok := errors.AsType[*evaluate.RuleError](err); ok {
		err = e.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Field("query", "takes longer than %v", trialTime)
	}
	return fault.Fields(queryfault.Detail("query", err.Error(), err))
}
