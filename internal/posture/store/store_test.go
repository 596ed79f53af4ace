package store_test

import (
	"errors"
	"sync"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
	"vigil/internal/posture/store/storetest"
	"vigil/internal/secret"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// enqueued records jobs once their transaction is committed: the account of a validation
// or a stream, the run of a collection, and "remove " with the account of a removal. It
// ignores judgements.
type enqueued struct {
	mu   sync.Mutex
	jobs []string
}

func (e *enqueued) record(tx *sqldb.Tx, job string) error {
	tx.AfterCommit(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.jobs = append(e.jobs, job)
	})
	return nil
}

func (e *enqueued) Validate(tx *sqldb.Tx, _ posture.OrgID, id posture.AccountID) error {
	return e.record(tx, string(id))
}

func (e *enqueued) Collect(tx *sqldb.Tx, _ posture.OrgID, r posture.Run) error {
	return e.record(tx, string(r.ID))
}

func (*enqueued) Judge(*sqldb.Tx, posture.OrgID, posture.AccountID) error  { return nil }
func (*enqueued) JudgeRule(*sqldb.Tx, posture.OrgID, posture.RuleID) error { return nil }

func (e *enqueued) Remove(tx *sqldb.Tx, _ posture.OrgID, id posture.AccountID) error {
	return e.record(tx, "remove "+string(id))
}

func (e *enqueued) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.jobs
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Fixture { return fixture(t, dbtest.SQLite(t)) })
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Fixture { return fixture(t, dbtest.Postgres(t)) })
}

// TestCitus runs the suite with the tables of entities distributed over a cluster.
func TestCitus(t *testing.T) {
	t.Parallel()
	dbtest.RequireCitus(t)
	storetest.Run(t, func(t *testing.T) storetest.Fixture { return fixture(t, dbtest.Citus(t), distribute) })
}

// distribute distributes the tables of a database, twice: Distribute must accept tables
// that are distributed already.
func distribute(t *testing.T, db *sqldb.DB) {
	t.Helper()
	for range 2 {
		if err := store.Distribute(t.Context(), db, 4, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// migrated is a database with the tables of the store.
var migrated = dbtest.NewTemplate(store.Migrate)

// open opens a database with the tables of the store.
func open(t *testing.T, dsn string) *sqldb.DB {
	t.Helper()
	migrated.CopyTo(t, dsn) // the template is for SQLite only; on PostgreSQL, Migrate creates the tables
	db := dbtest.Open(t, dsn)
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

func fixture(t *testing.T, dsn string, prepare ...func(*testing.T, *sqldb.DB)) storetest.Fixture {
	db := open(t, dsn)
	for _, f := range prepare {
		f(t, db)
	}
	jobs := new(enqueued)
	return storetest.Fixture{Store: store.New(db, secrettest.NewBox(t), jobs), Enqueued: jobs.all}
}

// TestSecretsAreBoundToTheirCell copies an encrypted secret to another row of the same
// column, where it must not decrypt.
func TestSecretsAreBoundToTheirCell(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		s := store.New(db, secrettest.NewBox(t), new(enqueued))
		err := s.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error {
			for _, id := range []posture.CredentialID{"a", "b"} {
				if err := tx.SaveCredential(posture.Credential{ID: id, Provider: posture.AWS}, posture.Secrets{"key": "canary-" + string(id)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`UPDATE credential SET secrets = (SELECT secrets FROM credential WHERE id = 'a') WHERE id = 'b'`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error {
			_, _, err := tx.Credential("b")
			return err
		})
		if !errors.Is(err, secret.ErrOpen) {
			t.Errorf("a secret moved to another row: %v, want %v", err, secret.ErrOpen)
		}
	})
}
