package evaluate

import (
	"context"
	"slices"
	"time"

	"vigil/graph"
	"vigil/internal/posture"
)

// Before is the recorded judgement that [Evaluator.Reevaluate] starts from: the graph,
// how current its scopes were, and when it was made.
type Before struct {
	Graph    *graph.Graph
	Coverage []posture.Coverage
	Verdicts *VerdictCache // the verdicts of that judgement; rules that it lacks are run again
	At       time.Time
}

// Reevaluate judges an account after some entities changed, or after scopes were read
// with another outcome. It skips the rules whose verdict the change cannot affect, and
// otherwise returns what Judge would. It also writes the findings of entities near the
// change again, because their risk may have changed. Rules must be all rules of the account.
func (e *Evaluator) Reevaluate(ctx context.Context, a Account, b Before, changed []posture.EntityID, rules []posture.Rule) (posture.Judgement, []*RuleError, error) {
	j := &judging{Evaluator: e, Account: a, at: e.now(), trust: newTrust(a.Coverage, len(a.Regions) > 0), risks: newRisks(a.Graph, e.schema)}
	d := differences(e.schema, b, a, changed)
	d.later = !j.at.Truncate(Tick).Equal(b.At.Truncate(Tick))
	affected := d.around(b.Graph, a.Graph)
	labels := labelSet(a.Graph, affected)
	a.Graph, a.Coverage, a.Verdicts = b.Graph, b.Coverage, b.Verdicts
	last := &judging{Evaluator: e, Account: a, at: b.At, trust: newTrust(b.Coverage, len(a.Regions) > 0)}
	for _, r := range rules {
		if r.Provider != a.Provider || r.Status == posture.RuleDisabled {
			continue
		}
		var since *previous
		q, err := e.query(r.Query)
		switch {
		case err != nil || d.changesTrust(q): // all of the rule's findings are written again
		case d.mayAffect(q):
			since = &previous{affected, last}
		case q.mayFind(labels):
			since = &previous{affected, nil}
		default:
			continue
		}
		if err := j.rule(ctx, r, since); err != nil {
			return posture.Judgement{}, nil, err
		}
	}
	return j.finish(ctx)
}

// previous is what a rule's verdict is compared with.
type previous struct {
	affected map[graph.Handle]bool // vertices whose findings may have another text or risk now
	last     *judging              // the last judgement; nil when the rule's verdict is unchanged
}

// narrow returns the entities whose verdict or finding may have changed, and which of
// them violate the rule. If the last verdict is not available, any may have changed:
// then only is nil.
func (p *previous) narrow(ctx context.Context, j *judging, r posture.Rule, violating, unknown []graph.Handle) (only []posture.EntityID, raise []graph.Handle) {
	before, err := p.verdicts(ctx, r)
	if err != nil {
		return nil, violating
	}
	only = []posture.EntityID{}
	for _, h := range unknown {
		id := j.id(h)
		if p.last != nil && before[id] != posture.Maybe {
			only = append(only, id)
		}
		delete(before, id)
	}
	for _, h := range violating {
		id := j.id(h)
		if p.affected[h] || p.last != nil && before[id] != posture.Yes {
			only, raise = append(only, id), append(raise, h)
		}
		delete(before, id)
	}
	for id := range before { // they pass now, or were deleted
		only = append(only, id)
	}
	slices.Sort(only)
	return only, raise
}

// verdicts returns the rule's last verdict on the entities that did not pass.
func (p *previous) verdicts(ctx context.Context, r posture.Rule) (map[posture.EntityID]posture.Truth, error) {
	verdicts := map[posture.EntityID]posture.Truth{}
	if p.last == nil {
		return verdicts, nil
	}
	v, err := p.last.verdict(ctx, r)
	if err != nil {
		return nil, err
	}
	out := p.last.settle(v)
	for _, h := range out.violating {
		verdicts[p.last.id(h)] = posture.Yes
	}
	for _, h := range out.unknown {
		verdicts[p.last.id(h)] = posture.Maybe
	}
	return verdicts, nil
}

// labelSet returns the types of some vertices.
func labelSet(g *graph.Graph, hs map[graph.Handle]bool) types {
	names, set := g.VertexLabels(), types{}
	for h := range hs {
		set[posture.EntityType(names[g.VertexLabel(h)])] = true
	}
	return set
}

// mayFind reports whether a query can find entities of some types.
func (q *query) mayFind(changed types) bool {
	if len(changed) == 0 {
		return false
	}
	if q.anywhere || len(q.reads.Subjects) == 0 {
		return true
	}
	return slices.ContainsFunc(q.reads.Subjects, func(t posture.EntityType) bool { return changed[t] })
}
