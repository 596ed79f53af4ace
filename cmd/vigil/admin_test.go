package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/audit"
	"vigil/internal/config"
	"vigil/internal/instance"
)

func TestOperatorCommandsAreRecorded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	admin := func(want int, args ...string) {
		t.Helper()
		var out, problems strings.Builder
		if code := run(append(args, "--data-dir", dir), nil, &out, &problems); code != want {
			t.Fatalf("vigil %s: exit %d: %s%s", strings.Join(args, " "), code, &out, &problems)
		}
	}
	admin(exitFailed, "admin", "org", "list")
	admin(0, "init")
	admin(0, "admin", "org", "add", "Acme")
	admin(0, "admin", "token", "create", "--org", "acme", "ci")
	admin(exitFailed, "admin", "token", "revoke", "--org", "acme", "none")
	admin(0, "admin", "org", "list")
	admin(0, "admin", "keys", "rotate-signing")
	admin(0, "backup", filepath.Join(dir, "copy.db"))
	conf := config.Config{DataDir: dir}
	conf.Complete()
	in, err := instance.Open(t.Context(), conf, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	orgs, err := in.Registry.Orgs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []audit.Record
	for _, org := range []string{"", string(orgs[0].ID)} { // "" selects the records that belong to no organisation
		records, err := in.Audit.Page(t.Context(), audit.Filter{Org: org, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, records...)
	}
	slices.SortFunc(all, func(a, b audit.Record) int { return int(a.Number - b.Number) })
	var got []string
	for _, r := range all {
		got = append(got, r.Operation+" "+string(r.Outcome))
		if r.ActorName != "operator" || r.Targets["systemUser"] == "" || strings.HasPrefix(r.Operation, "token.") && r.Org == "" {
			t.Errorf("record %+v", r)
		}
	}
	want := []string{"org.add success", "token.create success", "token.revoke failure", "keys.rotate-signing success", "backup success"}
	if !slices.Equal(got, want) {
		t.Errorf("records %q, want %q", got, want)
	}
}
