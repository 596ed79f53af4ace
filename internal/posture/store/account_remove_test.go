package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitygen"
	"vigil/internal/posture/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestLargeAccountIsRemovedInBatches removes an account with too many entities and
// findings for one transaction, and adds it again before the removal has finished.
// RemoveAccount resolves 2,000 findings at once; RemoveSome resolves 500 at a time.
func TestLargeAccountIsRemovedInBatches(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		jobs := new(enqueued)
		r := removalTest{t, store.New(db, secrettest.NewBox(t), jobs)}
		large, small := entitygen.New(0, 2600), entitygen.New(1, 60)
		r.add(large)
		r.add(small)
		initial := r.counts(small)
		r.raise(large, 2100)

		removed, oldGeneration := r.first(large), r.generation(large)
		if err := r.store.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error { return tx.RemoveAccount(large.ID) }); err != nil {
			t.Fatal(err)
		}
		// The fake queue records the removal of an account by its id with this prefix.
		if want := []string{"remove " + string(large.ID)}; !slices.Equal(jobs.all(), want) {
			t.Errorf("the jobs are %v, want %v", jobs.all(), want)
		}
		requireRemoved := func(when string) {
			t.Helper()
			if got := r.counts(large); got != (counts{}) {
				t.Errorf("%s the account has %+v", when, got)
			}
			if got := r.counts(small); got != initial {
				t.Errorf("%s the other account has %+v, want %+v", when, got, initial)
			}
			if _, err := r.store.Entity(t.Context(), "org", removed.ID); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s an entity is found: %v", when, err)
			}
			if got := r.history(removed.ID); got != 2 {
				t.Errorf("%s the change log has %d entries, want those of the addition and the removal", when, got)
			}
		}
		requireRemoved("right after the removal")
		if n := r.open(large); n != 100 {
			t.Errorf("%d findings are left to be resolved, want 100", n)
		}
		for range 2 { // stop before the last batch, as if the process crashed
			if more, err := r.store.RemoveSome(t.Context(), "org", large.ID); err != nil || !more {
				t.Fatalf("more is %v, %v", more, err)
			}
			requireRemoved("between batches")
		}

		r.onboard(large)
		requireRemoved("after it was added again")
		newGeneration := r.generation(large)
		if newGeneration <= oldGeneration {
			t.Errorf("after it was added again the account has generation %d, before it was removed %d", newGeneration, oldGeneration)
		}
		read, err := r.store.EachEntity(t.Context(), "org", large.ID, func(e posture.Entity) error { return fmt.Errorf("%s still exists", e.ID) })
		if err != nil || read != newGeneration {
			t.Errorf("read generation %d, want %d: %v", read, newGeneration, err)
		}
		if _, ok, err := r.store.ChangesSince(t.Context(), "org", large.ID, oldGeneration); ok || err != nil {
			t.Errorf("the changes since a generation before the removal are known: %v, %v", ok, err)
		}
		scope := posture.Scope{Org: "org", Account: large.ID, Type: removed.Type, Region: removed.Region}
		if err := r.store.Replace(t.Context(), scope, posture.ChangeOrigin{}, []posture.Entity{removed}, nil); !fault.Is(err, fault.Unavailable) {
			t.Errorf("an entity is written while old ones are removed: %v", err)
		}
		r.collect(large)
		if n := r.open(large); n != 0 {
			t.Errorf("%d former findings are open", n)
		}
		if more, err := r.store.RemoveSome(t.Context(), "org", large.ID); err != nil || more {
			t.Errorf("after the next collection there is more to remove: %v, %v", more, err)
		}
		if got := r.counts(large); got.all < 2000 || got.tagged == 0 {
			t.Errorf("after the next collection the account has %+v", got)
		}
		if got := r.history(removed.ID); got != 3 {
			t.Errorf("the change log has %d entries after the entity was added again, want 3", got)
		}
		if err := db.IntegrityCheck(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestRemovedAccountHasNoOpenFindings removes an account between its evaluation and the
// recording of the judgement, and during the recording.
func TestRemovedAccountHasNoOpenFindings(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		r := removalTest{t, store.New(db, secrettest.NewBox(t), new(enqueued))}
		account := entitygen.New(0, 60)
		remove := func() error {
			return r.store.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error { return tx.RemoveAccount(account.ID) })
		}
		// observe records a violation; the store calls during while it does so.
		observe := func(generation int64, during func()) error {
			rule := posture.RuleJudgement{Rule: "rule", Violating: []posture.Raised{{
				Finding: posture.Finding{Provider: account.Provider, Object: "it", Level: posture.LevelHigh},
				Blob:    func() string { during(); return "{}" },
			}}}
			_, err := r.store.Observe(t.Context(), "org", posture.Judgement{
				Account: account.ID, Generation: generation, RulesAt: posture.AnyRules, At: time.Now(), Rules: []posture.RuleJudgement{rule},
			})
			return err
		}

		r.add(account)
		generation := r.generation(account)
		removed := make(chan error, 1)
		if err := observe(generation, func() {
			go func() { removed <- remove() }()
			time.Sleep(300 * time.Millisecond) // without a lock the removal is committed before the judgement
		}); err != nil {
			t.Fatal(err)
		}
		if err := <-removed; err != nil {
			t.Fatal(err)
		}
		if n := r.open(account); n != 0 {
			t.Errorf("%d findings of an account that was removed during the recording are open", n)
		}

		r.add(account)
		generation = r.generation(account)
		if err := remove(); err != nil {
			t.Fatal(err)
		}
		if err := observe(generation, func() {}); !fault.Is(err, fault.Stale) {
			t.Errorf("a judgement of the removed account is recorded: %v", err)
		}
		if n := r.open(account); n != 0 {
			t.Errorf("%d findings of an account that was removed before the recording are open", n)
		}

		r.add(account)
		if err := observe(r.generation(account), func() {}); err != nil {
			t.Errorf("judge the account after it was added again: %v", err)
		}
	})
}

