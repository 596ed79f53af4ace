// Package rulecases evaluates rules on the entities of their cases, as for an account
// that was just collected, and compares the verdicts with the expected ones.
package rulecases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/resource"
)

// A Runner evaluates rules on cases.
type Runner struct {
	types     *resource.Catalog
	schema    *evaluate.Schema
	evaluator *evaluate.Evaluator // with the default time of cases
	kinds     map[posture.Provider][]posture.EntityType
	global    map[posture.EntityType]bool
}

// New returns a runner for cases with entities of the given types, whose declarations are in all.
func New(types *resource.Catalog, all []collect.Declaration) *Runner {
	r := &Runner{types: types, schema: catalog.Schema(all), kinds: map[posture.Provider][]posture.EntityType{}, global: map[posture.EntityType]bool{}}
	r.evaluator = evaluate.New(r.schema, nil, func() time.Time { return catalog.CaseTime })
	for _, d := range all {
		r.kinds[d.Type.Provider()] = append(r.kinds[d.Type.Provider()], d.Type)
		r.global[d.Type] = d.Scope == collect.PerAccount
	}
	return r
}

// Check returns the differences between the expected and the actual verdicts of a case,
// and an error if the visualization of the rule does not show a violating entity.
func (r *Runner) Check(ctx context.Context, e catalog.Entry, c catalog.Case) error {
	c, found, ids, err := r.Build(ctx, e, c)
	if err != nil {
		return err
	}
	account, err := r.Account(e, c, found)
	if err != nil {
		return err
	}
	got, err := r.Judge(ctx, account, e, c)
	if err != nil {
		return err
	}
	var violating []posture.EntityID
	for _, raised := range got.Violating {
		violating = append(violating, raised.Finding.Object)
	}
	outside, err := r.Outside(ctx, account, e, c, found)
	if err != nil {
		return err
	}
	problems := []error{
		compare(c, "violates the rule for", c.Violates, keys(ids, violating)),
		compare(c, "is unknown for", c.Unknown, keys(ids, got.Unknown)),
		compare(c, "is not applicable to", c.NotApplicable, keys(ids, outside)),
	}
	for _, key := range c.Violates {
		problems = append(problems, checkVisualization(ctx, account.Graph, e, c, ids[key]))
	}
	return errors.Join(problems...)
}

func compare(c catalog.Case, what string, want, got []string) error {
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(want, got) {
		return fmt.Errorf("case %q %s %q; want %q", c.Name, what, got, want)
	}
	return nil
}

// keys returns the sorted keys that some entities have in a case, one key for each entity.
func keys(ids map[string]posture.EntityID, entities []posture.EntityID) (all []string) {
	named := map[posture.EntityID]bool{}
	for key, id := range ids {
		if slices.Contains(entities, id) && !named[id] {
			named[id] = true
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

// Judge evaluates a rule for the account of a case.
func (r *Runner) Judge(ctx context.Context, account evaluate.Account, e catalog.Entry, c catalog.Case) (posture.RuleJudgement, error) {
	judged, broken, err := r.evaluatorOf(c).Judge(ctx, account, []posture.Rule{e.With(c.Parameters)})
	if err != nil {
		return posture.RuleJudgement{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	if len(broken) > 0 {
		return posture.RuleJudgement{}, fmt.Errorf("case %q: %v", c.Name, broken[0])
	}
	return judged.Rules[0], nil
}

// Outside returns the entities of a case that a rule does not apply to.
func (r *Runner) Outside(ctx context.Context, account evaluate.Account, e catalog.Entry, c catalog.Case, found []posture.Entity) (ids []posture.EntityID, err error) {
	answers, err := r.evaluatorOf(c).Try(ctx, account, e.With(c.Parameters))
	if err != nil {
		return nil, fmt.Errorf("case %q: %w", c.Name, err)
	}
	for _, f := range found {
		if f.Type == e.Type && answers[0].Outside(f.ID) {
			ids = append(ids, f.ID)
		}
	}
	return ids, nil
}

// Account returns an account that has the entities of a case.
func (r *Runner) Account(e catalog.Entry, c catalog.Case, found []posture.Entity) (evaluate.Account, error) {
	g, err := graphOf(found)
	if err != nil {
		return evaluate.Account{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	return evaluate.Account{
		Org: "o", ID: catalog.Account(e.Provider), Provider: e.Provider, Graph: g,
		Coverage: c.Coverage(r.kinds[e.Provider], func(k posture.EntityType) bool { return r.global[k] }),
	}, nil
}

// evaluatorOf returns an evaluator with the clock of a case.
func (r *Runner) evaluatorOf(c catalog.Case) *evaluate.Evaluator {
	if c.At.IsZero() {
		return r.evaluator
	}
	return evaluate.New(r.schema, nil, func() time.Time { return c.At })
}

// checkVisualization checks that the visualization of a violation contains the entity.
func checkVisualization(ctx context.Context, g *graph.Graph, e catalog.Entry, c catalog.Case, id posture.EntityID) error {
	plan, err := gremlin.Compile(strings.ReplaceAll(e.Visualization.Text, posture.EntityClause, "hasId('"+string(id)+"')"), gremlin.CompileOptions{})
	if err != nil {
		return err
	}
	result, err := plan.Run(ctx, g, gremlin.RunOptions{})
	if err != nil {
		return err
	}
	for v := range result.Values() {
		path, ok := v.Opaque().(*gremlin.Path)
		if !ok {
			return fmt.Errorf("the visualization of case %q returns %v, not paths", c.Name, v)
		}
		for _, o := range path.Objects {
			if o.Kind() == graph.KindVertex && g.VertexID(o.Handle()).Str() == string(id) {
				return nil
			}
		}
	}
	return fmt.Errorf("case %q: the visualization does not contain %s", c.Name, id)
}

func graphOf(all []posture.Entity) (*graph.Graph, error) {
	b := graph.NewBuilder(graph.Limits{})
	for _, e := range all {
		if err := b.Add(graphcache.Record(&e)); err != nil {
			return nil, err
		}
	}
	return b.Build()
}
