package judge_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/sqldb/dbtest"
)

// TestAnySequenceOfJudgementsLeadsToTheSameFindings applies random changes to an account:
// resources and scopes are read completely or partially, scopes fail, rules are added,
// changed and removed. Two organisations get the same changes. The first is judged
// incrementally, by two independent judges; the second is judged completely each time.
// Both must have the same findings and the same counts.
func TestAnySequenceOfJudgementsLeadsToTheSameFindings(t *testing.T) {
	t.Parallel()
	sequences := 15
	if os.Getenv("VIGIL_TORTURE") != "" {
		sequences = 1000
	}
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		db := open(t, dsn)
		for seed := range sequences {
			h := &history{
				t: t, r: rand.New(rand.NewPCG(uint64(seed), 6)), clock: begin, rules: map[posture.RuleID]posture.Rule{}, cloud: map[posture.EntityID]posture.Entity{}, drawn: map[posture.EntityID][]posture.Entity{},
			}
			h.incremental = newFixture(t, db, posture.OrgID(fmt.Sprint("incremental-", seed)), 2, &h.clock)
			h.complete = newFixture(t, db, posture.OrgID(fmt.Sprint("complete-", seed)), 1, &h.clock)
			for step := range 20 {
				h.clock = h.clock.Add(36 * time.Hour)
				what := h.happen()
				if h.r.IntN(4) == 0 {
					continue // let several changes accumulate before the next judgement
				}
				h.judge()
				if diff := cmp.Diff(h.complete.state(), h.incremental.state(), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("sequence %d, step %d, after %s (-complete +incremental):\n%s", seed, step, what, diff)
				}
			}
		}
	})
}

// A history makes the same random changes to an account of each of two organisations.
type history struct {
	t                     *testing.T
	r                     *rand.Rand
	clock                 time.Time
	incremental, complete *fixture // the same account, judged in two ways
	rules                 map[posture.RuleID]posture.Rule
	cloud                 map[posture.EntityID]posture.Entity   // current state
	drawn                 map[posture.EntityID][]posture.Entity // all states drawn so far, to be restored at random
	changed               []posture.RuleID                      // rules that were not judged since their change
}

// happen makes a random change and returns its description.
func (h *history) happen() string {
	kind := kinds[h.r.IntN(len(kinds))]
	region := regions[h.r.IntN(len(regions))]
	if h.r.IntN(3) > 0 { // the cloud changes
		for range 1 + h.r.IntN(3) {
			h.change()
		}
	}
	scope := posture.Scope{Account: account, Type: kind, Region: region}
	switch h.r.IntN(10) {
	case 0, 1, 2, 3:
		return h.reread(scope)
	case 4, 5:
		return h.read(scope, true)
	case 6:
		return h.read(scope, false)
	case 7:
		return h.fail(scope)
	default:
		return h.rule()
	}
}

// change adds, changes or removes a resource, or restores a former state: a change that
// is undone before the next read must not have any effect.
func (h *history) change() {
	e := h.draw()
	if drawn := h.drawn[e.ID]; len(drawn) > 0 && h.r.IntN(2) == 0 {
		e = drawn[h.r.IntN(len(drawn))]
	}
	h.drawn[e.ID] = append(h.drawn[e.ID], e)
	if _, ok := h.cloud[e.ID]; ok && h.r.IntN(4) == 0 {
		delete(h.cloud, e.ID)
		return
	}
	h.cloud[e.ID] = e
}

// draw returns a random resource with edges to some of the others.
func (h *history) draw() posture.Entity {
	kind := kinds[h.r.IntN(len(kinds))]
	e := entity(kind, regions[h.r.IntN(len(regions))], h.r.IntN(3))
	flag := func(name string) {
		switch h.r.IntN(4) {
		case 0, 1:
			e.Properties = append(e.Properties, posture.Flag(name, h.r.IntN(2) == 0))
		case 2:
			e.Properties = append(e.Properties, posture.Unknown(name, "denied"))
		}
	}
	link := func(label string, to posture.EntityType) {
		for n := range 3 {
			if h.r.IntN(3) == 0 {
				e.Edges = append(e.Edges, posture.Edge{Label: label, To: entity(to, e.Region, n).ID})
			}
		}
	}
	switch kind {
	case hostType:
		flag("monitored")
		e.Properties = append(e.Properties, posture.Text("launchTime", begin.AddDate(0, 0, -h.r.IntN(40)).Format(time.RFC3339)))
		if h.r.IntN(2) == 0 {
			e.Properties = append(e.Properties, posture.Text("publicIpAddress", "198.51.100.7"))
			e.Tags = map[string]string{"env": []string{"prod", "test"}[h.r.IntN(2)]}
		}
		link("MEMBER_OF", groupType)
	case groupType:
		link("ALLOWS_INGRESS", rangeType)
	case rangeType:
		flag("isInternet")
	}
	e.Normalize()
	return e
}

