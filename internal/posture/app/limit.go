package app

import (
	"context"
	"net/http"

	"vigil/internal/auth"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/limit"
)

// limited is a guard that also restricts the context of limited callers to their
// accounts. Tags are looked up for every request, so that a changed tag applies
// at once.
func (a *App) limited(guard httpapi.Guard) httpapi.Guard {
	return func(r *http.Request, need string) (context.Context, error) {
		ctx, err := guard(r, need)
		if err != nil {
			return nil, err
		}
		caller, ok := auth.CallerFrom(ctx)
		if !ok || !caller.Limited() {
			return ctx, nil
		}
		var allowed *limit.Limit
		for _, l := range []auth.AccountLimit{caller.UserAccounts, caller.TokenAccounts} {
			if l.IsZero() {
				continue
			}
			found, err := a.accountsOf(ctx, posture.OrgID(caller.Org), l)
			if err != nil {
				return nil, err
			}
			next := limit.New(found)
			if allowed != nil {
				next = next.And(*allowed)
			}
			allowed = &next
		}
		return limit.With(ctx, *allowed), nil
	}
}

// accountsOf returns the organisation's accounts that a limit allows: those with one of
// its ids, and those with one of its tags.
func (a *App) accountsOf(ctx context.Context, org posture.OrgID, l auth.AccountLimit) ([]posture.Account, error) {
	var filters []posture.AccountFilter
	if ids := l.IDList(); len(ids) > 0 {
		filters = append(filters, posture.AccountFilter{IDs: ids})
	}
	for name, values := range l.TagLists() {
		filters = append(filters, posture.AccountFilter{Tags: map[string][]string{name: values}})
	}
	var all []posture.Account
	for _, f := range filters {
		found, _, err := a.store.Accounts(ctx, org, f, posture.Page{})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
