package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"vigil/frameworks"
	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/graphcache"
	"vigil/rules"
)

// A fixture holds the common data of all measurements.
type fixture struct {
	rules     []posture.Rule
	declared  []collect.Declaration
	generator *generator
	schema    *evaluate.Schema
}

func newFixture() (*fixture, error) {
	c, err := catalog.LoadWithCases(rules.Files, frameworks.Files)
	if err != nil {
		return nil, err
	}
	w := &fixture{declared: aws.Declarations(declared.Catalog())}
	w.schema = catalog.Schema(w.declared)
	for _, e := range c.Rules {
		if e.Provider == posture.AWS {
			w.rules = append(w.rules, e.Rule)
		}
	}
	w.generator, err = newGenerator(w.declared, c.Rules)
	return w, err
}

// A result holds the measurements for one size.
type result struct {
	resources, violations int
	catalog               time.Duration // all rules
	byHand                time.Duration // ten rules in Go, extrapolated to all
	allRules              time.Duration // all rules, and the findings, risks and notifications that follow
	afterChange           time.Duration // as allRules, but only what a change of one resource affects
}

// entities is an in-memory entity store.
type entities map[posture.EntityID]posture.Entity

func (es entities) EntitiesOf(_ context.Context, _ posture.OrgID, _ posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error) {
	found := make(map[posture.EntityID]posture.Entity, len(ids))
	for _, id := range ids {
		if e, ok := es[id]; ok {
			found[id] = e
		}
	}
	return found, nil
}

func (f *fixture) measure(ctx context.Context, size int, o options) (result, error) {
	all := f.generator.generate(size)
	lookup := make(entities, len(all))
	for _, e := range all {
		lookup[e.ID] = e
	}
	g, err := build(all)
	if err != nil {
		return result{}, err
	}
	e := evaluate.New(f.schema, lookup, func() time.Time { return catalog.CaseTime })
	a := evaluate.Account{Org: "o", ID: account, Provider: posture.AWS, Graph: g, Coverage: f.coverage()}
	input := read(all)
	r := result{resources: len(all)}
	if err := f.agree(ctx, e, a, input); err != nil {
		return r, err
	}
	if r.catalog, err = repeat(o.time, func() error {
		answers, err := e.Try(ctx, a, f.rules...)
		r.violations = 0
		for _, answer := range answers {
			r.violations += len(answer.Violating)
		}
		return err
	}); err != nil {
		return r, err
	}
	ten, err := repeat(o.time, func() error {
		for _, c := range byHand {
			c.run(input)
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	r.byHand = ten * time.Duration(len(f.rules)) / time.Duration(len(byHand))
	if o.each {
		if err := f.each(ctx, e, a, input, o.time/20); err != nil {
			return r, err
		}
	}
	if r.allRules, err = repeat(o.time, func() error {
		_, _, err := e.Judge(ctx, a, f.rules)
		return err
	}); err != nil {
		return r, err
	}
	r.afterChange, err = f.reevaluate(ctx, e, a, all, o)
	return r, err
}

// agree checks that the hand-written checks and their rules find the same entities.
func (f *fixture) agree(ctx context.Context, e *evaluate.Evaluator, a evaluate.Account, input *readAccount) error {
	for id, c := range byHand {
		i := slices.IndexFunc(f.rules, func(r posture.Rule) bool { return r.ID == id })
		if i < 0 {
			return fmt.Errorf("unknown rule %s", id)
		}
		answers, err := e.Try(ctx, a, f.rules[i])
		if err != nil {
			return err
		}
		answer := answers[0]
		violating, unknown := c.run(input)
		if !slices.Equal(violating, answer.Violating) || !slices.Equal(unknown, answer.Unknown) {
			return fmt.Errorf("%s: by hand %d violations and %d unknown, by the rule %d and %d", id, len(violating), len(unknown), len(answer.Violating), len(answer.Unknown))
		}
	}
	return nil
}

// each prints the cost of single rules, most expensive first.
func (f *fixture) each(ctx context.Context, e *evaluate.Evaluator, a evaluate.Account, input *readAccount, limit time.Duration) error {
	type cost struct {
		id     posture.RuleID
		rule   time.Duration
		byHand time.Duration
	}
	var costs []cost
	for _, rule := range f.rules {
		elapsed, err := repeat(limit, func() error {
			_, err := e.Try(ctx, a, rule)
			return err
		})
		if err != nil {
			return err
		}
		c := cost{rule.ID, elapsed, 0}
		if check, ok := byHand[rule.ID]; ok {
			if c.byHand, err = repeat(limit, func() error { check.run(input); return nil }); err != nil {
				return err
			}
		}
		costs = append(costs, c)
	}
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(b.rule, a.rule) })
	for _, c := range costs {
		fmt.Printf("  %-50s %12v %12v\n", c.id, c.rule, c.byHand)
	}
	return nil
}

// reevaluate measures the re-evaluation after a change of one security group, which more
// rules read than most other types.
func (f *fixture) reevaluate(ctx context.Context, e *evaluate.Evaluator, a evaluate.Account, all []posture.Entity, o options) (time.Duration, error) {
	i := slices.IndexFunc(all, func(x posture.Entity) bool { return x.Type == "AWS.EC2.SecurityGroup" && len(x.Edges) > 0 })
	if i < 0 {
		return 0, fmt.Errorf("no security group of the %d resources has edges: measure a larger account", len(all))
	}
	changed := all[i]
	changed.Edges = changed.Edges[1:]
	patched, err := a.Graph.Patch([]graph.Change{{Record: graphcache.Record(&changed)}})
	if err != nil {
		return 0, err
	}
	a.Verdicts = new(evaluate.VerdictCache)
	if _, _, err := e.Judge(ctx, a, f.rules); err != nil {
		return 0, err
	}
	before := evaluate.Before{Graph: a.Graph, Coverage: a.Coverage, Verdicts: a.Verdicts, At: catalog.CaseTime}
	a.Graph = patched
	return repeat(o.time/4, func() error {
		a.Verdicts = new(evaluate.VerdictCache)
		_, _, err := e.Reevaluate(ctx, a, before, []posture.EntityID{changed.ID}, f.rules)
		return err
	})
}

func (f *fixture) coverage() []posture.Coverage {
	var all []posture.Coverage
	for _, d := range f.declared {
		scopes := regions
		if d.Scope == collect.PerAccount {
			scopes = []string{posture.Global}
		}
		for _, region := range scopes {
			all = append(all, posture.Coverage{Type: d.Type, Region: region, Succeeded: catalog.CaseTime})
		}
	}
	return all
}

func build(all []posture.Entity) (*graph.Graph, error) {
	b := graph.NewBuilder(graph.Limits{})
	for i := range all {
		if err := b.Add(graphcache.Record(&all[i])); err != nil {
			return nil, err
		}
	}
	return b.Build()
}

// repeat runs f for some time, at least three times after a warm-up, and returns
// the CPU time of the cheapest run.
func repeat(limit time.Duration, f func() error) (time.Duration, error) {
	if err := f(); err != nil {
		return 0, err
	}
	runtime.GC()
	best := time.Duration(1<<63 - 1)
	for runs, start := 0, time.Now(); runs < 3 || time.Since(start) < limit; runs++ {
		start := cpuTime()
		if err := f(); err != nil {
			return 0, err
		}
		best = min(best, cpuTime()-start)
	}
	return best, nil
}

// cpuTime returns the CPU time of this process, which is more accurate than
// wall-clock time on a shared machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // cannot fail for the own process
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
