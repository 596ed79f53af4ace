// Package judge evaluates the rules of organisations on their accounts and records
// the judgements.
//
// After a collection it evaluates all rules, after a change of single resources only
// those that the change can affect. Both lead to the same findings, also when several
// processes judge the same account: the store refuses a judgement that builds on one
// which is no longer the last, and all rules are evaluated again.
package judge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/graphcache"
)

// Store stores accounts, entities and findings.
type Store interface {
	Account(ctx context.Context, org posture.OrgID, id posture.AccountID) (posture.Account, error)
	Accounts(ctx context.Context, org posture.OrgID, f posture.AccountFilter, p posture.Page) ([]posture.Account, int, error)
	Coverage(ctx context.Context, org posture.OrgID, id posture.AccountID) ([]posture.Coverage, error)
	ChangesSince(ctx context.Context, org posture.OrgID, id posture.AccountID, generation int64) (posture.PartitionChanges, bool, error)
	EntitiesOf(ctx context.Context, org posture.OrgID, id posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error)
	Observe(ctx context.Context, org posture.OrgID, j posture.Judgement) (int64, error)
}

// Book returns the rules of organisations. Callers must not change them.
type Book interface {
	// RulesAt returns all rules and their generation, which changes when one of them does.
	RulesAt(ctx context.Context, org posture.OrgID) ([]posture.Rule, int64, error)
	Rule(ctx context.Context, org posture.OrgID, id posture.RuleID) (posture.Rule, error)
}

// Judge evaluates rules on accounts. It is safe for concurrent use.
type Judge struct {
	Store     Store
	Book      Book
	Graphs    *graphcache.Graphs
	Evaluator *evaluate.Evaluator
	Log       *slog.Logger
	Now       func() time.Time

	last judgementCache
}

// Account evaluates all rules on an account. It does nothing for an account that was
// removed.
func (j *Judge) Account(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	return untilCurrent(func() error { return j.judgeAccount(ctx, org, id, allRules) })
}

