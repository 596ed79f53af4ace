package sqldb_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// one, two and three are migrations that depend on the ones before.
const (
	one   = "CREATE TABLE seed (n BIGINT NOT NULL PRIMARY KEY); INSERT INTO seed (n) VALUES (1);"
	two   = "ALTER TABLE seed ADD COLUMN word TEXT; INSERT INTO seed (n, word) VALUES (2, 'x');"
	three = "INSERT INTO seed (n, word) SELECT n + 10, word FROM seed;"
)

// seeds returns the numbers that the migrations inserted.
func seeds(t *testing.T, db *sqldb.DB) (ns []int64) {
	t.Helper()
	err := db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
		ns, err = sqldb.Query(tx, sqldb.Scalar[int64], "SELECT n FROM seed ORDER BY n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

func TestMigrationsAreAppliedOnceInOrder(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		for _, step := range []struct {
			files fstest.MapFS
			want  []int64
		}{
			{files("0001_one.sql", one), []int64{1}},
			{files("0001_one.sql", one), []int64{1}},
			{files("0001_one.sql", one, "0002_two.sql", two, "0003_three.sql", three), []int64{1, 2, 11, 12}},
		} {
			db := dbtest.Open(t, dsn)
			if err := db.Migrate(t.Context(), "a", step.files); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(step.want, seeds(t, db)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		}
	})
}

func TestNamespacesAreIndependent(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		for space, fsys := range map[string]fstest.MapFS{
			"a": files("0001_one.sql", one),
			"b": files("0001_other.sql", "CREATE TABLE other (n BIGINT)"),
		} {
			if err := db.Migrate(t.Context(), space, fsys); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]int64{1}, seeds(t, db)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

func TestDialectsMayHaveTheirOwnFile(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		err := db.Migrate(t.Context(), "a", files(
			"0001_one.sql", one,
			"0002_own.sqlite.sql", "INSERT INTO seed (n) SELECT count(*) + 100 FROM sqlite_schema WHERE name = 'seed'",
			"0002_own.postgres.sql", "INSERT INTO seed (n) SELECT count(*) + 100 FROM pg_class WHERE oid = 'seed'::regclass",
		))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{1, 101}, seeds(t, db)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

func TestConcurrentMigrations(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		fsys := files("0001_one.sql", one, "0002_two.sql", two, "0003_three.sql", three)
		dbs := make([]*sqldb.DB, 6)
		for i := range dbs {
			dbs[i] = dbtest.Open(t, dsn)
		}
		var wg sync.WaitGroup
		for _, db := range dbs {
			wg.Go(func() {
				if err := db.Migrate(t.Context(), "a", fsys); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff([]int64{1, 2, 11, 12}, seeds(t, dbs[0])); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

func TestMigrateFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"ChangedFile":     {files("0001_one.sql", one+" ", "0002_two.sql", two), "must not be changed"},
		"NewerDatabase":   {files("0001_one.sql", one), "newer version of this program: it holds 0002_two.sql"},
		"Gap":             {files("0001_one.sql", one, "0003_three.sql", three), "0003_three.sql should have the number 0002"},
		"DuplicateNumber": {files("0001_one.sql", one, "0001_two.sql", two), "should have the number 0002"},
		"InvalidName":     {files("0001_one.sql", one, "readme.md", ""), "readme.md is not the name"},
		"BrokenStatement": {files("0001_one.sql", one, "0002_two.sql", two, "0003_bad.sql", three+" SELECT broken"), "0003_bad.sql"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
				if err := db.Migrate(t.Context(), "a", files("0001_one.sql", one, "0002_two.sql", two)); err != nil {
					t.Fatal(err)
				}
				err := db.Migrate(t.Context(), "a", test.files)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want an error with %q", err, test.want)
				}
				if diff := cmp.Diff([]int64{1, 2}, seeds(t, db)); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	url := "sqlite://" + filepath.Join(t.TempDir(), "test.db")
	open := func(o sqldb.Options) *sqldb.DB {
		t.Helper()
		db, err := sqldb.Open(t.Context(), url, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db, readOnly := open(sqldb.Options{}), open(sqldb.Options{MustExist: true, ReadOnly: true})
	if err := readOnly.Migrate(t.Context(), "test", files("0001_one.sql", one)); !errors.Is(err, sqldb.ErrPending) {
		t.Errorf("empty database: %v", err)
	}
	if err := db.Migrate(t.Context(), "test", files("0001_one.sql", one)); err != nil {
		t.Fatal(err)
	}
	if err := readOnly.Migrate(t.Context(), "test", files("0001_one.sql", one)); err != nil {
		t.Errorf("migrated database: %v", err)
	}
	if err := readOnly.Migrate(t.Context(), "test", files("0001_one.sql", one, "0002_two.sql", two)); !errors.Is(err, sqldb.ErrPending) || !strings.Contains(err.Error(), "0002_two.sql") {
		t.Errorf("newer program: %v", err)
	}
	if err := readOnly.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec("CREATE TABLE other (id TEXT)")
		return err
	}); err == nil {
		t.Error("a read-only database was written to")
	}
}
