package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// files makes migrations from pairs of name and text.
func files(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for pair := range slices.Chunk(pairs, 2) {
		fsys[pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
	}
	return fsys
}

var things = files("0001_thing.sql", `
	-- TEXT in a comment, and 'BLOB' in a text, must not be rewritten.
	CREATE TABLE thing (
		id      TEXT    NOT NULL PRIMARY KEY,
		note    TEXT    NOT NULL DEFAULT 'a TEXT and a BLOB',
		size    BIGINT  NOT NULL DEFAULT 0,
		ready   BOOLEAN NOT NULL DEFAULT FALSE,
		ratio   DOUBLE PRECISION,
		body    BLOB,
		parent  TEXT REFERENCES thing (id)
	);
	CREATE INDEX thing_size ON thing (size);`)

// run runs a test on every database, with the table thing in it.
func run(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := db.Migrate(t.Context(), "test", things); err != nil {
			t.Fatal(err)
		}
		test(t, db)
	})
}

// write runs a statement in its own transaction and fails the test on an error.
func write(t *testing.T, db *sqldb.DB, text string, args ...any) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ids returns the sorted ids of all things.
func ids(t *testing.T, db *sqldb.DB) []string {
	t.Helper()
	var got []string
	err := db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
		got, err = sqldb.Query(tx, sqldb.Scalar[string], "SELECT id FROM thing ORDER BY id")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWriteCommitsAllOrNothing(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, "INSERT INTO thing (id) VALUES ($1)", "kept")
		boom := errors.New("boom")
		hooks := 0
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			tx.AfterCommit(func() { hooks++ })
			if _, err := tx.Exec("INSERT INTO thing (id) VALUES ($1)", "lost"); err != nil {
				return err
			}
			return boom
		})
		if !errors.Is(err, boom) || hooks != 0 {
			t.Errorf("got error %v and %d hooks, want %v and none", err, hooks, boom)
		}
		func() {
			defer func() { _ = recover() }()
			_ = db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, _ = tx.Exec("INSERT INTO thing (id) VALUES ('panicked')")
				panic("boom")
			})
		}()
		if diff := cmp.Diff([]string{"kept"}, ids(t, db)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
			tx.AfterCommit(func() {
				hooks++
				write(t, db, "INSERT INTO thing (id) VALUES ('after')") // the writer's connection is free again
			})
			return nil
		})
		if err != nil || hooks != 1 {
			t.Errorf("got error %v and %d hooks after a commit, want none and one", err, hooks)
		}
	})
}

func TestValuesRoundTrip(t *testing.T) {
	t.Parallel()
	type record struct {
		ID, Note string
		Size     int64
		Ready    bool
		Ratio    *float64
		Body     []byte
		Parent   *string
	}
	half, root := 0.5, "Z"
	want := []record{
		{ID: "Z", Note: "quote ' and \U0001F600", Size: 1<<62 + 1, Ready: true, Ratio: &half, Body: []byte{0, 1, 255}},
		{ID: "a", Size: sqldb.Millis(time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)), Parent: &root},
		{ID: "ä", Note: "sorted by bytes: after every ASCII letter"},
	}
	run(t, func(t *testing.T, db *sqldb.DB) {
		for _, r := range want {
			// The parameters are out of order and used twice deliberately.
			write(t, db, `
				INSERT INTO thing (note, id, size, ready, ratio, body, parent)
				SELECT $2, $1, $3, $4, $5, $6, $7
				WHERE $1 = $1`, r.ID, r.Note, r.Size, r.Ready, r.Ratio, r.Body, r.Parent)
		}
		var got []record
		var ready []string
		err := db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
			got, err = sqldb.Query(tx, func(row sqldb.Row) (record, error) {
				var r record
				err := row.Scan(&r.ID, &r.Note, &r.Size, &r.Ready, &r.Ratio, &r.Body, &r.Parent)
				return r, err
			}, "SELECT id, note, size, ready, ratio, body, parent FROM thing ORDER BY id")
			if err != nil {
				return err
			}
			args := []any{true}
			in := sqldb.List(&args, []string{"Z", "a"})
			ready, err = sqldb.Query(tx, sqldb.Scalar[string], "SELECT id FROM thing WHERE ready AND ready = $1 AND id IN "+in, args...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"Z"}, ready); diff != "" {
			t.Errorf("ready rows (-want +got):\n%s", diff)
		}
	})
}

func TestLists(t *testing.T) {
	t.Parallel()
	many := make([]int, 1500)
	for _, test := range []struct {
		name   string
		values []int
		text   string // or its suffix
		args   int    // appended arguments
	}{
		{"empty", nil, "(NULL)", 0},
		{"one", many[:1], "($2)", 1},
		{"padded", many[:3], "($2, $3, $4, $5)", 4},
		{"longest padded", many[:1000], ", $1025)", 1024},
		{"too long to pad", many, ", $1501)", 1500},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := []any{"first"}
			text := sqldb.List(&args, test.values)
			if !strings.HasSuffix(text, test.text) || len(args) != 1+test.args {
				t.Errorf("got %.40s… with %d arguments, want %s with %d", text, len(args)-1, test.text, test.args)
			}
		})
	}
}

func TestOnlyTypesAreRewritten(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, "INSERT INTO thing (id) VALUES ('a')")
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			note, err := sqldb.QueryOne(tx, sqldb.Scalar[string], "SELECT note FROM thing")
			if want := "a TEXT and a BLOB"; note != want {
				t.Errorf("the default is %q, want %q", note, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestMissingRow(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := sqldb.QueryOne(tx, sqldb.Scalar[string], "SELECT id FROM thing WHERE id = $1", "none")
			return err
		})
		if !sqldb.Missing(err) || !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("got %v, want sql.ErrNoRows", err)
		}
	})
}

