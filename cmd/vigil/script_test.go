package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"vigil/internal/sqldb/dbtest"
)

func TestMain(m *testing.M) {
	testscript.Main(cleaned{m}, map[string]func(){"vigil": main})
}

// cleaned runs the tests and then removes the executable of builtVigil.
type cleaned struct{ *testing.M }

func (c cleaned) Run() int {
	defer func() { _ = os.RemoveAll(builtDir) }() // a temporary folder, or "" if none was created
	return c.M.Run()
}

// builtDir is the folder of the executable of builtVigil.
var builtDir string

// builtVigil builds vigil once and returns its path. It is built without the race detector,
// which would make the servers that tests measure slow and large.
var builtVigil = sync.OnceValues(func() (path string, err error) {
	if builtDir, err = os.MkdirTemp("", "vigil-built-"); err != nil {
		return "", err
	}
	path = filepath.Join(builtDir, "vigil")
	cmd := exec.Command("go", "build", "-race=false", "-buildvcs=false", "-ldflags=-s -w", "-o", path, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build vigil: %w\n%s", err, out)
	}
	return path, nil
})

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
