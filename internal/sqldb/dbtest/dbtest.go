// Package dbtest runs a test on every kind of database.
//
// SQLite needs no server. PostgreSQL is used when the environment variable
// VIGIL_TEST_POSTGRES holds the URL of a server on which the tests may create
// schemas; scripts/postgres.sh starts one. When the variable is not set, tests on
// PostgreSQL are skipped, or fail if VIGIL_TEST_POSTGRES_REQUIRED is 1.
package dbtest

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"vigil/internal/sqldb"
)

// Run runs test as two parallel subtests, each with an empty database of its own.
func Run(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	RunURL(t, func(t *testing.T, dsn string) { test(t, Open(t, dsn)) })
}

// RunURL is like [Run] for tests that open the database themselves, for example twice. It
// passes the URL of the database.
func RunURL(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, Postgres(t))
	})
}

// Open opens a database and closes it at the end of the test.
func Open(t testing.TB, dsn string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), dsn, sqldb.Options{Connections: 8})
	if err != nil {
		t.Fatalf("open test database: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close test database: %v", err)
		}
	})
	return db
}

// SQLite returns the URL of a new SQLite database.
func SQLite(t testing.TB) string {
	return "sqlite://" + (&url.URL{Path: filepath.ToSlash(filepath.Join(t.TempDir(), "test.db"))}).String()
}

// Postgres returns the URL of a new schema on the PostgreSQL server, which is
// dropped at the end of the test. It skips the test if there is no server.
func Postgres(t testing.TB) string {
	t.Helper()
	server := os.Getenv("VIGIL_TEST_POSTGRES")
	if server == "" {
		const why = "VIGIL_TEST_POSTGRES is not set: start a server with scripts/postgres.sh and set it to the URL"
		if os.Getenv("VIGIL_TEST_POSTGRES_REQUIRED") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	return newSchema(t, server)
}

// newSchema returns the URL of a new schema, which is dropped at the end of the test.
func newSchema(t testing.TB, server string) string {
	t.Helper()
	schema := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	dsn, err := InSchema(server, schema)
	if err != nil {
		t.Fatal("the address of the PostgreSQL server is not a URL") // without err, which has the password
	}
	if err := run(server, "CREATE SCHEMA "+schema); err != nil {
		t.Fatalf("create a schema for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := run(server, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Errorf("drop the schema of the test: %v", err)
		}
	})
	return dsn
}

// Citus returns the URL of a new schema on the coordinator of a Citus cluster, which is
// dropped at the end of the test. It skips the test if there is no cluster.
func Citus(t testing.TB) string {
	t.Helper()
	return newSchema(t, RequireCitus(t))
}

// RequireCitus returns the URL of the coordinator of a Citus cluster from the variable
// VIGIL_TEST_CITUS. It skips the test if the variable is not set.
func RequireCitus(t testing.TB) string {
	t.Helper()
	server := os.Getenv("VIGIL_TEST_CITUS")
	if server == "" {
		t.Skip("NOT TESTED ON CITUS: VIGIL_TEST_CITUS is not set; set it to the URL of a coordinator with at least two workers")
	}
	return server
}

// InSchema returns the URL of a PostgreSQL database with search_path set to a schema, so
// that its connections create and find tables there.
func InSchema(database, schema string) (string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// run executes one statement on a connection of its own. It does not use the context of the
// test, which has ended when clean-up functions run.
func run(server, statement string) error {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, server, sqldb.Options{Connections: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(statement)
		return err
	})
}
