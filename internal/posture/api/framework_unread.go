package api

import (
	"context"

	"vigil/internal/posture"
)

// maxUnread is how many scopes that were not listed a control names.
const maxUnread = 20

// addNotListed tells of every control which of the resources that its rules are about
// could not be listed. Where nothing is known of a type in a region, no resource can be
// counted as unknown, and a count of 0 would read like an account without any.
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
		if sees, err := a.Judge.Evaluator.See(r.Query); err == nil { // one that cannot be run is unknown for all
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

// addNotListed counts the scopes of one account, each once for the control.
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
