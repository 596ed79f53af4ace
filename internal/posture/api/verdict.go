package api

import (
	"context"
	"slices"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/judge"
)

type (
	verdictQuery struct {
		Filters struct {
			RuleIDs         []string `json:"ruleIds"`
			CloudAccountIDs []string `json:"cloudAccountIds"`
		} `json:"filters" null:"absent"`
		IncludeUnread bool `json:"includeUnread"`
		Warnings      httpapi.Warnings
	}
	verdictCount struct {
		RuleID         string `json:"ruleId"`
		CloudAccountID string `json:"cloudAccountId"`
		Violating      int    `json:"violating"`
		Passing        int    `json:"passing"`
		Unknown        int    `json:"unknown"`
		NotApplicable  int    `json:"notApplicable"`
	}
	// unread is a scope of an account that could not be read at the last attempt.
	unread struct {
		CloudAccountID string        `json:"cloudAccountId"`
		EntityType     string        `json:"entityType"`
		Region         string        `json:"region"`
		Why            string        `json:"why"`
		LastRead       *httpapi.Time `json:"lastReadTime,omitempty"`
	}
	verdictPage struct {
		TotalCount int            `json:"totalCount"`
		Results    []verdictCount `json:"results"`
		Unread     []unread       `json:"unread,omitempty"`
		Warnings   []string       `json:"warnings,omitempty"`
	}
	entityVerdict struct {
		RuleID    string `json:"ruleId"`
		RuleName  string `json:"ruleName"`
		Level     string `json:"level"`
		Verdict   string `json:"verdict"`
		FindingID string `json:"findingId,omitempty"`
	}
	entityVerdicts struct {
		Results []entityVerdict `json:"results"`
		Unread  []unread        `json:"unread"`
	}
)

func (a *API) queryVerdicts(ctx context.Context, in verdictQuery) (verdictPage, error) {
	rules, accounts := idsOf[posture.RuleID](in.Filters.RuleIDs), idsOf[posture.AccountID](in.Filters.CloudAccountIDs)
	found, err := a.Findings.Verdicts(ctx, a.Org(ctx), rules, accounts)
	if err != nil {
		return verdictPage{}, err
	}
	out := verdictPage{TotalCount: len(found), Warnings: in.Warnings, Results: httpapi.Each(found, func(v posture.RuleVerdict) verdictCount {
		return verdictCount{string(v.Rule), string(v.Account), v.Violating, v.Passing, v.Unknown, v.NotApplicable}
	})}
	if !in.IncludeUnread {
		return out, nil
	}
	seen := map[posture.AccountID]bool{}
	for _, v := range found {
		if seen[v.Account] {
			continue
		}
		seen[v.Account] = true
		more, err := a.unreadScopes(ctx, v.Account)
		if err != nil {
			return out, err
		}
		out.Unread = append(out.Unread, more...)
	}
	return out, nil
}

func idsOf[T ~string](values []string) []T {
	return httpapi.Each(values, func(v string) T { return T(v) })
}

// unreadScopes returns the scopes of an account that could not be read at the last attempt.
func (a *API) unreadScopes(ctx context.Context, account posture.AccountID) ([]unread, error) {
	coverage, err := a.Entities.Coverage(ctx, a.Org(ctx), account)
	all := []unread{}
	for _, c := range coverage {
		if !c.Current() {
			all = append(all, unread{string(account), string(c.Type), c.Region, c.Why, optionalTime(c.Succeeded)})
		}
	}
	return all, err
}

// unreadOf returns the unread scopes of an account that are of some types.
func (a *API) unreadOf(ctx context.Context, account posture.AccountID, types []posture.EntityType) ([]unread, error) {
	all, err := a.unreadScopes(ctx, account)
	return slices.DeleteFunc(all, func(u unread) bool { return !slices.Contains(types, posture.EntityType(u.EntityType)) }), err
}

// getEntityVerdicts returns the result of every rule that applies to an entity.
func (a *API) getEntityVerdicts(ctx context.Context, in entityPath) (entityVerdicts, error) {
	org := a.Org(ctx)
	e, err := a.Entities.Entity(ctx, org, posture.EntityID(in.ID))
	if err != nil {
		return entityVerdicts{}, err
	}
	leave, err := a.Walker.Admit(ctx, org, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return entityVerdicts{}, err
	}
	defer leave()
	found, err := a.Judge.Entity(ctx, org, e)
	if err != nil {
		return entityVerdicts{}, err
	}
	rules, err := a.Book.Rules(ctx, org)
	if err != nil {
		return entityVerdicts{}, err
	}
	rulesByID := map[posture.RuleID]posture.Rule{}
	for _, r := range rules {
		rulesByID[r.ID] = r
	}
	out := entityVerdicts{Results: httpapi.Each(found, func(v judge.EntityVerdict) entityVerdict {
		w := entityVerdict{RuleID: string(v.Rule), RuleName: rulesByID[v.Rule].Name, Level: string(rulesByID[v.Rule].Level.FindingLevel()), Verdict: string(v.Verdict)}
		if v.Verdict == judge.Violation {
			w.FindingID = string(posture.NewFindingID(org, v.Rule, e.ID))
		}
		return w
	})}
	out.Unread, err = a.unreadScopes(ctx, e.Account)
	return out, err
}
