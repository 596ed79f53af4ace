package evaluate

import (
	"context"
	"slices"
	"time"

	"vigil/graph"
	"vigil/internal/posture"
)

// Before is the recorded judgement that [Evaluator.Reevaluate] starts from, and what it was
// made of.
type Before struct {
	Graph    *graph.Graph
	Coverage []posture.Coverage // how current the scopes of the graph were
	Verdicts *VerdictCache      // the verdicts of that judgement
	At       time.Time          // when the judgement was made
}

// Reevaluate judges an account after some entities changed, or after scopes became
// current or ceased to be. It skips the rules whose verdict the change cannot affect. It
// runs each other rule only on the entities near the change if that suffices, else on the
// whole account, as Judge does. It also writes the findings of entities near the change
// again, because their risk may have changed. All rules of the account must be given.
func (e *Evaluator) Reevaluate(ctx context.Context, a Account, b Before, changed []posture.EntityID, rules []posture.Rule) (posture.Judgement, []*RuleError, error) {
	j := &judging{Evaluator: e, Account: a, at: e.now(), trust: newTrust(a.Coverage, len(a.Regions) > 0), risks: newRisks(a.Graph, e.schema)}
	earlier := a
	earlier.Graph, earlier.Coverage, earlier.Verdicts = b.Graph, b.Coverage, b.Verdicts
	last := &judging{Evaluator: e, Account: earlier, at: b.At, trust: newTrust(b.Coverage, len(a.Regions) > 0)}
	d := differences(last, j, changed)
	j.since = changeSince(b, j.Graph, d)
	var kept *VerdictCache // the verdicts of the last judgement, if their handles are valid in the new graph
	if j.since != nil {
		kept = j.since.verdicts
	}
	affected := d.around(b.Graph, j.Graph)
	labels := labelSet(j.Graph, affected)
	for i := range rules {
		r := &rules[i]
		if r.Provider != a.Provider || r.Status == posture.RuleDisabled {
			continue
		}
		var prev *previous // nil if there is nothing to compare with: then all findings are written again
		q, err := e.query(r.Query)
		switch {
		case err != nil: // j.rule gets the same error and records it
		case d.mayAffect(q):
			// Without a kept verdict, or if the trust in it changed, there is nothing to compare with.
			if v := kept.get(q); v != nil && !d.changesTrust(q) {
				outcome := last.settle(*v)
				prev = &previous{affected, last, &outcome}
			}
		default: // the verdict is unchanged
			if v := kept.get(q); v != nil {
				j.Verdicts.put(q, v)
			}
			if !q.mayFind(labels) {
				continue
			}
			prev = &previous{affected: affected}
		}
		if err := j.rule(ctx, r, prev); err != nil {
			return posture.Judgement{}, nil, err
		}
	}
	return j.finish(ctx)
}

// previous is what a rule's verdict is compared with. Without it all of the rule's
// findings are written again.
type previous struct {
	affected map[graph.Handle]bool // vertices whose findings may have another text or risk now
	last     *judging              // the last judgement; nil when the rule's verdict is unchanged
	outcome  *outcome              // of the rule in that judgement
}

// narrow compares the last outcome with the present one. It returns the entities whose
// verdict or finding may have changed, and the vertices of those that violate the rule now.
func (p *previous) narrow(j *judging, now outcome) (only []posture.EntityID, raise []graph.Handle) {
	only = []posture.EntityID{}
	for _, h := range now.violating {
		if p.affected[h] || p.last != nil && !contains(p.outcome.violating, h) {
			only, raise = append(only, j.id(h)), append(raise, h)
		}
	}
	if p.last != nil {
		for _, h := range now.unknown {
			if !contains(p.outcome.unknown, h) {
				only = append(only, j.id(h))
			}
		}
		for _, h := range slices.Concat(p.outcome.violating, p.outcome.unknown) { // they pass now, or were deleted
			if !contains(now.violating, h) && !contains(now.unknown, h) {
				only = append(only, p.last.id(h))
			}
		}
	}
	slices.Sort(only)
	return only, raise
}

// sameCounts reports whether the numbers of passing, not applicable and unknown entities are
// unchanged.
func (p *previous) sameCounts(now outcome) bool {
	return p.last == nil || now.passing == p.outcome.passing && now.notApplicable == p.outcome.notApplicable && len(now.unknown) == len(p.outcome.unknown)
}

// contains reports whether h is one of hs, which are in ascending order.
func contains(hs []graph.Handle, h graph.Handle) bool {
	_, ok := slices.BinarySearch(hs, h)
	return ok
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
