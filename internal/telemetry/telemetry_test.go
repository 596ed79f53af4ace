package telemetry

import (
	"bytes"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLogHidesSecrets(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		var out bytes.Buffer
		log, err := NewLog(&out, LogOptions{Format: format, Level: "debug"})
		if err != nil {
			t.Fatal(err)
		}
		log.With("refresh_token", "hush1").Debug("x", "Password", "hush2", "account", "a1",
			slog.Group("request", "Authorization", "hush3", "id", "r1"), "applicationKey", slog.GroupValue(slog.String("v", "hush4")))
		if s := out.String(); strings.Contains(s, "hush") || !strings.Contains(s, "a1") || !strings.Contains(s, "r1") || strings.Count(s, Redacted) != 4 {
			t.Errorf("%s: the log shows a secret or lacks another value: %s", format, s)
		}
	}
}

func TestSecretKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"password": true, "db_password": true, "refreshToken": true, "Authorization": true, "ApplicationKey": true, "service_account_key": true,
		"X-Api-Key": true, "set-cookie": true, "client.secret": true, "token_id": false, "tokenId": false, "password_file": false,
		"account": false, "request_id": false, "key": false, "": false, "tokens": true, "token_count": false,
	} {
		if got := Secret(key); got != want {
			t.Errorf("Secret(%q) = %t, want %t", key, got, want)
		}
	}
}

func TestLogOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, o := range []LogOptions{{Format: "xml"}, {Level: "loud"}} {
		if _, err := NewLog(&bytes.Buffer{}, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	var out bytes.Buffer
	log, err := NewLog(&out, LogOptions{Level: "WARN"})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("quiet")
	log.Warn("loud")
	if s := out.String(); strings.Contains(s, "quiet") || !strings.Contains(s, "loud") {
		t.Errorf("at level WARN the log is %s", s)
	}
}

func TestRegistryHasBuildInformation(t *testing.T) {
	t.Parallel()
	families, err := NewRegistry(Build{Version: "v1", Go: "go1"}).Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families {
		names = append(names, f.GetName())
	}
	for _, want := range []string{"vigil_build_info", "go_goroutines", "process_open_fds"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s among %v", want, names)
		}
	}
}

func TestBuildPrefersTheGivenVersion(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{GoVersion: "go1", Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-01T00:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	want := Build{Version: "devel", Commit: "abc", Time: "2026-01-01T00:00:00Z", Modified: true, Go: "go1"}
	if diff := cmp.Diff(want, buildOf("", info)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want.Version = "v1.2.3"
	if diff := cmp.Diff(want, buildOf("v1.2.3", info)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
