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

// A Trial is the result of a rule on an account, with its costs and plan.
type Trial struct {
	evaluate.Answer
	Entities   map[posture.EntityID]posture.Entity // at most Shown of the violating and Shown of the unknown ones
	Generation int64                               // of the account
	Took       time.Duration
	Reads      ReadSet
	Explain    *gremlin.Explanation // nil for a search
}

// ReadSet is evaluate.ReadSet, for package api, which does not import evaluate.
type ReadSet = evaluate.ReadSet

// trialTime limits a trial, because a user waits for it.
const trialTime = 10 * time.Second

// Shown is how many entities of each verdict a trial lists.
const Shown = 100

// Try evaluates a query as a rule on an account, without findings. It fails with
// fault.NotFound if the account does not exist, and with fault.Invalid if the query
// cannot be a rule.
func (j *Judge) Try(ctx context.Context, org posture.OrgID, id posture.AccountID, q posture.RuleQuery) (Trial, error) {
	s, err := j.loadAccount(ctx, org, id)
	if err != nil {
		return Trial{}, err
	}
	if s.removed {
		return Trial{}, fault.New(fault.NotFound, "cloud account %q was not found", id)
	}
	var t Trial
	if t.Reads, t.Explain, err = j.Evaluator.Explain(q); err != nil {
		return t, queryError(err)
	}
	start := j.Now()
	limited, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	answers, err := j.Evaluator.Try(limited, s.Account, posture.Rule{Provider: s.Provider, Query: q})
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		return t, queryError(err)
	}
	t.Answer, t.Generation, t.Took = answers[0], s.Generation, j.Now().Sub(start)
	ids := slices.Concat(first(t.Violating), first(t.Unknown))
	t.Entities, err = j.Store.EntitiesOf(ctx, org, id, ids)
	return t, err
}

func first(ids []posture.EntityID) []posture.EntityID { return ids[:min(len(ids), Shown)] }

// queryError turns the error of a query into fault.Invalid.
func queryError(err error) error {
	if e, ok := errors.AsType[*evaluate.RuleError](err); ok {
		err = e.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Field("query", "takes longer than %v", trialTime)
	}
	return fault.Fields(queryfault.Detail("query", err.Error(), err))
}
