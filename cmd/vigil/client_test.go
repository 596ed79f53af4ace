package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// fakePostureServer is a fake posture server that records the last request.
func fakePostureServer(t *testing.T) (url string, last *map[string]any) {
	t.Helper()
	last = new(map[string]any)
	stateRequests := 0 // requests for the state of the browser login; the third is answered "approved"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/authorize") {
			_, _ = io.WriteString(w, `{"access_token":"access","expires_in":1800}`)
			return
		}
		*last = map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(last)
		(*last)["path"] = r.URL.Path
		switch r.URL.Path {
		case "/v2/findings/query":
			_, _ = io.WriteString(w, `{"totalCount":7,"results":[{"id":"f1","level":"High","riskScore":80,"ruleId":"aws-iam-root-mfa","objectName":"root"}]}`)
		case "/v1/device-logins":
			_, _ = io.WriteString(w, `{"deviceToken":"device-token","userCode":"BCDF-GHJK","verificationPath":"/console/device-login?code=BCDF-GHJK","expiresIn":600,"interval":0}`)
		case "/v1/device-logins/state":
			state := "pending"
			if stateRequests++; stateRequests > 2 {
				state = "approved"
			}
			_, _ = io.WriteString(w, `{"state":"`+state+`"}`)
		case "/v1/collection-plan":
			_, _ = io.WriteString(w, `{"everyHours":24,"paused":false}`)
		case "/v1/cloud-accounts/123/collection-settings":
			_, _ = io.WriteString(w, `{"everyHours":6,"paused":null,"regions":["eu-west-1"],"effective":{"everyHours":6,"paused":false},"nextCollectionTime":"2026-01-02T03:04:05Z"}`)
		case "/v2/findings/export":
			_, _ = io.WriteString(w, "<!doctype html>")
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message":"there is no such thing","statusCode":404}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, last
}

// writeSecret returns a file with the secret "hush".
func writeSecret(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// commandsOn logs in to a fake server with the API token in a file. It returns a function that runs
// a command there and returns its exit code and output. All requests but the login go to serve.
func commandsOn(t *testing.T, token string, serve http.HandlerFunc) func(args ...string) (int, string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/authorize") {
			_, _ = io.WriteString(w, `{"access_token":"access","expires_in":1800}`)
			return
		}
		serve(w, r)
	}))
	t.Cleanup(s.Close)
	profiles := filepath.Join(t.TempDir(), "profiles.yaml")
	call := func(args ...string) (int, string) {
		var out strings.Builder
		code := run(append(args, "--profiles", profiles), nil, &out, &out)
		return code, out.String()
	}
	if code, out := call("login", s.URL, "--token-file", token); code != 0 {
		t.Fatal(out)
	}
	return call
}

