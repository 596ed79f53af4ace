// Package judge holds the rules of organisations against their accounts and has
// what came of it recorded.
//
// After a collection all rules are evaluated, after a change of single resources
// only those that can see it. Both lead to the same findings, also when several
// processes judge the same account: whoever builds on a judgement that is not the
// last one any more starts anew.
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

// Store is what is asked of the one who keeps accounts, entities and findings.
type Store interface {
	Account(ctx context.Context, org posture.OrgID, id posture.AccountID) (posture.Account, error)
	Accounts(ctx context.Context, org posture.OrgID, f posture.AccountFilter, p posture.Page) ([]posture.Account, int, error)
	Coverage(ctx context.Context, org posture.OrgID, id posture.AccountID) ([]posture.Coverage, error)
	ChangesSince(ctx context.Context, org posture.OrgID, id posture.AccountID, generation int64) (posture.PartitionChanges, bool, error)
	EntitiesOf(ctx context.Context, org posture.OrgID, id posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error)
	Observe(ctx context.Context, org posture.OrgID, j posture.Judgement) (int64, error)
}

// Book knows the rules of organisations.
type Book interface {
	RulesAt(ctx context.Context, org posture.OrgID) ([]posture.Rule, int64, error)
	Rule(ctx context.Context, org posture.OrgID, id posture.RuleID) (posture.Rule, error)
}

// Judge judges accounts. It is safe for concurrent use.
type Judge struct {
	Store     Store
	Book      Book
	Graphs    *graphcache.Graphs
	Evaluator *evaluate.Evaluator
	Log       *slog.Logger
	Now       func() time.Time

	last verdicts
}

// Account evaluates all rules over an account. One that is gone is left alone.
func (j *Judge) Account(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	return untilCurrent(func() error { return j.whole(ctx, org, id, "") })
}

// Rule evaluates one rule over every account of its provider. A rule that was
// deleted has had its findings resolved.
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
		failed = append(failed, untilCurrent(func() error { return j.whole(ctx, org, account.ID, id) }))
	}
	return errors.Join(failed...)
}

// Change evaluates the rules that can see what changed in an account since it was
// last judged: all of them when that is not known any more. An account that is
// gone is left alone.
func (j *Judge) Change(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	err := j.part(ctx, org, id)
	if fault.Is(err, fault.Stale) {
		return j.Account(ctx, org, id)
	}
	return err
}

// untilCurrent judges again while rules or resources change meanwhile.
func untilCurrent(judge func() error) error {
	for {
		if err := judge(); !fault.Is(err, fault.Stale) {
			return err
		}
	}
}

// whole evaluates all rules, or only one of them.
func (j *Judge) whole(ctx context.Context, org posture.OrgID, id posture.AccountID, only posture.RuleID) error {
	rules, rulesAt, err := j.Book.RulesAt(ctx, org)
	if err != nil {
		return err
	}
	if only != "" {
		rules = slices.DeleteFunc(rules, func(r posture.Rule) bool { return r.ID != only })
	}
	s, err := j.see(ctx, org, id)
	if err != nil || s.gone {
		return err
	}
	judgement, bad, err := j.Evaluator.Judge(ctx, s.Account, rules)
	if err != nil {
		return err
	}
	judgement.RulesAt = rulesAt
	serial, err := j.record(ctx, org, judgement, bad)
	if err == nil && only == "" {
		j.last.put(verdict{s, serial, judgement.At})
	}
	return err
}

// part evaluates the rules that can see what changed. It fails with fault.Stale
// when all of them must be.
func (j *Judge) part(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	rules, rulesAt, err := j.Book.RulesAt(ctx, org)
	if err != nil {
		return err
	}
	s, err := j.see(ctx, org, id)
	if err != nil || s.gone {
		return err
	}
	before, ok := j.last.get(s)
	if !ok {
		return errTooOld
	}
	if before.Generation == s.Generation && slices.EqualFunc(before.Coverage, s.Coverage, sameCoverage) && j.Now().Sub(before.at) < evaluate.Tick {
		return nil
	}
	changes, ok, err := j.Store.ChangesSince(ctx, org, id, before.Generation)
	if err != nil {
		return err
	}
	if !ok {
		return errTooOld
	}
	changed := changes.Gone
	for i := range changes.Changed {
		changed = append(changed, changes.Changed[i].ID)
	}
	judgement, bad, err := j.Evaluator.Again(ctx, s.Account, evaluate.Before{Graph: before.Graph, Coverage: before.Coverage, Said: before.Said, At: before.at}, changed, rules)
	if err != nil {
		return err
	}
	judgement.RulesAt, judgement.Since = rulesAt, before.serial
	serial, err := j.record(ctx, org, judgement, bad)
	if err == nil {
		j.last.put(verdict{s, serial, judgement.At})
	}
	return err
}

// errTooOld says that what was judged last is not known.
var errTooOld = fault.New(fault.Stale, "the last judgement is not known")

// record tells of rules that could not be evaluated and saves the rest.
func (j *Judge) record(ctx context.Context, org posture.OrgID, judgement posture.Judgement, bad []*evaluate.RuleError) (int64, error) {
	for _, b := range bad {
		j.Log.WarnContext(ctx, "rule not evaluated", "account", judgement.Account, "rule", b.Rule, "error", b.Err)
	}
	return j.Store.Observe(ctx, org, judgement)
}

// A sight is an account as it is at one moment.
type sight struct {
	evaluate.Account
	created time.Time // when the account was added: its findings end with it
	gone    bool
}

// see looks at an account. Of a scope that was saved after the graph was taken,
// nobody can say whether the graph has all of it, so it counts as not read. Whoever
// saved it has it judged again.
func (j *Judge) see(ctx context.Context, org posture.OrgID, id posture.AccountID) (sight, error) {
	account, err := j.Store.Account(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return sight{gone: true}, nil
	}
	if err != nil {
		return sight{}, err
	}
	g, err := j.Graphs.Graph(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return sight{gone: true}, nil
	}
	if err != nil {
		return sight{}, err
	}
	coverage, err := j.Store.Coverage(ctx, org, id)
	for i, c := range coverage {
		if c.Generation > g.Generation {
			coverage[i].Failed = c.Succeeded.Add(time.Nanosecond)
		}
	}
	return sight{created: account.Created, Account: evaluate.Account{
		Org: org, ID: id, Provider: account.Provider, Graph: g.Graph, Generation: g.Generation, Coverage: coverage, Said: new(evaluate.Said),
	}}, err
}

// sameCoverage reports whether two states of a scope mean the same to rules.
func sameCoverage(a, b posture.Coverage) bool {
	return a.Type == b.Type && a.Region == b.Region && a.Current() == b.Current() && slices.Equal(a.Regions, b.Regions)
}
