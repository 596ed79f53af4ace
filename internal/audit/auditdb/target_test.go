package auditdb_test

import (
	"io/fs"
	"os"
	"testing"

	"vigil/internal/audit"
	"vigil/internal/audit/auditdb"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestRecordsOfEarlierVersionsAreFoundByTheirTargets migrates records that were written
// before their targets were indexed.
func TestRecordsOfEarlierVersionsAreFoundByTheirTargets(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := db.Migrate(t.Context(), "audit", firstMigration{os.DirFS("migrations")}); err != nil {
			t.Fatal(err)
		}
		bodies := []string{
			`{"operation":"a"}`,
			// Equal targets are indexed once, an empty one not at all.
			`{"operation":"b","targets":{"id":"42","again":"42","none":""}}`,
			// The NUL is removed, because PostgreSQL does not store it. The text \u0000 stays: its backslash is escaped.
			`{"operation":"c","targets":{"id":"nul\u0000","path":"back\\u0000slash"}}`,
		}
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			for i, body := range bodies {
				if _, err := tx.Exec(`
					INSERT INTO audit_record (number, at, org_id, actor, operation, outcome, body, prev, hash, key_id, signature)
					VALUES ($1, 0, 'o', '', '', '', $2, $3, $3, '', $3)`, i+1, body, []byte{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := auditdb.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for target, want := range map[string]string{"42": "b", "nul": "c", `back\u0000slash`: "c"} {
			page, err := auditdb.NewStore(db).Page(t.Context(), audit.Filter{Org: "o", Target: target, Limit: 9})
			if err != nil || len(page) != 1 || page[0].Operation != want {
				t.Errorf("%q: %+v, %v; want %s", target, page, err, want)
			}
		}
	})
}

// firstMigration hides all migrations but the first.
type firstMigration struct{ fs.FS }

func (f firstMigration) ReadDir(string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(f.FS, ".")
	return all[:1], err
}
