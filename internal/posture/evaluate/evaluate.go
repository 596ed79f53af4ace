// Package evaluate runs rules on the graph of an account and returns which entities
// violate them.
//
// A verdict is violation, pass or unknown; a resource that the rule is not applicable
// to has none of them. A verdict is unknown when it depends on something that could not be
// read: a property that was denied, or a type whose last collection failed in the region of
// the entity. A violation that no further reading can undo is a violation all the same.
// An unknown verdict neither raises nor resolves a finding. A rule that could not be run is
// unknown for every entity.
//
// [Evaluator.Judge] runs rules on the whole account. [Evaluator.Reevaluate] runs them
// after a change: only the rules that the change can affect, and only on the entities
// near it. Both lead to the same findings.
package evaluate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
)

// An Account is the graph of an account at one generation, with the coverage of the
// scopes that it was built from.
type Account struct {
	Org        posture.OrgID
	ID         posture.AccountID
	Provider   posture.Provider
	Graph      *graph.Graph
	Generation int64
	Coverage   []posture.Coverage
	Regions    []string      // that are read; empty for all
	Verdicts   *VerdictCache // of rules on this graph; may be nil
}

// Lookup returns entities with the fields that their vertices lack, such as the cloud's
// own names. [posture.EntityStore] implements it.
type Lookup interface {
	EntitiesOf(ctx context.Context, org posture.OrgID, account posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error)
}

// An Evaluator evaluates rules on accounts. It caches the plans of queries, and is safe
// for concurrent use.
type Evaluator struct {
	schema  *Schema
	lookup  Lookup
	now     func() time.Time
	plans   gremlin.Cache
	queries queryCache
}

// Tick is the resolution of the clock of rules. Within a Tick the verdict of a rule
// changes only if the entities that it reads change.
const Tick = time.Minute

// New returns an evaluator. The clock is the one that rules about age see.
func New(s *Schema, l Lookup, now func() time.Time) *Evaluator {
	return &Evaluator{schema: s, lookup: l, now: now}
}

// A RuleError is the error of a rule that could not be run. Its verdict is unknown for
// every entity.
type RuleError struct {
	Rule posture.RuleID
	Err  error
}

func (e *RuleError) Error() string { return fmt.Sprintf("evaluate rule %s: %v", e.Rule, e.Err) }

// Unwrap returns the cause.
func (e *RuleError) Unwrap() error { return e.Err }

// Judge runs rules on a whole account. It skips rules of other providers; the findings
// of disabled rules are resolved. It also returns the errors of single rules;
// it fails when the context ends or entities cannot be looked up.
func (e *Evaluator) Judge(ctx context.Context, a Account, rules []posture.Rule) (posture.Judgement, []*RuleError, error) {
	j := &judging{Evaluator: e, Account: a, at: e.now(), trust: newTrust(a.Coverage, len(a.Regions) > 0), risks: newRisks(a.Graph, e.schema)}
	for i := range rules {
		if rules[i].Provider != a.Provider {
			continue
		}
		if err := j.rule(ctx, &rules[i], nil); err != nil {
			return posture.Judgement{}, nil, err
		}
	}
	return j.finish(ctx)
}

// A judging is a judgement in progress.
type judging struct {
	*Evaluator
	Account
	at     time.Time
	trust  *trust
	risks  *risks
	since  *change                        // what changed since the last judgement; nil if that is not known
	abouts map[posture.RuleQuery]*verdict // results of runAbout
	rules  []posture.RuleJudgement
	raised []violation
	failed []*RuleError
}

// A violation is a vertex that violates a rule. Its finding is not written yet.
type violation struct {
	index  int // of the rule in judging.rules
	rule   *posture.Rule
	vertex graph.Handle
}

// rule adds the verdict of one rule. If prev is not nil, it omits findings that cannot have
// changed since then.
func (j *judging) rule(ctx context.Context, r *posture.Rule, prev *previous) error {
	if r.Status == posture.RuleDisabled {
		j.rules = append(j.rules, posture.RuleJudgement{Rule: r.ID, Gone: true})
		return nil
	}
	v, err := j.verdict(ctx, r.Query)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := posture.RuleJudgement{Rule: r.ID}
	if err != nil {
		j.failed = append(j.failed, &RuleError{r.ID, err})
		out.Trusted = func(id posture.EntityID) bool { return !j.has(id) } // only deleted entities
		out.Unknown = j.ids(j.subjects(v.subjects))
		j.rules = append(j.rules, out)
		return nil
	}
	reliable, result := j.trust.reliableFor(v.reads), j.settle(v)
	out.Trusted = func(id posture.EntityID) bool {
		h, ok := j.vertex(id)
		return !ok || reliable.includes(j.region(h))
	}
	raise := result.violating
	if prev != nil {
		out.Only, raise = prev.narrow(j, result)
		if len(out.Only) == 0 && prev.sameCounts(result) {
			return nil // the verdict and its findings are unchanged
		}
	}
	for _, h := range raise {
		j.raised = append(j.raised, violation{len(j.rules), r, h})
	}
	out.Unknown = j.ids(result.unknown)
	out.Passing, out.NotApplicable = result.passing, result.notApplicable
	j.rules = append(j.rules, out)
	return nil
}

