package audit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"vigil/internal/audit"
	"vigil/internal/audit/auditdb"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// withAttachment returns a context in which the first change commits the record of a
// request.
func withAttachment(ctx context.Context, l *audit.Log, request string, committed *bool) context.Context {
	return l.Attach(ctx, audit.Attachment{
		Record: func() (audit.Record, bool) {
			return audit.Record{Request: request, Operation: "change", Outcome: audit.Success}, !*committed
		},
		Committed: func() { *committed = true },
	})
}

func TestRecordIsCommittedWithItsChange(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		l := open(t, db, secrettest.NewBox(t))
		exec(t, db, `CREATE TABLE thing (name TEXT NOT NULL PRIMARY KEY)`)
		insert := func(name string) func(*sqldb.Tx) error {
			return func(tx *sqldb.Tx) error {
				_, err := tx.Exec(`INSERT INTO thing (name) VALUES ($1)`, name)
				return err
			}
		}
		const writers = 30
		var wait sync.WaitGroup
		for i := range writers {
			wait.Go(func() {
				var committed bool
				ctx := withAttachment(t.Context(), l, fmt.Sprint("r", i), &committed)
				// Every third write fails and leaves neither change nor record.
				failing := errors.New("no")
				err := db.Write(ctx, func(tx *sqldb.Tx) error {
					if err := insert(fmt.Sprint("thing", i))(tx); err != nil || i%3 != 0 {
						return err
					}
					return failing
				})
				if i%3 == 0 {
					if !errors.Is(err, failing) || committed {
						t.Errorf("writer %d: %v, committed %t", i, err, committed)
					}
					return
				}
				if err != nil || !committed {
					t.Errorf("writer %d: %v, committed %t", i, err, committed)
				}
				// Later writes of the request add no record.
				if err := db.Write(ctx, insert(fmt.Sprint("more", i))); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		var recorded bool
		ctx := sqldb.WithoutCommitHook(withAttachment(t.Context(), l, "counter", &recorded))
		if err := db.Write(ctx, insert("counter")); err != nil || recorded {
			t.Errorf("a write without the hook: %v, recorded %t", err, recorded)
		}
		page, err := auditdb.NewStore(db).Page(t.Context(), audit.Filter{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if want := writers - writers/3; len(page) != want {
			t.Errorf("%d records, want %d", len(page), want)
		}
		if r := verify(t, l); r.Broken != nil || r.Records != int64(len(page)) {
			t.Errorf("verify: %+v, %v", r, r.Broken)
		}
	})
}

// TestRolledBackRecordsAreNotMissed appends two records in one shared transaction, the second by an
// attachment, and makes the commit fail. The rollback removes both records: the log must not take
// that for a loss.
func TestRolledBackRecordsAreNotMissed(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t)) // writers share transactions only on SQLite
	l := open(t, db, secrettest.NewBox(t))
	exec(t, db, `CREATE TABLE parent (name TEXT NOT NULL PRIMARY KEY)`,
		`CREATE TABLE child (parent TEXT NOT NULL REFERENCES parent (name) DEFERRABLE INITIALLY DEFERRED)`)
	chained := false
	for !chained && !t.Failed() { // until both writers happened to share a transaction
		before, err := auditdb.NewStore(db).Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		start := sync.OnceFunc(func() {
			both.Go(func() {
				if err := l.Append(t.Context(), audit.Record{Operation: "append", Outcome: audit.Success}); err != nil {
					t.Errorf("append next to a write that fails: %v", err)
				}
			})
			both.Go(func() {
				var committed bool
				err := db.Write(withAttachment(t.Context(), l, "r", &committed), func(tx *sqldb.Tx) error {
					number, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT coalesce(max(number), 0) FROM audit_record`)
					if err != nil {
						return err
					}
					head, err := auditdb.NewStore(db).Head(t.Context())
					// Only this transaction sees the record of the other writer, which is not committed yet.
					chained = chained || number > head.Number
					if err == nil {
						_, err = tx.Exec(`INSERT INTO child (parent) VALUES ('missing')`) // the commit fails
					}
					return err
				})
				if err == nil || committed {
					t.Errorf("the write with a missing parent: %v, committed %t", err, committed)
				}
			})
		})
		err = db.Write(t.Context(), func(*sqldb.Tx) error {
			start() // once, because this writer runs again if the shared transaction fails
			for range 1000 {
				runtime.Gosched() // the other writers queue behind this one
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		both.Wait()
		if err := l.Append(t.Context(), audit.Record{Operation: "later", Outcome: audit.Success}); err != nil {
			t.Errorf("append after a rolled back transaction: %v", err)
		}
		if r := verify(t, l); r.Broken != nil || r.Last != before.Number+2 {
			t.Errorf("verify: %+v, want 2 records after %d", r, before.Number)
		}
	}
}
