package api

import (
	"context"

	"vigil/internal/posture"
)

// maxUnread limits the unlisted scopes that a control names.
const maxUnread = 20

// addNotListed adds to every control the scopes of its rules that could not be listed.
// If a type was not listed in a region, no resource can be counted as unknown, and a
// count of 0 would look like an account without such resources.
func (a *API) addNotListed(ctx context.Context, controls []controlPosture, only []string) error {
	org := a.Org(ctx)
	rules, err := a.Book.Rules(ctx, org)
	if err != nil {
		return err
	}
	about := map[string][]posture.EntityType{}
	for _, r := range rules {
		if r.Status != posture.RuleEnabled {
			continue
		}
		if sees, err := a.Judge.Evaluator.See(r.Query); err == nil { // a rule with an invalid query is unknown for all resources
			about[string(r.ID)] = sees.Subjects
		}
	}
	accounts, _, err := a.Store.Accounts(ctx, org, posture.AccountFilter{IDs: only}, posture.Page{})
	if err != nil {
		return err
	}
	for _, account := range accounts {
		missing, err := a.unreadOf(ctx, account.ID, nil)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			continue
		}
		by := map[posture.EntityType][]unread{}
		for _, u := range missing {
			t := posture.EntityType(u.EntityType)
			by[t] = append(by[t], u)
		}
		for i := range controls {
			controls[i].addNotListed(string(account.ID), about, by)
		}
	}
	return nil
}

// addNotListed adds the scopes of one account, each once per control.
func (p *controlPosture) addNotListed(account string, about map[string][]posture.EntityType, by map[posture.EntityType][]unread) {
	seen := map[posture.EntityType]bool{}
	for _, rule := range p.RuleIDs {
		for _, t := range about[rule] {
			n := len(by[t])
			if n == 0 {
				continue
			}
			sumOf(p.Rules, rule).NotListed += n
			if seen[t] {
				continue
			}
			seen[t] = true
			p.NotListed += n
			sumOf(p.Accounts, account).NotListed += n
			p.Unread = append(p.Unread, by[t][:min(n, maxUnread-len(p.Unread))]...)
		}
	}
}
