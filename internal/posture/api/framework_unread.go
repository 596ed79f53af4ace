package api

import (
	"context"
	"slices"

	"vigil/internal/posture"
)

// maxUnread limits how many unlisted scopes the answer has for one control.
const maxUnread = 20

// addNotListed adds to every control the scopes of its rules that could not be listed in
// the given accounts, or in any account if none are given. If a type was not listed in a
// region, no resource can be counted as unknown, and a count of 0 would look like an account
// without such resources.
func (a *API) addNotListed(ctx context.Context, controls []controlPosture, only []string) error {
	org := a.Org(ctx)
	rules, err := a.Book.Rules(ctx, org)
	if err != nil {
		return err
	}
	typesOf := a.subjectsOf(rules)
	accounts, _, err := a.Store.Accounts(ctx, org, posture.AccountFilter{IDs: only}, posture.Page{})
	if err != nil {
		return err
	}
	for _, account := range accounts {
		missing, err := a.unreadScopes(ctx, account.ID)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			continue
		}
		unreadByType := map[posture.EntityType][]unread{}
		for _, u := range missing {
			t := posture.EntityType(u.EntityType)
			unreadByType[t] = append(unreadByType[t], u)
		}
		for i := range controls {
			controls[i].addNotListed(string(account.ID), typesOf, unreadByType)
		}
	}
	return nil
}

// subjectsOf returns, for each enabled rule, the types of the entities that its query returns.
func (a *API) subjectsOf(rules []posture.Rule) map[string][]posture.EntityType {
	all := map[string][]posture.EntityType{}
	for _, r := range rules {
		if r.Status != posture.RuleEnabled {
			continue
		}
		if readSet, err := a.Judge.Evaluator.ReadSet(r.Query); err == nil { // a rule that does not compile is unknown for all resources anyway
			all[string(r.ID)] = readSet.Subjects
		}
	}
	return all
}

// countNotListed adds to the verdicts of each rule the number of its scopes that could not be
// listed in the given accounts, or in any account if none are given.
func (a *API) countNotListed(ctx context.Context, rules []posture.Rule, only []string, verdicts map[posture.RuleID]posture.ControlPosture) error {
	accounts, _, err := a.Store.Accounts(ctx, a.Org(ctx), posture.AccountFilter{IDs: only}, posture.Page{})
	if err != nil {
		return err
	}
	typesOf := a.subjectsOf(rules)
	for _, account := range accounts {
		missing, err := a.unreadScopes(ctx, account.ID)
		if err != nil {
			return err
		}
		for _, u := range missing {
			for rule, types := range typesOf {
				if slices.Contains(types, posture.EntityType(u.EntityType)) {
					verdicts[posture.RuleID(rule)] = verdicts[posture.RuleID(rule)].Add(posture.ControlPosture{NotListed: 1})
				}
			}
		}
	}
	return nil
}

// addNotListed adds the scopes of one account, each once per control.
func (p *controlPosture) addNotListed(account string, typesOf map[string][]posture.EntityType, unreadByType map[posture.EntityType][]unread) {
	seen := map[posture.EntityType]bool{}
	for _, rule := range p.RuleIDs {
		for _, t := range typesOf[rule] {
			n := len(unreadByType[t])
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
			p.Unread = append(p.Unread, unreadByType[t][:min(n, maxUnread-len(p.Unread))]...)
		}
	}
}
