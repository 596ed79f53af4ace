package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/instance"
	"vigil/internal/job"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbcopy"
	"vigil/internal/sqldb/dbtest"
)

// vigil runs a command on an installation and returns its output.
func vigil(t *testing.T, environ []string, wantExit int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if exit := run(args, environ, &out, &out); exit != wantExit {
		t.Fatalf("vigil %s: exit %d, want %d\n%s", strings.Join(args, " "), exit, wantExit, &out)
	}
	return out.String()
}

// TestStoreCopyKeepsEverything copies an installation with rows in every table to
// PostgreSQL and from there to SQLite.
func TestStoreCopyKeepsEverything(t *testing.T) {
	t.Parallel()
	post := dbtest.Postgres(t)
	dir := newInventory(t)
	first := "sqlite://" + filepath.Join(dir, "vigil.db")
	fill(t, dbtest.Open(t, first))

	environ := []string{"VIGIL_DATA_DIR=" + dir}
	vigil(t, environ, 0, "store", "copy", "--to", post)
	before := dump(t, first)
	second := dbtest.SQLite(t)
	// The copies need another checkpoint file: their audit log and that of the first
	// installation continue separately.
	environ = append(environ, "VIGIL_AUDIT_CHECKPOINT="+filepath.Join(t.TempDir(), "checkpoint"))
	if got := vigil(t, environ, 0, "entity", "find", "--org", "example", "--count", "tag.env = prod", "--database", post); got != "2\n" {
		t.Errorf("the copy finds %q by tag, want 2", got)
	}
	vigil(t, environ, 0, "store", "copy", "--from", post, "--to", second)
	after := dump(t, second)
	delete(before, "audit_record") // the audit log has one more record, of the second copy
	delete(before, "audit_target")
	delete(before, "audit_chain")
	for table, rows := range before {
		if len(rows) == 0 {
			t.Errorf("table %s is empty, so the test does not cover it", table)
		}
		if diff := cmp.Diff(rows, after[table]); diff != "" {
			t.Errorf("table %s after two copies (-want +got):\n%s", table, diff)
		}
	}
	if got := vigil(t, environ, 0, "entity", "find", "--org", "example", "--count", "tag.env = prod", "--database", second); got != "2\n" {
		t.Errorf("the second copy finds %q by tag, want 2", got)
	}
	if got := vigil(t, environ, 0, "audit", "verify", "--database", second); !strings.Contains(got, "are intact") {
		t.Error(got)
	}
	for _, dsn := range []string{post, second} {
		if got := vigil(t, environ, 0, "store", "status", "--database", dsn); !strings.Contains(got, "entity_partition") || strings.Contains(got, "entity_token_data") {
			t.Error(got)
		}
	}
}

// TestStoreCopyRefuses uses invalid sources and targets. A target with a complete copy of
// another database, or one that is in use, is invalid too.
func TestStoreCopyRefuses(t *testing.T) {
	t.Parallel()
	dir := newInventory(t)
	environ := []string{"VIGIL_DATA_DIR=" + dir}
	missing := filepath.Join(dir, "vgil.db")
	if got := vigil(t, environ, 1, "store", "copy", "--from", "sqlite:"+missing, "--to", "postgres://nobody@127.0.0.1:1/nothing"); !strings.Contains(got, "no such file") {
		t.Error(got)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a mistyped source was created")
	}
	if got := vigil(t, environ, 2, "store", "copy", "--to", dbtest.SQLite(t)); !strings.Contains(got, "both sqlite") {
		t.Error(got)
	}
	post := dbtest.Postgres(t)
	if got := vigil(t, environ, 0, "store", "copy", "--to", post); !strings.Contains(got, "the same in both") {
		t.Error(got)
	}
	other := []string{"VIGIL_DATA_DIR=" + newInventory(t)}
	if got := vigil(t, other, 1, "store", "copy", "--to", post); !strings.Contains(got, "a copy of another database") {
		t.Error(got)
	}
	// The first command that opens a copy as a database makes it one that is in use.
	vigil(t, environ, 0, "org", "list", "--database", post)
	if got := vigil(t, environ, 1, "store", "copy", "--to", post); !strings.Contains(got, "give an empty database") {
		t.Error(got)
	}
}

