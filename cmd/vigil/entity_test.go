package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/store"
)

// newInventory creates an installation with an organisation that has a few resources,
// and returns its data folder.
func newInventory(t *testing.T) string {
	t.Helper()
	conf := config.Config{DataDir: t.TempDir()}
	conf.Complete()
	in, err := instance.OpenOrInit(t.Context(), conf, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := store.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	org, _, err := in.Registry.CreateOrg(t.Context(), "Example", "admin")
	if err != nil {
		t.Fatal(err)
	}
	s := store.New(in.DB, in.Box, nil)
	scope := collect.Scoped{Org: posture.OrgID(org.ID), Account: "123456789012", Type: "AWS.S3.Bucket", Region: posture.Global}
	if err := s.Onboard(t.Context(), scope.Org, func(tx posture.OnboardingTx) error {
		return tx.AddAccount(posture.Account{ID: scope.Account, Provider: posture.AWS, Name: "made up"})
	}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Begin(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	// The name of c contains an escape sequence, which must not reach a terminal.
	for name, env := range map[string]string{"a": "Prod", "b": "test", "c\x1b[2J": "prod"} {
		e := collect.NewResource(scope.Type, scope.Account, "", name).Flag("encrypted", name == "a").Tag("env", env).Entity
		if err := r.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Commit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	return conf.DataDir
}

func TestEntityFind(t *testing.T) {
	t.Parallel()
	environ := []string{"VIGIL_DATA_DIR=" + newInventory(t)}
	for _, c := range []struct {
		args           []string
		exit           int
		stdout, stderr string // expected parts
		lines          int    // of stdout, with the heading of the table
	}{
		{nil, 0, "Bucket.b", "", 4},
		{[]string{"tag.env = PROD"}, 0, "AWS.S3.123456789012.global.Bucket.a", "", 3},
		{[]string{"tag.env = prod AND NOT property.encrypted = true"}, 0, "Bucket.c [2J", "", 2},
		{[]string{"--count", "tag.env = prod"}, 0, "2\n", "", 1},
		{[]string{"--count", "--account", "210987654321"}, 0, "0\n", "", 1},
		{[]string{"--limit", "1"}, 0, "ID", "1 of 3", 2},
		{[]string{"tag.env = prod AND size = 1"}, 2, "", "column 20: there is no field \"size\"", 0},
		{[]string{"tag.env = prod AND size = 1"}, 2, "", "\n  tag.env = prod AND size = 1\n                     ^", 0},
		{[]string{"--org", "nobody"}, 1, "", "there is no organisation", 0},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"entity", "find", "--org", "example"}, c.args...)
		exit := run(args, environ, &stdout, &stderr)
		if exit != c.exit || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) || strings.Count(stdout.String(), "\n") != c.lines {
			t.Errorf("%q: exit %d\n%s\n%s", c.args, exit, &stdout, &stderr)
		}
	}
}
