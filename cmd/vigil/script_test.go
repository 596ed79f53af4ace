package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"vigil/internal/sqldb/dbtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vigil": main})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

// TestPostgresScripts runs the scripts that need a PostgreSQL database. Its URL is in
// POSTGRES.
func TestPostgresScripts(t *testing.T) {
	t.Parallel()
	database := dbtest.Postgres(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/postgres", Setup: func(e *testscript.Env) error {
		e.Setenv("POSTGRES", database)
		return nil
	}})
}
