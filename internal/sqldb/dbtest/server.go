package dbtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Server is a PostgreSQL server of one test, which the test may crash.
type Server struct {
	URL string

	t      testing.TB
	script string
	dir    string
}

// NewServer starts a server, which is removed at the end of the test.
func NewServer(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, script: filepath.Join(moduleRoot(t), "scripts", "postgres.sh"), dir: filepath.Join(t.TempDir(), "postgres")}
	s.Start()
	t.Cleanup(func() { s.do("stop") })
	return s
}

// moduleRoot returns the nearest folder with a go.mod, from the working directory upwards.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	t.Fatalf("no go.mod in the working directory or above it: %v", err)
	return ""
}

// Crash stops the server without a shutdown, like a power failure.
func (s *Server) Crash() { s.t.Helper(); s.do("crash") }

// Start starts the server again, with the same URL.
func (s *Server) Start() {
	s.t.Helper()
	dsn := s.do("start")
	if s.URL != "" && dsn != s.URL {
		s.t.Fatalf("the address of the database server changed to %s from %s", dsn, s.URL)
	}
	s.URL = dsn
}

func (s *Server) do(action string) string {
	s.t.Helper()
	cmd := exec.Command(s.script, action, s.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s: %v", cmd, err)
	}
	return strings.TrimSpace(string(out))
}