// classify separates violations from unknown verdicts. In a region that was not read
// completely, every entity that the rule applies to is unknown, except those that certainly
// violate the rule.
func (j *judging) classify(v verdict, reliable reliableRegions) (violating, unknown []graph.Handle) {
	unknown = v.unknown
	if reliable.all && !slices.ContainsFunc(v.yes, func(h graph.Handle) bool { return !reliable.includes(j.region(h)) }) {
		return v.yes, unknown
	}
	unreadable, certain := map[graph.Handle]bool{}, map[string]bool{} // certain: by region
	for _, h := range v.yes {
		region := j.region(h)
		if _, known := certain[region]; !known {
			certain[region] = reliable.includes(region) || j.isCertain(v, region)
		}
		if certain[region] {
			violating = append(violating, h)
		} else {
			unreadable[h] = true
		}
	}
	for _, h := range j.subjects(v.subjects) {
		if !reliable.includes(j.region(h)) && !contains(violating, h) {
			unreadable[h] = true
		}
	}
	for _, h := range v.unknown {
		unreadable[h] = true
	}
	unknown = make([]graph.Handle, 0, len(unreadable))
	for h := range unreadable {
		unknown = append(unknown, h)
	}
	slices.Sort(unknown)
	return violating, unknown
}

// finish writes the findings of all violations.
func (j *judging) finish(ctx context.Context) (posture.Judgement, []*RuleError, error) {
	entities, err := j.loadEntities(ctx)
	if err != nil {
		return posture.Judgement{}, nil, err
	}
	w := newWriter(j, entities)
	for _, v := range j.raised {
		r := &j.rules[v.index]
		r.Violating = append(r.Violating, w.raise(v.rule, v.vertex))
	}
	return posture.Judgement{Account: j.ID, Generation: j.Generation, At: j.at, Rules: j.rules}, j.failed, nil
}

// loadEntities reads the entities that violate a rule.
func (j *judging) loadEntities(ctx context.Context) (map[posture.EntityID]posture.Entity, error) {
	if j.lookup == nil || len(j.raised) == 0 {
		return nil, nil
	}
	seen := make(map[graph.Handle]bool, len(j.raised))
	var ids []posture.EntityID
	for _, v := range j.raised {
		if !seen[v.vertex] {
			seen[v.vertex] = true
			ids = append(ids, j.id(v.vertex))
		}
	}
	found, err := j.lookup.EntitiesOf(ctx, j.Org, j.ID, ids)
	if err != nil {
		return nil, fmt.Errorf("read the entities that violate rules: %w", err)
	}
	return found, nil
}

// id returns the entity id of a vertex.
func (j *judging) id(h graph.Handle) posture.EntityID {
	return posture.EntityID(j.Graph.VertexID(h).Str())
}

func (j *judging) ids(hs []graph.Handle) []posture.EntityID {
	ids := make([]posture.EntityID, len(hs))
	for i, h := range hs {
		ids[i] = j.id(h)
	}
	slices.Sort(ids)
	return ids
}

func (j *judging) vertex(id posture.EntityID) (graph.Handle, bool) {
	return j.Graph.VertexByID(graph.String(string(id)))
}

func (j *judging) has(id posture.EntityID) bool {
	_, ok := j.vertex(id)
	return ok
}

// region returns the region of a vertex's entity.
func (j *judging) region(h graph.Handle) string {
	k, ok := j.Graph.KeyByName(posture.FieldRegion)
	if !ok {
		return posture.Global
	}
	v, ok := j.Graph.VertexValue(h, k)
	if !ok || v.Kind() != graph.KindString {
		return posture.Global
	}
	return v.Str()
}

// subjects returns the vertices of some types.
func (j *judging) subjects(types []posture.EntityType) []graph.Handle {
	var all []graph.Handle
	for _, t := range types {
		if l, ok := j.Graph.VertexLabelByName(string(t)); ok {
			all = append(all, j.Graph.VerticesOf(l)...)
		}
	}
	slices.Sort(all)
	return all
}

// count returns how many vertices of some types there are.
func (j *judging) count(types []posture.EntityType) int {
	n := 0
	for _, t := range types {
		if l, ok := j.Graph.VertexLabelByName(string(t)); ok {
			n += len(j.Graph.VerticesOf(l))
		}
	}
	return n
}

// compile returns the plan of a rule's query.
func (e *Evaluator) compile(text string) (*gremlin.Plan, error) {
	return e.plans.Compile(text, gremlin.CompileOptions{Budget: gremlin.RuleBudget})
}
