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

// builds holds the executable of the server for crash tests, which is built once.
var builds struct {
	once sync.Once
	dir  string
	err  error
}

// TestMain removes the executable of the crash tests.
func TestMain(m *testing.M) {
	status := m.Run()
	if builds.dir != "" {
		os.RemoveAll(builds.dir)
	}
	os.Exit(status)
}

// crashServer builds package crashserver without the race detector and returns the path
// of the executable.
func crashServer(t *testing.T) string {
	t.Helper()
	builds.once.Do(func() {
		builds.dir, builds.err = os.MkdirTemp("", "vigil-crash-")
		if builds.err != nil {
			return
		}
		// Omit symbols: they take half of the link time.
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

// A host is a data folder and a database on which the server is started and killed
// repeatedly, each time in its own process.
type host struct {
	t        *testing.T
	dir, dsn string
	args     []string // additional arguments of the server
	env      []string // additional environment variables of the server
	org      posture.OrgID
	apiToken string // of the organisation's admin
}

// newHost creates an installation with one organisation.
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

// open opens the installation while no server is running.
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

// start starts the server. It returns a client for the organisation's admin and a
// function that kills the server.
func (h *host) start() (admin *client, kill func()) {
	h.t.Helper()
	admin, kill = h.launch()
	admin.token = admin.exchange(h.apiToken)
	return admin, kill
}

// launch starts the server. It returns a client without a token and a function that
// kills the server.
func (h *host) launch() (c *client, kill func()) {
	h.t.Helper()
	c, end := h.spawn()
	return c, func() { end(os.Kill) }
}

// spawn starts the server. It returns a client without a token and a function that ends
// the server with a signal. Only the first call of the function has an effect.
func (h *host) spawn() (c *client, end func(os.Signal)) {
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
	end = func(signal os.Signal) {
		once.Do(func() {
			if err := cmd.Process.Signal(signal); err != nil {
				h.t.Error(err)
			}
			if err := cmd.Wait(); err != nil && signal != os.Kill {
				h.t.Errorf("the server ended with %v", err)
			}
		})
	}
	h.t.Cleanup(func() { end(os.Kill) })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		h.t.Fatalf("the server does not start: %v", err)
	}
	// The timeout is long, because a busy machine is slow and a timeout would look like
	// a crashed server.
	return &client{t: h.t, base: strings.TrimSpace(line), http: &http.Client{Timeout: 2 * time.Minute}}, end
}
