package scan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
	"vigil/internal/posture/scan"
)

// TestVerdictsUnderFaultPlans records what the collectors of an account read from a
// simulated cloud, then reads the same answers again under random faults: calls are
// denied or throttled, answers are truncated, and lists end before their last page.
// The verdict of a rule on a resource may become unknown, but must not change from
// pass to violation or back.
//
// Half of the plans read an account that was never read before, as a scan does; the
// others keep what a complete collection read, as the server does.
// VIGIL_FAULT_PLANS is the number of plans for all clouds together.
func TestVerdictsUnderFaultPlans(t *testing.T) {
	plans := 24
	if text := os.Getenv("VIGIL_FAULT_PLANS"); text != "" {
		var err error
		if plans, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	c := simulate(t)
	c.useAWS(t)
	c.useAzure(t)
	c.useGCP(t)
	for _, p := range []posture.Provider{posture.AWS, posture.Azure, posture.GCP} {
		t.Run(string(p), func(t *testing.T) {
			r := record(t, c, p)
			r.run(t, plans/3)
		})
	}
}

// A recorded account holds the answers to all calls of a collection, and the verdicts on
// what was read.
type recorded struct {
	provider  posture.Provider
	vars      resource.Vars
	regions   []string
	answers   map[string]collect.TracedCall // by callKey
	calls     []string                      // the kinds of call: TracedCall.Call, distinct and sorted
	evaluator *evaluate.Evaluator
	lookup    *lookup
	rules     []posture.Rule
	whole     snapshot
	verdicts  map[posture.RuleID]ruleVerdict
}

// A snapshot holds the entities of an account and which scopes were read completely.
type snapshot struct {
	entities map[posture.EntityID]posture.Entity
	coverage map[collect.Scoped]posture.Coverage
	scopes   map[posture.EntityID]collect.Scoped
}

type ruleVerdict struct{ violating, unknown map[posture.EntityID]bool }

func callKey(region, address string, input []byte) string {
	return region + "\n" + address + "\n" + string(input)
}

// record reads an account of a simulated cloud over HTTP once.
func record(t *testing.T, c *clouds, p posture.Provider) *recorded {
	t.Helper()
	var targets []scan.Target
	var err error
	switch p {
	case posture.AWS:
		targets, err = scan.AWS{Gateway: c.gateway}.Targets(t.Context())
	case posture.Azure:
		targets, err = scan.Azure{Gateway: c.gateway}.Targets(t.Context())
	case posture.GCP:
		targets, err = scan.GCP{Gateway: c.gateway}.Targets(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, targets[0])
	r := &recorded{provider: p, answers: map[string]collect.TracedCall{}, regions: []string{posture.Global}, lookup: &lookup{}}
	if p == posture.AWS {
		o.Regions = []string{"us-east-1"}
		r.regions = append(r.regions, "us-east-1")
	}
	o.AllTypes = true
	var mu sync.Mutex
	got, err := scan.Run(collect.WithTrace(t.Context(), func(call collect.TracedCall) {
		mu.Lock()
		defer mu.Unlock()
		r.answers[callKey(call.Region, call.Address, call.Input)] = call
	}), o)
	if err != nil {
		t.Fatal(err)
	}
	r.vars = varsOf(t, c, p, got.Account.ID)
	for _, call := range r.answers {
		r.calls = append(r.calls, call.Call)
	}
	slices.Sort(r.calls)
	r.calls = slices.Compact(r.calls)
	r.rules = got.Rules
	r.evaluator = evaluate.New(catalog.Schema(targets[0].Source.Declarations()), r.lookup, func() time.Time { return today })
	missing := map[string]bool{}
	r.whole = r.read(t, &plan{}, nil, func(key string) { missing[key] = true })
	if len(missing) > 0 {
		t.Fatalf("%d calls were not recorded, such as %q", len(missing), slices.Sorted(maps.Keys(missing))[0])
	}
	r.verdicts = r.judge(t, r.whole)
	violations := 0
	for _, v := range r.verdicts {
		violations += len(v.violating)
	}
	if violations == 0 || len(r.whole.entities) < 50 {
		t.Fatalf("%d violations of %d entities", violations, len(r.whole.entities))
	}
	t.Logf("%d calls of %d kinds, %d entities, %d rules, %d violations", len(r.answers), len(r.calls), len(r.whole.entities), len(r.rules), violations)
	return r
}

func varsOf(t *testing.T, c *clouds, p posture.Provider, account posture.AccountID) resource.Vars {
	t.Helper()
	switch p {
	case posture.AWS:
		return resource.Vars{Account: account, Partition: "aws"}
	case posture.Azure:
		for _, s := range c.azure.Subscriptions() {
			if strings.EqualFold(s.ID, string(account)) {
				return resource.Vars{Account: account, Tenant: s.Tenant}
			}
		}
	case posture.GCP:
		for _, project := range c.gcp.Projects() {
			if project.ID == string(account) {
				return resource.Vars{Account: account, Number: project.Number}
			}
		}
	}
	t.Fatalf("the cloud has no account %s", account)
	return resource.Vars{}
}

// run evaluates the rules under a number of plans.
func (r *recorded) run(t *testing.T, plans int) {
	t.Helper()
	flips := map[string]int{}
	hit, unknown := 0, 0
	for i := range plans {
		random := rand.New(rand.NewPCG(20261117, uint64(i)))
		p := r.newPlan(random)
		var before *snapshot
		if i%2 == 1 {
			before = &r.whole
		}
		read := r.read(t, p, before, nil)
		hit += p.hits
		after := r.judge(t, read)
		for _, rule := range r.rules {
			unknown += len(after[rule.ID].unknown)
			for _, flip := range r.flips(rule.ID, read, after[rule.ID]) {
				// Report each flip once, and at most 40 of them.
				if flips[string(rule.ID)+flip]++; flips[string(rule.ID)+flip] == 1 && len(flips) <= 40 {
					t.Errorf("plan %d: rule %s: %s\n%s", i, rule.ID, flip, p)
				}
			}
		}
	}
	t.Logf("%d plans, %d calls failed, %d verdicts unknown, %d distinct flips", plans, hit, unknown, len(flips))
	if plans > 0 && (hit == 0 || unknown == 0) {
		t.Errorf("%d calls failed and %d verdicts are unknown: the plans test nothing", hit, unknown)
	}
}

// flips describes the verdicts of a rule that changed other than to unknown, compared
// with those on the complete account.
func (r *recorded) flips(rule posture.RuleID, read snapshot, now ruleVerdict) (all []string) {
	was := r.verdicts[rule]
	for id := range was.violating {
		switch scope := r.whole.scopes[id]; {
		case now.violating[id] || now.unknown[id]:
		case read.entities[id].ID != "":
			all = append(all, fmt.Sprintf("%s violated it and passes", id))
		case read.coverage[scope].Current():
			all = append(all, fmt.Sprintf("%s is lost, although %s was read completely", id, scope.Type))
		}
	}
	for id := range now.violating {
		if !was.violating[id] && !was.unknown[id] {
			all = append(all, fmt.Sprintf("%s passed and violates it", id))
		}
	}
	slices.Sort(all)
	return all
}

// read reads all types under a plan. If before is not nil, entities in it that are not read
// again are kept, unless their list was complete. missing, if not nil, gets the key of every
// call that was not recorded.
func (r *recorded) read(t *testing.T, p *plan, before *snapshot, missing func(string)) snapshot {
	t.Helper()
	types := declared.Catalog()
	out := snapshot{entities: map[posture.EntityID]posture.Entity{}, coverage: map[collect.Scoped]posture.Coverage{}, scopes: map[posture.EntityID]collect.Scoped{}}
	answers := collect.NewAnswers()
	for _, region := range r.regions {
		vars := r.vars
		vars.Region = region
		reader := &collect.Reader{
			Catalog: types, Answers: answers, Transport: &replay{recorded: r, region: region, plan: p, missing: missing},
			Context: resource.Context{Vars: vars, Cloud: naming.Of(r.provider, types)},
		}
		if r.provider == posture.Azure {
			reader.Answers = nil // the Azure collector does not cache answers either
		}
		for _, declaration := range types.Of(r.provider) {
			isPerRegion, isRegion := declaration.Scope == resource.PerRegion, region != posture.Global
			if isPerRegion != isRegion {
				continue // types per account are read in the region Global only, types per region in all others
			}
			scope := collect.Scoped{Type: declaration.Type, Region: region}
			c := posture.Coverage{Type: scope.Type, Region: region, Generation: 1}
			found := map[posture.EntityID]posture.Entity{}
			err := reader.List(t.Context(), declaration, collect.Emit(func(res *collect.Resource) error {
				res.Normalize()
				found[res.Entity.ID] = res.Entity
				return nil
			}).Serial())
			if err == nil || errors.Is(err, collect.ErrOff) {
				c.Succeeded = today
			} else {
				c.Failed = today
				if before != nil {
					c.Succeeded = today.Add(-time.Hour)
					for id, e := range before.entities {
						if _, ok := found[id]; !ok && before.scopes[id] == scope {
							found[id] = e
						}
					}
				}
			}
			regions := map[string]bool{}
			for id, e := range found {
				out.entities[id], out.scopes[id] = e, scope
				regions[e.Region] = true
			}
			c.Regions = slices.Sorted(maps.Keys(regions))
			out.coverage[scope] = c
		}
	}
	return out
}

// judge evaluates all rules.
func (r *recorded) judge(t *testing.T, s snapshot) map[posture.RuleID]ruleVerdict {
	t.Helper()
	builder := graph.NewBuilder(graph.Limits{})
	for _, id := range slices.Sorted(maps.Keys(s.entities)) {
		e := s.entities[id]
		if err := builder.Add(graphcache.Record(&e)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	r.lookup.entities = s.entities
	judgement, broken, err := r.evaluator.Judge(t.Context(), evaluate.Account{
		ID: r.vars.Account, Provider: r.provider, Graph: g, Generation: 1, Coverage: slices.Collect(maps.Values(s.coverage)),
	}, r.rules)
	if err != nil || len(broken) > 0 {
		t.Fatal(err, broken)
	}
	all := map[posture.RuleID]ruleVerdict{}
	for _, rule := range judgement.Rules {
		v := ruleVerdict{map[posture.EntityID]bool{}, map[posture.EntityID]bool{}}
		for _, raised := range rule.Violating {
			v.violating[raised.Finding.Object] = true
		}
		for _, id := range rule.Unknown {
			v.unknown[id] = true
		}
		all[rule.Rule] = v
	}
	return all
}

// lookup implements [evaluate.Lookup].
type lookup struct {
	entities map[posture.EntityID]posture.Entity
}

func (l *lookup) EntitiesOf(_ context.Context, _ posture.OrgID, _ posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error) {
	found := map[posture.EntityID]posture.Entity{}
	for _, id := range ids {
		if e, ok := l.entities[id]; ok {
			found[id] = e
		}
	}
	return found, nil
}

// A plan is a set of faults.
type plan struct {
	faults []planned
	mu     sync.Mutex
	hits   int
}

// A planned fault applies to one kind of call, or to a part of all calls.
type planned struct {
	call string // "" for any
	kind string // denied, throttled, truncated (fails without a page), half (fails after half of the pages)
	rate uint64 // percentage of the calls that fail
	salt uint64 // selects the calls that fail
}

func (p *plan) String() string {
	var out []string
	for _, f := range p.faults {
		out = append(out, fmt.Sprintf("%d %% of %q are %s", f.rate, f.call, f.kind))
	}
	return strings.Join(out, "\n")
}

func (r *recorded) newPlan(random *rand.Rand) *plan {
	p := &plan{}
	for range 1 + random.IntN(6) {
		f := planned{kind: []string{"denied", "throttled", "truncated", "half"}[random.IntN(4)], rate: []uint64{100, 100, 50, 20}[random.IntN(4)], salt: random.Uint64()}
		if random.IntN(5) > 0 {
			f.call = r.calls[random.IntN(len(r.calls))]
		} else {
			f.rate = []uint64{2, 10, 40}[random.IntN(3)]
		}
		p.faults = append(p.faults, f)
	}
	return p
}

// fault returns the fault of a call. It depends only on the call, not on the order of calls.
func (p *plan) fault(call, key string) string {
	for _, f := range p.faults {
		if f.call != "" && f.call != call {
			continue
		}
		hash := f.salt // FNV-1a with the salt as its offset
		for i := range len(key) {
			hash = (hash ^ uint64(key[i])) * 1099511628211
		}
		if (hash>>20)%100 < f.rate {
			p.mu.Lock()
			p.hits++
			p.mu.Unlock()
			return f.kind
		}
	}
	return ""
}

// replay answers calls with what was recorded, or with the fault of a plan.
type replay struct {
	*recorded
	region  string
	plan    *plan
	missing func(string)
}

// Pages implements [collect.Transport].
func (r *replay) Pages(_ context.Context, q *resource.Request, address string, input []byte, page func(gjson.Result) error) error {
	key := callKey(r.region, address, input)
	answer, ok := r.answers[key]
	if !ok {
		if r.missing != nil {
			r.missing(key)
		}
		return &refused{collect.ErrDenied, "AccessDenied"} // asked only because another call failed
	}
	pages, failure := answer.Pages, answer.Err
	switch r.plan.fault(q.Call, key) {
	case "denied":
		return &refused{collect.ErrDenied, "AccessDenied"}
	case "throttled":
		return &refused{collect.ErrThrottled, "ThrottlingException"}
	case "truncated":
		return errors.New("unexpected end of the answer")
	case "half":
		if len(pages) == 0 {
			return &refused{collect.ErrThrottled, "ThrottlingException"}
		}
		pages, failure = halve(pages), &refused{collect.ErrThrottled, "ThrottlingException"}
	}
	for _, one := range pages {
		if err := page(one); err != nil {
			return err
		}
	}
	return failure
}

// halve returns the first half of the pages. Of a single page, it keeps the first half of each list.
func halve(pages []gjson.Result) []gjson.Result {
	if len(pages) > 1 {
		return pages[:len(pages)/2]
	}
	var members map[string]any
	if json.Unmarshal([]byte(pages[0].Raw), &members) != nil {
		return nil // not an object
	}
	for name, value := range members {
		if list, ok := value.([]any); ok {
			members[name] = list[:len(list)/2]
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return []gjson.Result{gjson.ParseBytes(text)}
}

// refused is an error of a cloud.
type refused struct {
	kind error
	code string
}

func (e *refused) Error() string     { return e.kind.Error() }
func (e *refused) ErrorCode() string { return e.code }
func (e *refused) Unwrap() error     { return e.kind }
