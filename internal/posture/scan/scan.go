// Package scan collects one cloud account and evaluates rules over it in memory,
// without a server or a database.
//
// It uses the collectors and the evaluator of the server. It collects only the resource
// types that the rules read, because others cannot change the results.
package scan

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/evaluate"
)

// Options configure a scan.
type Options struct {
	Source collect.Source
	Access posture.Access
	Rules  []posture.Rule // those of other clouds are ignored

	// Regions restricts an AWS account to some regions; global resources are read too.
	// If empty, all enabled regions are read.
	Regions []string
	// AllTypes collects every resource type, not only those that the rules read. Risk
	// scores may then be higher, because they count the resources that are reachable
	// from a resource.
	AllTypes bool
	// Parallel is the number of concurrent collectors, 32 if zero: the scan has the
	// machine for itself, and the source keeps the rate limits of the clouds.
	Parallel int
	// Progress, if not nil, is called after each unit of the collection, by one goroutine at a time.
	Progress func(collect.Progress)
	// Each, if not nil, is called for every entity that is read, by one goroutine at a
	// time.
	Each func(posture.Entity) error
	Log  *slog.Logger
	Now  func() time.Time
}

// A Result is the result of a scan.
type Result struct {
	Account  posture.Account
	Outcome  collect.Outcome
	Rules    []posture.Rule // the evaluated rules
	Findings []posture.Finding
	Verdicts map[posture.RuleID]posture.ControlPosture
	Broken   []*evaluate.RuleError // rules that could not be evaluated: unknown for all resources
	Started  time.Time
	Ended    time.Time
}

// Run scans an account. It fails if the account cannot be accessed or none of it can be
// read. Resources that could not be read are in the outcome, and make rules that need
// them unknown.
func Run(ctx context.Context, o Options) (Result, error) {
	provider := o.Access.Account.Provider
	r := Result{Account: o.Access.Account, Started: o.Now(), Verdicts: map[posture.RuleID]posture.ControlPosture{}}
	for _, rule := range o.Rules {
		if rule.Provider == provider && rule.Status == posture.RuleEnabled {
			r.Rules = append(r.Rules, rule)
		}
	}
	if len(r.Rules) == 0 {
		return r, fault.New(fault.Invalid, "none of the selected rules is for %s", provider)
	}
	read := newInventory(o.Each, o.Now)
	evaluator := evaluate.New(catalog.Schema(o.Source.Declarations()), read, o.Now)
	scope := posture.RunScope{}
	if !o.AllTypes {
		scope.Types = typesOf(evaluator, r.Rules, provider)
	}
	if len(o.Regions) > 0 {
		scope.Regions = append(slices.Clone(o.Regions), posture.Global)
	}
	source := &regionalSource{Source: o.Source, requested: o.Regions, known: map[string]bool{}}
	runner := &collect.Runner{
		Sources: map[posture.Provider]collect.Source{provider: source}, Recorder: read, Parallel: cmp.Or(o.Parallel, 32), Log: o.Log,
	}
	r.Outcome = runner.Run(ctx, o.Access, scope, o.Progress)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if r.Outcome.Status == posture.RunFailed || r.Outcome.Status == posture.RunTimeout {
		return r, fault.New(fault.Unavailable, "account %s could not be read: %s%s", r.Account.ID, r.Outcome.Reason, firstProblem(r.Outcome))
	}
	if err := checkRegions(o, source.known); err != nil {
		return r, err
	}
	err := r.judge(ctx, evaluator, read)
	r.Ended = o.Now()
	return r, err
}

// judge evaluates the rules over the inventory.
func (r *Result) judge(ctx context.Context, e *evaluate.Evaluator, read *inventory) error {
	g, err := read.graph()
	if err != nil {
		return fmt.Errorf("build the graph: %w", err)
	}
	judgement, broken, err := e.Judge(ctx, evaluate.Account{
		ID: r.Account.ID, Provider: r.Account.Provider, Graph: g, Generation: 1, Coverage: read.coverage(),
	}, r.Rules)
	if err != nil {
		return err
	}
	r.Broken = broken
	notListed := map[posture.EntityType]int{}
	for _, c := range read.coverage() {
		if !c.Current() {
			notListed[c.Type]++
		}
	}
	for i, rule := range judgement.Rules {
		verdict := posture.ControlPosture{Violating: len(rule.Violating), Passing: rule.Passing, Unknown: len(rule.Unknown), NotApplicable: rule.NotApplicable}
		if readSet, err := e.ReadSet(r.Rules[i].Query); err == nil { // rules with an invalid query are in r.Broken
			for _, t := range readSet.Subjects {
				verdict.NotListed += notListed[t]
			}
		}
		r.Verdicts[rule.Rule] = verdict
		for _, raised := range rule.Violating {
			f := raised.Finding
			f.Created, f.Updated = judgement.At, judgement.At
			r.Findings = append(r.Findings, f)
		}
	}
	slices.SortFunc(r.Findings, func(a, b posture.Finding) int {
		return cmp.Or(cmp.Compare(b.Risk.Score, a.Risk.Score), strings.Compare(string(a.Rule), string(b.Rule)), strings.Compare(string(a.Object), string(b.Object)))
	})
	return nil
}

// typesOf returns the types of a cloud that rules read. It ignores rules with an
// invalid query, which the evaluation reports.
func typesOf(e *evaluate.Evaluator, rules []posture.Rule, p posture.Provider) []posture.EntityType {
	seen := map[posture.EntityType]bool{}
	var types []posture.EntityType
	for _, r := range rules {
		readSet, err := e.ReadSet(r.Query)
		if err != nil {
			continue
		}
		for _, t := range readSet.Types {
			if !seen[t] && t.Provider() == p {
				seen[t] = true
				types = append(types, t)
			}
		}
	}
	return types
}

// A regionalSource is a source that records which regions an account has enabled: those of all
// units, also of units that the scan does not read because no rule needs their types.
type regionalSource struct {
	collect.Source
	requested []string
	known     map[string]bool // the regions of the units of the last session
}

// Open implements [collect.Source]. If the credentials may not list the regions, the session
// assumes that the requested ones are enabled.
func (s *regionalSource) Open(ctx context.Context, a posture.Access) (collect.Session, error) {
	a.Account.Collection.Regions = s.requested
	session, err := s.Source.Open(ctx, a)
	if err != nil {
		return nil, err
	}
	return regionalSession{session, s.known}, nil
}

type regionalSession struct {
	collect.Session
	known map[string]bool
}

// Units implements [collect.Session].
func (s regionalSession) Units(ctx context.Context) ([]collect.Unit, error) {
	units, err := s.Session.Units(ctx)
	for _, u := range units {
		s.known[u.Region] = true
	}
	return units, err
}

// checkRegions fails if a requested region is not enabled: the absence of findings would
// otherwise look like a clean region.
func checkRegions(o Options, enabled map[string]bool) error {
	for _, region := range o.Regions {
		if !enabled[region] {
			return fault.New(fault.Invalid, "region %s is not enabled in account %s", region, o.Access.Account.ID)
		}
	}
	return nil
}

// firstProblem returns one reason why nothing could be read.
func firstProblem(o collect.Outcome) string {
	if len(o.Unread) == 0 || o.Unread[0].Why == o.Reason {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", o.Unread[0].Type, o.Unread[0].Why)
}
