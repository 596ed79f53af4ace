package app

import (
	"container/list"
	"context"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/partition"
)

// judged remembers how accounts were when they were last judged, so that after a
// change only the rules that can see it are evaluated.
type judged struct {
	mu     sync.Mutex
	known  map[posture.AccountRef]*list.Element
	recent list.List // of *verdict, the most recent first
}

// A verdict is what was judged, and recorded.
type verdict struct {
	ref      posture.AccountRef
	created  time.Time // when the account was added: its findings end with it
	graph    partition.Graph
	coverage []posture.Coverage
}

// verdictsKept is how many accounts are remembered. Their graphs are mostly the
// ones that are kept anyway.
const verdictsKept = 256

func (j *judged) get(ref posture.AccountRef, created time.Time) (verdict, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at, ok := j.known[ref]
	if !ok {
		return verdict{}, false
	}
	j.recent.MoveToFront(at)
	v := at.Value.(*verdict)
	return *v, v.created.Equal(created)
}

// put remembers a verdict, unless a later one is known.
func (j *judged) put(v verdict) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.known == nil {
		j.known = map[posture.AccountRef]*list.Element{}
	}
	if at, ok := j.known[v.ref]; ok {
		if old := at.Value.(*verdict); !old.created.Equal(v.created) || old.graph.Generation <= v.graph.Generation {
			at.Value = &v
		}
		j.recent.MoveToFront(at)
		return
	}
	j.known[v.ref] = j.recent.PushFront(&v)
	for j.recent.Len() > verdictsKept {
		last := j.recent.Back()
		delete(j.known, last.Value.(*verdict).ref)
		j.recent.Remove(last)
	}
}

// judgeChange evaluates the rules that can see what changed in an account since
// it was last judged: all of them when that is not known any more. An account
// that is gone is left alone.
func (a *App) judgeChange(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	for {
		err := a.judgeChangeOnce(ctx, org, id)
		if !fault.Is(err, fault.Stale) { // else rules were changed while we judged by them
			return err
		}
	}
}

func (a *App) judgeChangeOnce(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	account, err := a.store.Account(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	ref := posture.AccountRef{Org: org, Account: id}
	before, ok := a.judged.get(ref, account.Created)
	if !ok {
		return a.judge(ctx, org, id, "")
	}
	g, err := a.graphs.Graph(ctx, org, id)
	if fault.Is(err, fault.NotFound) || err == nil && g.Generation == before.graph.Generation {
		return nil
	}
	if err != nil {
		return err
	}
	changes, ok, err := a.store.ChangesSince(ctx, org, id, before.graph.Generation)
	if err != nil {
		return err
	}
	if !ok {
		return a.judge(ctx, org, id, "")
	}
	rules, rulesAt, err := a.book.RulesAt(ctx, org)
	if err != nil {
		return err
	}
	coverage, err := a.store.Coverage(ctx, org, id)
	if err != nil {
		return err
	}
	changed := changes.Gone
	for i := range changes.Changed {
		changed = append(changed, changes.Changed[i].ID)
	}
	judgement, bad, err := a.evaluator.Again(ctx, evaluate.Account{
		Org: org, ID: id, Provider: account.Provider, Graph: g.Graph, Generation: g.Generation, Coverage: coverage,
	}, evaluate.Before{Graph: before.graph.Graph, Coverage: before.coverage}, changed, rules)
	if err != nil {
		return err
	}
	for _, b := range bad {
		a.o.Log.WarnContext(ctx, "rule not evaluated", "account", id, "rule", b.Rule, "error", b.Err)
	}
	judgement.RulesAt = rulesAt
	err = a.store.Observe(ctx, org, judgement)
	if fault.Is(err, fault.Stale) { // rules were changed while we judged by them
		return a.judge(ctx, org, id, "")
	}
	if err != nil {
		return err
	}
	a.judged.put(verdict{ref, account.Created, g, coverage})
	return nil
}