type removalTest struct {
	t     *testing.T
	store *store.Store
}

func (r removalTest) add(a entitygen.Account) {
	r.onboard(a)
	r.collect(a)
}

func (r removalTest) onboard(a entitygen.Account) {
	r.t.Helper()
	if err := r.store.Onboard(r.t.Context(), "org", func(tx posture.OnboardingTx) error {
		return tx.AddAccount(posture.Account{ID: a.ID, Provider: a.Provider})
	}); err != nil {
		r.t.Fatal(err)
	}
}

// collect records all entities of an account.
func (r removalTest) collect(a entitygen.Account) {
	r.t.Helper()
	for _, u := range a.Units() {
		rec, err := r.store.Begin(r.t.Context(), collect.Scoped{Org: "org", Account: a.ID, Type: u.Type, Region: u.Region})
		if err != nil {
			r.t.Fatal(err)
		}
		for e := range u.Each {
			if err := rec.Put(r.t.Context(), e); err != nil {
				r.t.Fatal(err)
			}
		}
		if err := rec.Commit(r.t.Context(), true); err != nil {
			r.t.Fatal(err)
		}
	}
}

// raise creates findings of an account.
func (r removalTest) raise(a entitygen.Account, n int) {
	r.t.Helper()
	rule := posture.RuleJudgement{Rule: "rule"}
	for i := range n {
		rule.Violating = append(rule.Violating, posture.Raised{Finding: posture.Finding{
			Provider: a.Provider, Object: posture.EntityID(fmt.Sprint("it", i)), Level: posture.LevelHigh,
		}, Blob: func() string { return "{}" }})
	}
	const generation = 1000 // newer than all entities of the test
	if _, err := r.store.Observe(r.t.Context(), "org", posture.Judgement{
		Account: a.ID, Generation: generation, RulesAt: posture.AnyRules, At: time.Now(), Rules: []posture.RuleJudgement{rule},
	}); err != nil {
		r.t.Fatal(err)
	}
}

// first returns one entity of an account.
func (r removalTest) first(a entitygen.Account) posture.Entity {
	r.t.Helper()
	page, err := r.store.Entities(r.t.Context(), "org", posture.EntityFilter{Accounts: []string{string(a.ID)}}, posture.Page{Size: 1})
	if err != nil || len(page.Entities) == 0 {
		r.t.Fatalf("%d entities, %v", len(page.Entities), err)
	}
	return page.Entities[0]
}

// counts are the numbers of an account's entities that different queries find.
type counts struct{ all, tagged, aggregated, byTag int }

func (r removalTest) counts(a entitygen.Account) (c counts) {
	r.t.Helper()
	env := posture.Attribute{Kind: posture.TagAttribute, Name: "env"}
	account := posture.Attribute{Kind: posture.FieldAttribute, Name: posture.FieldAccount}
	for _, each := range []struct {
		target *int
		filter posture.EntityFilter
	}{
		{&c.all, posture.EntityFilter{Accounts: []string{string(a.ID)}}},
		{&c.tagged, posture.EntityFilter{Where: posture.AllOf{posture.Equal{Attribute: env, Value: "prod"}, posture.Equal{Attribute: account, Value: string(a.ID)}}}},
	} {
		page, err := r.store.Entities(r.t.Context(), "org", each.filter, posture.Page{Size: 1})
		if err != nil {
			r.t.Fatal(err)
		}
		*each.target = page.Total
	}
	_, found, err := r.store.Aggregate(r.t.Context(), "org", posture.EntityFilter{}, map[string]posture.Aggregation{
		"accounts": {Of: account}, "tags": {Of: env, Sub: map[string]posture.Aggregation{"accounts": {Of: account}}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	c.aggregated = found["accounts"][string(a.ID)].Count
	for _, b := range found["tags"] {
		c.byTag += b.Sub["accounts"][string(a.ID)].Count
	}
	return c
}

func (r removalTest) generation(a entitygen.Account) int64 {
	r.t.Helper()
	generation, err := r.store.Generation(r.t.Context(), "org", a.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return generation
}

// history returns the length of an entity's change log.
func (r removalTest) history(id posture.EntityID) int {
	r.t.Helper()
	log, err := r.store.ChangeLog(r.t.Context(), "org", id)
	if err != nil {
		r.t.Fatal(err)
	}
	return len(log)
}

// open returns the number of open findings of an account.
func (r removalTest) open(a entitygen.Account) int {
	r.t.Helper()
	page, err := r.store.Findings(r.t.Context(), "org", posture.FindingFilter{
		Accounts: []string{string(a.ID)}, Statuses: []posture.FindingStatus{posture.FindingOpen},
	}, nil, posture.Page{Size: 1}, time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	return page.Total
}
