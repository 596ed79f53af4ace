package app_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vigil/internal/desktop/app"
	"vigil/internal/sim/estate"
)

// TestAcceptance runs the black-box checks of the desktop server, if they exist
// beside the checkout.
//
// It does not run in parallel with other tests: its machines report as often as
// those of the demo, and a server that gets too little processor time answers
// 503 while hundreds of heartbeats queue.
func TestAcceptance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	checks := besideCheckout(t, "shared/accept/run.py")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	w := start(t, options{
		size: estate.Demo(), join: true,
		// Zero means the default, as in the demo. The other tests use shorter intervals.
		estate: func(o *estate.Options) { o.GatewayInterval, o.AgentInterval, o.Failures = 0, 0, 0 },
		app:    func(o *app.Options) { o.Settings = app.Settings{} },
	})
	w.login()
	ready, err := json.Marshal(map[string]string{
		"desktop_url": w.url, "desktop_domain": w.estate.Admin.Domain,
		"desktop_username": w.estate.Admin.Username, "desktop_password": w.estate.Admin.Password,
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.dir, "ready.json")
	if err := os.WriteFile(file, ready, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), python, checks, "--ready", file, "--only", "desktop_").CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "PASS") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// besideCheckout returns the path of a file in a folder beside the checkout, or
// skips the test.
func besideCheckout(t *testing.T, name string) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Skip("needs a git checkout")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(filepath.Dir(dir), name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("there is no %s beside the checkout", name)
	}
	return path
}
