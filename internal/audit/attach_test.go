package audit_test

import (
	"context"
	"errors"
	"fmt"
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
