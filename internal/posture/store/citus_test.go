package store_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitygen"
	"vigil/internal/posture/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// A statement is one that a store executed, with its arguments.
type statement struct {
	text string
	args []any
}

// distributed matches statements on the tables that are distributed, without bulk loads.
var distributed = regexp.MustCompile(`(?s)^\s*(SELECT|UPDATE|DELETE|INSERT|WITH).*\bentity(_state|_ledger|_change|_cell|_delta|_snapshot|_coverage)?\b`)

// TestSingleAccountStatementsAreOneTask has Citus explain every statement that reading and
// writing one account executes: each must be one task, that is, need one shard.
func TestSingleAccountStatementsAreOneTask(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.Citus(t))
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	distribute(t, db)
	seen := map[string]statement{}
	ctx := sqldb.WithObserver(t.Context(), func(text string, args []any) func(error) {
		if distributed.MatchString(text) {
			seen[text] = statement{text, args}
		}
		return func(error) {}
	})
	useAccount(t, ctx, store.New(db, secrettest.NewBox(t), new(enqueued)))
	if len(seen) < 25 {
		t.Errorf("only %d statements were seen", len(seen))
	}
	for _, s := range seen {
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			plan, err := sqldb.Query(tx, sqldb.Scalar[string], `EXPLAIN (COSTS FALSE) `+s.text, s.args...)
			text := strings.Join(plan, "\n")
			if tasks := strings.Count(text, "Task Count: "); err == nil && (tasks == 0 || tasks != strings.Count(text, "Task Count: 1\n")) {
				t.Errorf("not one task: %s\n%s", s.text, text)
			}
			return err
		})
		if err != nil {
			t.Errorf("explain %s: %v", s.text, err)
		}
	}
}

// useAccount reads and writes an account in every way.
func useAccount(t *testing.T, ctx context.Context, s *store.Store) {
	t.Helper()
	const org = "org"
	a := entitygen.New(0, 300)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Onboard(ctx, org, func(tx posture.OnboardingTx) error {
		return tx.AddAccount(posture.Account{ID: a.ID, Provider: a.Provider})
	}))
	var entity posture.Entity
	for round := range 3 {
		for _, u := range a.Units() {
			rec, err := s.Begin(ctx, collect.Scoped{Org: org, Account: a.ID, Type: u.Type, Region: u.Region})
			must(err)
			n := 0
			for e := range u.Each {
				n++
				if round == 2 && n%3 == 0 {
					continue // in the last round, every third entity is gone
				}
				e.Name += strings.Repeat("x", round*(n%2)) // from round 1 on, every second name changes
				entity = e
				must(rec.Put(ctx, e))
			}
			must(rec.Commit(ctx, true))
		}
	}
	scope := posture.Scope{Org: org, Account: a.ID, Type: entity.Type, Region: entity.Region}
	entity.Name = "replaced"
	must(s.Replace(ctx, scope, posture.ChangeOrigin{}, []posture.Entity{entity}, nil))
	must(s.ScopeFailed(ctx, scope, "denied"))
	generation, err := s.EachEntity(ctx, org, a.ID, func(posture.Entity) error { return nil })
	must(err)
	_, _, err = s.ChangesSince(ctx, org, a.ID, generation-3)
	must(err)
	must(s.SaveSnapshot(ctx, org, a.ID, posture.Snapshot{Generation: generation, Data: []byte("x")}))
	_, err = s.Snapshot(ctx, org, a.ID)
	must(err)
	_, err = s.Coverage(ctx, org, a.ID)
	must(err)
	_, err = s.Entity(ctx, org, entity.ID)
	must(err)
	_, err = s.EntitiesOf(ctx, org, a.ID, []posture.EntityID{entity.ID, "x"})
	must(err)
	_, err = s.ChangeLog(ctx, org, entity.ID)
	must(err)
	for _, f := range []posture.EntityFilter{
		{Accounts: []string{string(a.ID)}}, {Accounts: []string{string(a.ID)}, Names: []string{"replaced"}},
	} {
		page, err := s.Entities(ctx, org, f, posture.Page{Size: 10})
		must(err)
		_, err = s.Entities(ctx, org, f, posture.Page{Size: 10, After: page.Next})
		must(err)
		for _, field := range []string{posture.FieldType, posture.FieldRegion, posture.FieldName} {
			_, _, err = s.Aggregate(ctx, org, f, map[string]posture.Aggregation{"n": {Of: posture.Attribute{Kind: posture.FieldAttribute, Name: field}}})
			must(err)
		}
		_, _, err = s.Aggregate(ctx, org, f, map[string]posture.Aggregation{"n": {Of: posture.Attribute{Kind: posture.TagAttribute, Name: "env"}}})
		must(err)
	}
	must(s.Onboard(ctx, org, func(tx posture.OnboardingTx) error { return tx.RemoveAccount(a.ID) }))
	_, err = s.ChangeLog(ctx, org, entity.ID)
	must(err)
}
