package app

import (
	"context"
	"errors"
	"slices"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/evaluate"
)

// newEvaluator returns what judges accounts, with the schema that the sources
// declare.
func (a *App) newEvaluator() *evaluate.Evaluator {
	var kinds []evaluate.Kind
	for _, s := range a.o.Sources {
		for _, d := range s.Declarations() {
			kinds = append(kinds, kindOf(d))
		}
	}
	return evaluate.New(evaluate.NewSchema(kinds), a.store, a.o.Now)
}

// kindOf returns what rules may know of a declared type.
func kindOf(d collect.Declaration) evaluate.Kind {
	k := evaluate.Kind{Type: d.Type}
	for _, p := range d.Properties {
		k.Properties = append(k.Properties, p.Name)
	}
	for _, e := range d.Edges {
		k.Edges = append(k.Edges, evaluate.Link{Label: e.Label, To: e.To})
	}
	return k
}

// judge evaluates rules over an account and records what came of it. Without an
// id of one it takes all rules. An account that is gone is left alone.
func (a *App) judge(ctx context.Context, org posture.OrgID, id posture.AccountID, only posture.RuleID) error {
	for {
		err := a.judgeOnce(ctx, org, id, only)
		if !fault.Is(err, fault.Stale) { // else rules were changed while we judged by them
			return err
		}
	}
}

func (a *App) judgeOnce(ctx context.Context, org posture.OrgID, id posture.AccountID, only posture.RuleID) error {
	account, err := a.store.Account(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	rules, rulesAt, err := a.book.RulesAt(ctx, org)
	if err != nil {
		return err
	}
	if only != "" {
		rules = slices.DeleteFunc(rules, func(r posture.Rule) bool { return r.ID != only })
	}
	coverage, err := a.store.Coverage(ctx, org, id)
	if err != nil {
		return err
	}
	g, err := a.graphs.Graph(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	judgement, bad, err := a.evaluator.Judge(ctx, evaluate.Account{
		Org: org, ID: id, Provider: account.Provider, Graph: g.Graph, Generation: g.Generation, Coverage: coverage,
	}, rules)
	if err != nil {
		return err
	}
	for _, b := range bad {
		a.o.Log.WarnContext(ctx, "rule not evaluated", "account", id, "rule", b.Rule, "error", b.Err)
	}
	judgement.RulesAt = rulesAt
	if err := a.store.Observe(ctx, org, judgement); err != nil {
		return err
	}
	if only == "" {
		a.judged.put(verdict{posture.AccountRef{Org: org, Account: id}, account.Created, g, coverage})
	}
	return nil
}

// judgeRule evaluates one rule over every account of its provider. A rule that
// was deleted has had its findings resolved.
func (a *App) judgeRule(ctx context.Context, org posture.OrgID, id posture.RuleID) error {
	rule, err := a.book.Rule(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	accounts, _, err := a.store.Accounts(ctx, org, posture.AccountFilter{Providers: []posture.Provider{rule.Provider}}, posture.Page{})
	if err != nil {
		return err
	}
	var failed []error
	for _, account := range accounts {
		failed = append(failed, a.judge(ctx, org, account.ID, id))
	}
	return errors.Join(failed...)
}