// TestStoreCopyResumes interrupts a copy and changes the source between copies.
func TestStoreCopyResumes(t *testing.T) {
	t.Parallel()
	post, dir := dbtest.Postgres(t), newInventory(t)
	from, to := dbtest.Open(t, "sqlite://"+filepath.Join(dir, "vigil.db")), dbtest.Open(t, post)
	fill(t, from)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := dbcopy.Copy(ctx, from, to, copyOptions("it", func(p dbcopy.Progress) {
		if p.Step == "copy" && p.Table == "run" {
			cancel()
		}
	}))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the copy ended with %v", err)
	}
	if err := dbcopy.Check(t.Context(), to); !fault.Is(err, fault.Conflict) {
		t.Errorf("an unfinished copy was opened: %v", err)
	}
	written := func() map[string]int64 {
		reports, err := dbcopy.Copy(t.Context(), from, to, copyOptions("it", nil))
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]int64{}
		for _, r := range reports {
			if r.Written > 0 {
				all[r.Table] = r.Written
			}
		}
		return all
	}
	if got := written(); got["account"] != 0 || got["web_session"] == 0 {
		t.Errorf("the second copy wrote %v, want nothing of what the first did", got)
	}
	if got := written(); len(got) > 0 {
		t.Errorf("the third copy wrote %v, want nothing", got)
	}
	err = from.Write(t.Context(), func(tx *sqldb.Tx) error {
		for _, text := range []string{
			`DELETE FROM finding WHERE n = 2`,
			`UPDATE finding SET words = 'changed' WHERE n = 3`,
			`DELETE FROM entity_change WHERE generation = 2`,
			`DELETE FROM stream WHERE org = 't2'`, // and rows that refer to it
			`INSERT INTO finding_event (org, n, at, what, who) SELECT org, n, at, what, who FROM finding_event WHERE n = 3`,
			// Rows 2 and 3 exchange the pair of realm and number, which is unique. Written in the wrong order,
			// a new row has the pair of an old one.
			`UPDATE auth_signing_key SET number = 9 WHERE number = 2`,
			`UPDATE auth_signing_key SET number = 2, realm = 't2' WHERE number = 3`,
			`UPDATE auth_signing_key SET number = 3, realm = 't3' WHERE number = 9`,
		} {
			if _, err := tx.Exec(text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"finding": 2, "entity_change": 1, "stream": 1, "stream_seen": 1, "stream_reread": 1, "finding_event": 1, "auth_signing_key": 2}
	if diff := cmp.Diff(want, written()); diff != "" {
		t.Errorf("rows written after the source changed (-want +got):\n%s", diff)
	}
	err = to.Read(t.Context(), func(tx *sqldb.Tx) error {
		n, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT count(*) FROM finding_gram WHERE grams @@ '6368616e67'::tsquery OR n = 2`) // "chang" in hexadecimal: an indexed part of "changed"
		if n != 1 {
			t.Errorf("%d findings are indexed by the new text, want 1", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fill inserts rows into every copied table, with values according to the types of
// columns, and jobs into the queue.
func fill(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if err := errors.Join(instance.MigrateAll(t.Context(), db), migrateServers(t.Context(), db)); err != nil {
		t.Fatal(err)
	}
	queue, err := job.New(db, job.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`PRAGMA defer_foreign_keys = ON`); err != nil {
			return err
		}
		for _, table := range copiedTables(t, tx) {
			if err := fillTable(tx, table); err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
		}
		for i, opts := range []job.Options{{Unique: "one"}, {Exclusive: "x", At: time.Now().Add(time.Hour)}, {Queue: "other"}} {
			if _, err := queue.Insert(tx, someJob{Text: "ü\"", Number: i}, opts); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`
			UPDATE river_job SET state = 'running', attempted_at = '2026-01-02 03:04:05.67', attempted_by = '["t1"]',
				errors = '[{"at":"2026-01-02T03:04:05Z","attempt":1,"error":"no","trace":""}]', attempt = 2
			WHERE id = (SELECT max(id) FROM river_job)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

type someJob struct {
	Number int
	Text   string
}

// Kind implements [job.Args].
func (someJob) Kind() string { return "some" }

// copiedTables returns the tables of a SQLite database that are copied.
func copiedTables(t *testing.T, tx *sqldb.Tx) []string {
	t.Helper()
	names, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'`)
	if err != nil {
		t.Fatal(err)
	}
	skip := copyOptions("", nil).Skip
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(skip, name) })
}

// fillTable inserts a few rows. The value of a column depends only on its type and the
// row, so that foreign keys are valid.
func fillTable(tx *sqldb.Tx, table string) error {
	if table == "river_job" || strings.HasPrefix(table, "entity") && table != "entity_change" && table != "entity_removal" && table != "entity_snapshot" && table != "entity_coverage" && table != "entity_commit" {
		return nil // they have consistent rows already
	}
	type column struct{ name, typ string }
	columns, err := sqldb.Query(tx, func(r sqldb.Row) (c column, err error) {
		err = r.Scan(&c.name, &c.typ)
		return c, err
	}, `SELECT name, type FROM pragma_table_info($1)`, table)
	if err != nil {
		return err
	}
	if single := []string{"secret_keyset", "auth_generation", "audit_chain", "finding_number"}; slices.Contains(single, table) {
		return nil // filled when the installation was created
	}
	if table == "audit_record" || table == "audit_key" {
		return nil // random rows would break the hash chain of the audit log and its signatures
	}
	for i := int64(1); i <= 3; i++ {
		var names, values []string
		var args []any
		for _, c := range columns {
			var v any = i
			switch {
			case c.name == "role":
				v = "admin"
			case c.typ == "TEXT":
				v = fmt.Sprintf("t%d", i)
				if c.name == "words" || c.name == "name" {
					v = fmt.Sprintf("Größe \"%d\"\n", i)
				}
			case c.typ == "BLOB":
				v = bytes.Repeat([]byte{0, byte(i)}, int(i)-1)
			case c.typ == "BOOLEAN":
				v = i == 1
			}
			names, args = append(names, `"`+c.name+`"`), append(args, v)
			values = append(values, fmt.Sprintf("$%d", len(args)))
		}
		if _, err := tx.Exec(`INSERT INTO "`+table+`" (`+strings.Join(names, ", ")+`) VALUES (`+strings.Join(values, ", ")+`)`, args...); err != nil {
			return err
		}
	}
	return nil
}

// dump returns the rows of the copied tables as text.
func dump(t *testing.T, dsn string) map[string][]string {
	t.Helper()
	db := dbtest.Open(t, dsn)
	all := map[string][]string{}
	err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		for _, table := range copiedTables(t, tx) {
			columns, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT name FROM pragma_table_info($1)`, table)
			if err != nil {
				return err
			}
			var values []string
			for _, c := range columns {
				value := `quote("` + c + `")`
				switch {
				case table == "river_job" && strings.HasSuffix(c, "_at"):
					// River writes a time with and without zeros at its end.
					value = `quote(strftime('%Y-%m-%d %H:%M:%f', "` + c + `"))`
				case table == "river_job": // JSON is a BLOB or a TEXT
					value = `quote(CAST("` + c + `" AS TEXT))`
				}
				values = append(values, value)
			}
			if all[table], err = sqldb.Query(tx, sqldb.Scalar[string], `SELECT `+strings.Join(values, ` || ' ' || `)+` FROM "`+table+`" ORDER BY 1`); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
