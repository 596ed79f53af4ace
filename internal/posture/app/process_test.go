package app_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture"
)

// builds is where the crash tests put the server that they start, once for all of
// them.
var builds struct {
	once sync.Once
	dir  string
	err  error
}

// TestMain removes what the crash tests built.
func TestMain(m *testing.M) {
	status := m.Run()
	if builds.dir != "" {
		os.RemoveAll(builds.dir)
	}
	os.Exit(status)
}

// crashServer builds package crashserver without the race detector and returns
// the path of the executable.
func crashServer(t *testing.T) string {
	t.Helper()
	builds.once.Do(func() {
		if builds.dir, builds.err = os.MkdirTemp("", "vigil-crash-"); builds.err != nil {
			return
		}
		// Symbols make up half of the time that linking takes.
		cmd := exec.Command("go", "build", "-race=false", "-buildvcs=false", "-ldflags=-s -w", "-o", builds.dir, "./crashserver")
		if out, err := cmd.CombinedOutput(); err != nil {
			builds.err = fmt.Errorf("build the server: %w\n%s", err, out)
		}
	})
	if builds.err != nil {
		t.Fatal(builds.err)
	}
	return filepath.Join(builds.dir, "crashserver")
}

// A host is a data folder and a database on which a server is started, killed and
// started again, each time in a process of its own.
type host struct {
	t        *testing.T
	dir, dsn string
	args     []string // of the server, besides those that name the folder and the database
	env      []string // of the server, besides our own
	org      posture.OrgID
	apiToken string // of the organisation's admin
}

// newHost makes an installation with one organisation.
func newHost(t *testing.T, dsn string) *host {
	t.Helper()
	h := &host{t: t, dir: t.TempDir(), dsn: dsn}
	in := h.open()
	_, admin, err := in.Registry.CreateOrg(t.Context(), "org", "admin")
	if err != nil {
		t.Fatal(err)
	}
	h.org = posture.OrgID(admin.Org)
	_, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(admin.Org), auth.TokenEdit{Name: "test", User: admin.ID})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	h.apiToken = text.Reveal()
	return h
}

// open opens the installation while no server runs on it.
func (h *host) open() *instance.Installation {
	h.t.Helper()
	conf := config.Config{DataDir: h.dir, Database: h.dsn}
	conf.Complete()
	in, err := instance.OpenOrInit(h.t.Context(), conf, time.Now)
	if err != nil {
		h.t.Fatal(err)
	}
	return in
}

// start starts the server and returns the organisation's admin and what kills the
// server.
func (h *host) start() (admin *client, kill func()) {
	h.t.Helper()
	admin, kill = h.launch()
	admin.token = admin.exchange(h.apiToken)
	return admin, kill
}

// launch starts the server and returns a client without a token and what kills the
// server.
func (h *host) launch() (anybody *client, kill func()) {
	h.t.Helper()
	cmd := exec.Command(crashServer(h.t), append([]string{"-dir", h.dir, "-database", h.dsn}, h.args...)...)
	cmd.Env = append(os.Environ(), h.env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	var once sync.Once
	kill = func() {
		once.Do(func() {
			if err := cmd.Process.Kill(); err != nil {
				h.t.Error(err)
			}
			_ = cmd.Wait() // it was killed
		})
	}
	h.t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		h.t.Fatalf("the server does not start: %v", err)
	}
	// A request that runs into the timeout looks like a server that is gone. On a
	// busy machine an answer may take long.
	return &client{t: h.t, base: strings.TrimSpace(line), http: &http.Client{Timeout: 2 * time.Minute}}, kill
}