func TestClientCommands(t *testing.T) {
	t.Parallel()
	url, last := fakePostureServer(t)
	dir := t.TempDir()
	profiles, token := filepath.Join(dir, "profiles.yaml"), filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("api-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) (int, string, string) {
		var out, problems strings.Builder
		code := run(append(args, "--profiles", profiles), nil, &out, &problems)
		return code, out.String(), problems.String()
	}
	if code, _, problems := call("findings"); code != exitFailed || !strings.Contains(problems, "vigil login") {
		t.Errorf("without a login: exit %d: %s", code, problems)
	}
	if code, out, problems := call("login", url, "--token-file", token, "--name", "here"); code != 0 || !strings.Contains(out, "logged in") || strings.Contains(out+problems, "api-token") {
		t.Fatalf("login: exit %d: %s%s", code, out, problems)
	}
	code, out, problems := call("findings", "--level", "high", "--fail-on", "medium")
	if code != exitFindings || !strings.Contains(problems, "7 findings are medium or higher") || !strings.Contains(out, "High   80    aws-iam-root-mfa  root") {
		t.Errorf("findings: exit %d: %s%s", code, out, problems)
	}
	if got := fmt.Sprint((*last)["filters"]); got != "map[isSuppressed:false levels:[High Medium] statuses:[open]]" {
		t.Errorf("what --fail-on counts: %s", got)
	}
	for _, flag := range []string{"--account", "--rule", "--framework"} { // the server has no account, rule or framework "misspelt"
		if code, _, problems := call("findings", flag, "misspelt", "--fail-on", "high"); code != exitFailed || !strings.Contains(problems, "there is no such thing") {
			t.Errorf("findings %s misspelt: exit %d: %s", flag, code, problems)
		}
	}
	if code, out, _ := call("findings", "-o", "json"); code != 0 || !strings.Contains(out, `"riskScore": 80`) {
		t.Errorf("json: exit %d: %s", code, out)
	}
	file := filepath.Join(dir, "report.html")
	if code, _, problems := call("export", "findings", "-o", file); code != 0 || (*last)["format"] != "html" {
		t.Errorf("export: exit %d: %s, request %v", code, problems, *last)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "<!doctype html>" {
		t.Errorf("file %q, %v", text, err)
	}
	if code, _, problems := call("api", "GET", "/v1/none"); code != exitFailed || !strings.Contains(problems, "there is no such thing") {
		t.Errorf("api: exit %d: %s", code, problems)
	}
	if code, out, problems := call("accounts", "schedule", "--every", "1d"); code != 0 || out != "accounts are collected every 24 hours\n" || (*last)["everyHours"] != 24.0 {
		t.Errorf("schedule: exit %d: %s%s, request %v", code, out, problems, *last)
	}
	// Not whole hours, too long, too short, and --default, which needs an account.
	for _, args := range [][]string{{"--every", "90m"}, {"--every", "8d"}, {"--every", "0h"}, {"--default"}} {
		if code, out, _ := call(append([]string{"accounts", "schedule"}, args...)...); code != exitUsage {
			t.Errorf("schedule %v: exit %d: %s", args, code, out)
		}
	}
	code, out, problems = call("accounts", "schedule", "123", "--pause")
	if code != 0 || out != "account 123 is collected every 6 hours\nnext collection: 2026-01-02T03:04:05Z\nregions: eu-west-1\n" ||
		fmt.Sprint(*last) != "map[everyHours:6 path:/v1/cloud-accounts/123/collection-settings paused:true regions:[eu-west-1]]" {
		t.Errorf("schedule of an account: exit %d: %s%s, request %v", code, out, problems, *last)
	}
	if code, _, problems := call("accounts", "set", "123", "--all-regions"); code != 0 || fmt.Sprint(*last) != "map[everyHours:6 path:/v1/cloud-accounts/123/collection-settings paused:<nil> regions:[]]" {
		t.Errorf("regions: exit %d: %s, request %v", code, problems, *last)
	}
	if code, out, _ := call("profiles"); code != 0 || !strings.Contains(out, "here") || strings.Contains(out, "api-token") {
		t.Errorf("profiles: exit %d: %s", code, out)
	}
	if code, out, problems := call("login", url, "--browser", "--name", "here"); code != 0 || !strings.Contains(problems, url+"/console/device-login?code=BCDF-GHJK") || strings.Contains(out+problems, "device-token") {
		t.Errorf("login by browser: exit %d: %s%s", code, out, problems)
	}
	if text, err := os.ReadFile(profiles); err != nil || !strings.Contains(string(text), "device-token") {
		t.Errorf("the profile is %s, %v", text, err)
	}
	if code, _, _ := call("logout"); code != 0 {
		t.Errorf("logout: exit %d", code)
	}
	if code, _, _ := call("accounts"); code != exitFailed {
		t.Errorf("after logout: exit %d", code)
	}
	for name, text := range map[string]string{"empty": "", "a blank line": "\n"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, problems := call("login", url, "--token-file", file); code != exitUsage || !strings.HasPrefix(problems, "vigil: no API token was given; ") {
			t.Errorf("%s: exit %d: %s", name, code, problems)
		}
	}
	if code, _, problems := call("login", "http://vigil.example", "--token-file", token); code != exitUsage {
		t.Errorf("a token over plain HTTP: exit %d: %s", code, problems)
	}
}

func TestPartOfASecretIsRefused(t *testing.T) {
	t.Parallel()
	failure := errors.New("connection reset")
	in := io.MultiReader(strings.NewReader("half of a sec"), iotest.ErrReader(failure))
	secret, err := readSecret(&environment{t.Context(), in, io.Discard, io.Discard}, "", "API token", "give it")
	if secret != "" || !errors.Is(err, failure) {
		t.Errorf("readSecret returned %q, %v", secret, err)
	}
}