// Rule evaluates one rule on every account of its provider. The findings of a deleted
// rule have been resolved already.
func (j *Judge) Rule(ctx context.Context, org posture.OrgID, id posture.RuleID) error {
	rule, err := j.Book.Rule(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	accounts, _, err := j.Store.Accounts(ctx, org, posture.AccountFilter{Providers: []posture.Provider{rule.Provider}}, posture.Page{})
	if err != nil {
		return err
	}
	var failed []error
	for _, account := range accounts {
		failed = append(failed, untilCurrent(func() error { return j.judgeAccount(ctx, org, account.ID, id) }))
	}
	return errors.Join(failed...)
}

// Change evaluates the rules that the changes since the account's last judgement can
// affect, or all of them when that judgement is no longer kept. It does nothing for an
// account that was removed.
func (j *Judge) Change(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	err := j.judgeChange(ctx, org, id)
	if fault.Is(err, fault.Stale) {
		return j.Account(ctx, org, id)
	}
	return err
}

// untilCurrent repeats a judgement for as long as rules or resources change during it.
func untilCurrent(judge func() error) error {
	for {
		if err := judge(); !fault.Is(err, fault.Stale) {
			return err
		}
	}
}

// allRules in place of the id of a rule means every rule.
const allRules posture.RuleID = ""

// judgeAccount evaluates the rule with the id only, or all rules if only is allRules.
func (j *Judge) judgeAccount(ctx context.Context, org posture.OrgID, id posture.AccountID, only posture.RuleID) error {
	rules, rulesAt, err := j.Book.RulesAt(ctx, org)
	if err != nil {
		return err
	}
	if only != allRules {
		rules = onlyRule(rules, only)
	}
	s, err := j.loadAccount(ctx, org, id)
	if err != nil || s.removed {
		return err
	}
	judgement, failed, err := j.Evaluator.Judge(ctx, s.Account, rules)
	if err != nil {
		return err
	}
	judgement.RulesAt = rulesAt
	serial, err := j.record(ctx, org, judgement, failed)
	if err == nil && only == allRules {
		j.last.put(recorded{s, serial, judgement.At})
	}
	return err
}

// onlyRule returns the rule with an id, as a list.
func onlyRule(rules []posture.Rule, id posture.RuleID) []posture.Rule {
	i := slices.IndexFunc(rules, func(r posture.Rule) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return rules[i : i+1]
}

// judgeChange evaluates the rules that a change can affect. It fails with fault.Stale
// when all rules must be evaluated.
func (j *Judge) judgeChange(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	rules, rulesAt, err := j.Book.RulesAt(ctx, org)
	if err != nil {
		return err
	}
	s, err := j.loadAccount(ctx, org, id)
	if err != nil || s.removed {
		return err
	}
	before, ok := j.last.get(s)
	if !ok || !slices.Equal(before.Regions, s.Regions) {
		return errNotIncremental
	}
	if before.Generation == s.Generation && slices.EqualFunc(before.Coverage, s.Coverage, sameCoverage) && j.Now().Sub(before.judgedAt) < evaluate.Tick {
		return nil
	}
	changes, ok, err := j.Store.ChangesSince(ctx, org, id, before.Generation)
	if err != nil {
		return err
	}
	if !ok {
		return errNotIncremental
	}
	changed := changes.Gone
	for i := range changes.Changed {
		changed = append(changed, changes.Changed[i].ID)
	}
	judgement, failed, err := j.Evaluator.Reevaluate(ctx, s.Account, evaluate.Before{Graph: before.Graph, Coverage: before.Coverage, Verdicts: before.Verdicts, At: before.judgedAt}, changed, rules)
	if err != nil {
		return err
	}
	judgement.RulesAt, judgement.Since = rulesAt, before.serial
	serial, err := j.record(ctx, org, judgement, failed)
	if err == nil {
		j.last.put(recorded{s, serial, judgement.At})
	}
	return err
}

// errNotIncremental says that the account cannot be judged incrementally: its last judgement is
// not kept, was about other regions, or the change log does not reach back to it.
var errNotIncremental = fault.New(fault.Stale, "the account must be judged completely: the changes since its last judgement are not known")

// record logs the rules that could not be evaluated and saves the judgement.
func (j *Judge) record(ctx context.Context, org posture.OrgID, judgement posture.Judgement, failed []*evaluate.RuleError) (int64, error) {
	for _, f := range failed {
		j.Log.WarnContext(ctx, "rule not evaluated", "account", judgement.Account, "rule", f.Rule, "error", f.Err)
	}
	return j.Store.Observe(ctx, org, judgement)
}

// An accountView is an account at one generation.
type accountView struct {
	evaluate.Account
	created time.Time // when the account was added; differs after it was removed and added again
	removed bool
}

// loadAccount returns an account as it is now. A scope that was saved after the graph
// was built counts as not read, because the graph may contain only a part of it; the
// writer of the scope enqueues another evaluation.
func (j *Judge) loadAccount(ctx context.Context, org posture.OrgID, id posture.AccountID) (accountView, error) {
	account, err := j.Store.Account(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return accountView{removed: true}, nil
	}
	if err != nil {
		return accountView{}, err
	}
	g, err := j.Graphs.Graph(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return accountView{removed: true}, nil
	}
	if err != nil {
		return accountView{}, err
	}
	coverage, err := j.Store.Coverage(ctx, org, id)
	for i, c := range coverage {
		if c.Generation > g.Generation {
			coverage[i].Failed = c.Succeeded.Add(time.Nanosecond) // a failure after the last success: not read
		}
	}
	return accountView{created: account.Created, Account: evaluate.Account{
		Org: org, ID: id, Provider: account.Provider, Graph: g.Graph, Generation: g.Generation, Coverage: coverage, Regions: account.Collection.Regions, Verdicts: new(evaluate.VerdictCache),
	}}, err
}

// sameCoverage reports whether two states of a scope are equivalent for rules.
func sameCoverage(a, b posture.Coverage) bool {
	return a.Type == b.Type && a.Region == b.Region && a.Current() == b.Current() && slices.Equal(a.Regions, b.Regions)
}