func TestConstraintViolationsAreConflicts(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, "INSERT INTO thing (id) VALUES ('a')")
		write(t, db, "INSERT INTO thing (id, parent) VALUES ('b', 'a')")
		for text, want := range map[string]error{
			"INSERT INTO thing (id) VALUES ('a')":              sqldb.ErrUnique,
			"INSERT INTO thing (id, parent) VALUES ('c', 'x')": sqldb.ErrForeignKey,
			"DELETE FROM thing WHERE id = 'a'":                 sqldb.ErrForeignKey,
		} {
			err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(text)
				return err
			})
			if !errors.Is(err, want) || !fault.Is(err, fault.Conflict) {
				t.Errorf("%s: got %v, want a conflict: %v", text, err, want)
			}
		}
	})
}

func TestReadIsASnapshotAndCannotWrite(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, "INSERT INTO thing (id) VALUES ('a')")
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			count := func() (int, error) { return sqldb.QueryOne(tx, sqldb.Scalar[int], "SELECT count(*) FROM thing") }
			before, err := count()
			if err != nil {
				return err
			}
			write(t, db, "INSERT INTO thing (id) VALUES ('b')")
			after, err := count()
			if before != 1 || after != 1 {
				t.Errorf("got %d rows before and %d after a write by another, want 1 and 1", before, after)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec("DELETE FROM thing")
			return err
		})
		if err == nil {
			t.Error("a read transaction was allowed to write")
		}
		if diff := cmp.Diff([]string{"a", "b"}, ids(t, db)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

func TestLoadAndExecEach(t *testing.T) {
	t.Parallel()
	type name string // stores pass values of such types as parameters
	run(t, func(t *testing.T, db *sqldb.DB) {
		const n = 2345
		rows := func(yield func([]any) bool) {
			for i := range n {
				if !yield([]any{name(fmt.Sprintf("id-%05d", i)), i, i%2 == 0, []byte{byte(i)}}) {
					return
				}
			}
		}
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			got, err := tx.Load("thing", []string{"id", "size", "ready", "body"}, rows)
			if err != nil || got != n {
				return fmt.Errorf("loaded %d, error %w", got, err)
			}
			got, err = tx.Load("thing", []string{"id"}, func(func([]any) bool) {})
			if err != nil || got != 0 {
				return fmt.Errorf("loaded %d of nothing, error %w", got, err)
			}
			got, err = tx.ExecEach("UPDATE thing SET size = size + $2 WHERE id = $1", func(yield func([]any) bool) {
				for i := range n {
					if !yield([]any{name(fmt.Sprintf("id-%05d", i)), 1}) {
						return
					}
				}
			})
			if err != nil || got != n {
				return fmt.Errorf("updated %d, error %w", got, err)
			}
			sum, err := sqldb.QueryOne(tx, sqldb.Scalar[int], "SELECT CAST(sum(size) AS BIGINT) FROM thing WHERE ready")
			// The n/2+1 rows with even numbers are ready. Their sizes 0, 2, …, n-1 add up to n/2*(n/2+1), and each was increased by one.
			if want := (n/2+1)*(n/2) + n/2 + 1; sum != want {
				t.Errorf("sum of sizes is %d, want %d", sum, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Load("thing", []string{"id", "size", "ready", "body"}, rows)
			return err
		})
		if !errors.Is(err, sqldb.ErrUnique) {
			t.Errorf("loading twice: got %v, want %v", err, sqldb.ErrUnique)
		}
	})
}

func TestOpenRejectsInvalidURLs(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"mysql://root:hunter2@host/db":    "must start with",
		"":                                "must start with",
		"sqlite://host/file.db":           "three slashes",
		"sqlite:":                         "names no file",
		"sqlite::memory:":                 "names no file",
		"sqlite:///x.db?mode=ro":          "no parameters",
		"sqlite:///no/such/folder/x.db":   "no such file",
		"postgres://u:hunter2@[bad/db":    "parse",
		"postgres://u:hunter2@[::1]:1/db": "", // any error: no server listens there
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err := sqldb.Open(ctx, dsn, sqldb.Options{})
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%q) = %v, want an error with %q and no password", dsn, err, want)
		}
	}
}

// TestLongListsOfTexts searches for up to 64 texts, which SQLite gets as parameters, and for more,
// which it gets as a JSON array.
func TestLongListsOfTexts(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if _, err := tx.Exec(`CREATE TABLE thing (name TEXT NOT NULL PRIMARY KEY)`); err != nil {
				return err
			}
			for _, name := range []string{"a", `with "quotes"`, "ü", "z"} {
				if _, err := tx.Exec(`INSERT INTO thing (name) VALUES ($1)`, name); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{2, 3, 64, 65, 5000} {
			values := []string{"ü", `with "quotes"`}
			for len(values) < n {
				values = append(values, fmt.Sprint("none", len(values)))
			}
			var found []string
			begin := time.Now()
			err := db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
				var args []any
				text := `SELECT name FROM thing WHERE name IN ` + tx.Dialect().TextList(&args, values)
				if isArray, want := len(args) == 1, tx.Dialect() == sqldb.SQLite && n > 64; isArray != want {
					t.Errorf("%d texts: passed as a JSON array: %t, want %t", n, isArray, want)
				}
				found, err = sqldb.Query(tx, sqldb.Scalar[string], text, args...)
				return err
			})
			if err != nil || len(found) != 2 || !slices.Contains(found, `with "quotes"`) || !slices.Contains(found, "ü") {
				t.Errorf("%d texts: found %q, %v; want the two that exist", len(values), found, err)
			}
			t.Logf("%d texts: %v", len(values), time.Since(begin))
		}
	})
}