// doBoth changes both organisations.
func (h *history) doBoth(do func(f *fixture) error) {
	h.t.Helper()
	for _, f := range []*fixture{h.incremental, h.complete} {
		if err := do(f); err != nil {
			h.t.Fatal(err)
		}
	}
}

// reread reads single resources, as after an event.
func (h *history) reread(scope posture.Scope) string {
	var found []posture.Entity
	var removed []posture.EntityID
	for n := range 3 {
		if h.r.IntN(2) == 0 {
			continue
		}
		id := entity(scope.Type, scope.Region, n).ID
		if e, ok := h.cloud[id]; ok {
			found = append(found, e)
		} else {
			removed = append(removed, id)
		}
	}
	h.doBoth(func(f *fixture) error {
		return f.store.Replace(h.t.Context(), f.in(scope), posture.ChangeOrigin{}, found, removed)
	})
	return fmt.Sprintf("reading %d of %s %s again", len(found)+len(removed), scope.Type, scope.Region)
}

// read reads a scope completely, or partially: only the first resource.
func (h *history) read(scope posture.Scope, complete bool) string {
	var found []posture.Entity
	for n := range 3 {
		if e, ok := h.cloud[entity(scope.Type, scope.Region, n).ID]; ok && (complete || n == 0) {
			found = append(found, e)
		}
	}
	h.doBoth(func(f *fixture) error {
		r, err := f.store.Begin(h.t.Context(), collect.Scoped(f.in(scope)))
		if err != nil {
			return err
		}
		for _, e := range found {
			if err := r.Put(h.t.Context(), e); err != nil {
				return err
			}
		}
		return r.Commit(h.t.Context(), complete)
	})
	return fmt.Sprintf("reading %s %s, complete %v", scope.Type, scope.Region, complete)
}

func (h *history) fail(scope posture.Scope) string {
	h.doBoth(func(f *fixture) error { return f.store.ScopeFailed(h.t.Context(), f.in(scope), "denied") })
	return fmt.Sprintf("failing to read %s %s", scope.Type, scope.Region)
}

// rule adds, changes or removes a rule.
func (h *history) rule() string {
	id := posture.RuleID(fmt.Sprint("rule-", h.r.IntN(len(texts))))
	r, ok := h.rules[id]
	if ok && h.r.IntN(4) == 0 {
		delete(h.rules, id)
		h.doBoth(func(f *fixture) error {
			_, err := f.store.DeleteRule(h.t.Context(), f.org, id, "", h.clock)
			return err
		})
		return "deleting " + string(id)
	}
	if !ok {
		r = newRule(id)
	}
	r.Version++
	if r.Version > 1 {
		r.Level = posture.RuleLevels[h.r.IntN(len(posture.RuleLevels))]
		r.Status = posture.RuleStatuses[h.r.IntN(len(posture.RuleStatuses))]
	}
	h.rules[id] = r
	h.doBoth(func(f *fixture) error { return f.store.SaveRule(h.t.Context(), f.org, r, "ada") })
	h.changed = append(h.changed, id)
	return "changing " + string(id)
}

// judge judges one organisation incrementally, each step by a random one of its judges,
// and the other completely.
func (h *history) judge() {
	h.t.Helper()
	changed := slices.Clone(h.changed)
	h.changed = nil
	pick := func() int { return h.r.IntN(len(h.incremental.judges)) }
	// The changes of resources are judged before those of rules, after them, or both.
	first := h.r.IntN(2) == 0
	if first {
		h.requireNoError(h.incremental.judges[pick()].Change(h.t.Context(), h.incremental.org, account))
	}
	for _, id := range changed {
		h.requireNoError(h.incremental.judges[pick()].Rule(h.t.Context(), h.incremental.org, id))
	}
	if !first || h.r.IntN(2) == 0 {
		h.requireNoError(h.incremental.judges[pick()].Change(h.t.Context(), h.incremental.org, account))
	}
	h.requireNoError(h.complete.judges[0].Account(h.t.Context(), h.complete.org, account))
}

func (h *history) requireNoError(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}
