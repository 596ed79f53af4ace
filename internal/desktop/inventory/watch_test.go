package inventory

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
)

func TestWatcherReloadsChangedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inventory.yaml")
	write := func(lines ...string) {
		t.Helper()
		text := "version: 1\ngateways:\n" + strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		names := func(refs []desktop.Ref) (out []string) {
			for _, r := range refs {
				out = append(out, r.Name)
			}
			return out
		}
		w := &Watcher{
			Path: path,
			Apply: func(_ desktop.Inventory, d Diff) {
				seen = append(seen, "applied +"+strings.Join(names(d.Added), ",")+" -"+strings.Join(names(d.Removed), ",")+" ~"+strings.Join(names(d.Changed), ","))
			},
			Reject: func(error) { seen = append(seen, "rejected") },
		}
		write("- {name: a, address: x}", "- {name: b, address: x}")
		if err := w.Load(); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		reload := make(chan os.Signal)
		done := make(chan struct{})
		go func() { defer close(done); w.Run(ctx, reload) }()
		nextCheck := func() { time.Sleep(6 * time.Second); synctest.Wait() } // the file is checked every 5 s

		nextCheck() // nothing changed
		write("- {name: a, address: y}", "- {name: c, address: x}")
		nextCheck()
		write("- {name: a, address: y}", "- nonsense")
		nextCheck()
		nextCheck() // refused once, not at each check
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		nextCheck()
		write("- {name: a, address: y}", "- {name: c, address: x}") // the inventory that is still in use
		nextCheck()
		reload <- os.Interrupt // any signal: the unchanged file is applied again
		synctest.Wait()
		stop()
		<-done
		want := []string{"applied +a,b - ~", "applied +c -b ~a", "rejected", "rejected", "applied + - ~", "applied + - ~"}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

type vault map[string]string

func (v vault) Entry(_ context.Context, name string) (string, error) { return v[name], nil }

func TestSecretsAreResolvedFromTheirSource(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte("from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Secrets{Vault: vault{"db": "from vault"}, Getenv: func(name string) string { return "from " + name }}
	for _, tt := range []struct {
		ref, want string
		ok        bool
	}{
		{"file:" + path, "from file", true},
		{"env:HOME", "from HOME", true},
		{"vault:db", "from vault", true},
		{"vault:none", "", false},
		{"file:" + path + ".none", "", false},
		{"hunter2", "", false}, // the secret itself, not a reference
	} {
		got, err := s.Secret(t.Context(), desktop.SecretRef(tt.ref))
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("Secret(%s) = %q, %v, want %q", tt.ref, got, err, tt.want)
		}
	}
	if _, err := (Secrets{}).Secret(t.Context(), "vault:db"); err == nil {
		t.Error("a secret was resolved without a vault")
	}
}
