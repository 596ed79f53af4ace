package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestUserAndTokenCommands checks the requests and the output of each command.
func TestUserAndTokenCommands(t *testing.T) {
	t.Parallel()
	const users = `{"results":[{"id":"u1","name":"ann","role":"viewer","eTag":"7"},{"id":"u2","name":"bob","email":"bob@example.com"},{"id":"u3","name":"Bob"}]}`
	var request, answer string
	call := commandsOn(t, writeSecret(t), func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == "/v1/users" {
			_, _ = io.WriteString(w, users)
			return
		}
		body, _ := io.ReadAll(r.Body)
		// A request without If-Match has two spaces before its body.
		request = strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("If-Match"), body))
		_, _ = io.WriteString(w, answer)
	})
	for _, tt := range []struct {
		args, answer  string // EMPTY in args stands for the empty text
		code          int
		request, want string
	}{
		{"users", ``, 0, "", "bob@example.com"},
		{
			"users add eve --email eve@example.com --role analyst --account 123 --account-tag env=prod", `{"id":"u4"}`, 0,
			`POST /v1/users  {"email":"eve@example.com","limitedTo":{"cloudAccountIds":["123"],"tags":{"env":["prod"]}},"name":"eve","role":"analyst"}`, "has the id u4",
		},
		{"users add eve --role owner", ``, exitUsage, "", "--role must be one of"},
		{
			"users set ANN --role analyst", `{"name":"ann","role":"analyst","status":"active"}`, 0,
			`PUT /v1/users/u1 "7" {"name":"ann","role":"analyst"}`, "user ann has the role analyst and is active",
		},
		{
			"users set u1 --status disabled --all-accounts", `{"name":"ann","role":"viewer","status":"disabled"}`, 0,
			`PUT /v1/users/u1 "7" {"limitedTo":null,"name":"ann","role":"viewer","status":"disabled"}`, "is disabled",
		},
		{"users set ann", ``, exitUsage, "", "nothing to change"},
		{"users set bob --role admin", ``, exitUsage, "", "2 users are called"},
		{"users set nobody --role admin", ``, exitFailed, "", `there is no user "nobody"`},
		{"users set EMPTY --role admin", ``, exitUsage, "", "the user is empty"}, // ann has no email address
		{"users delete EMPTY", ``, exitUsage, "", "the user is empty"},
		{"tokens create ci --user=EMPTY", ``, exitUsage, "", "the user is empty"},
		{"audit list --actor=EMPTY", ``, exitUsage, "", "the user is empty"},
		{"users delete bob@example.com", `{}`, 0, "DELETE /v1/users/u2", "user bob is deleted"},
		{"tokens", `{"results":[{"id":"t1","name":"ci"}]}`, 0, "GET /v1/api-tokens", "t1"},
		{
			"tokens create ci --user ann --scope findings --address 192.0.2.0/24", `{"id":"t2","token":"vgl_text","expiryTime":"2027-01-01T00:00:00Z"}`, 0,
			`POST /v1/api-tokens  {"addresses":["192.0.2.0/24"],"name":"ci","role":"viewer","scopes":["findings"],"userId":"u1"}`, "vgl_text\n",
		},
		{"tokens create ci --expires=-1h", ``, exitUsage, "", "--expires must be longer than zero"},
		{"mute add x --reason y --for=-1h", ``, exitUsage, "", "--for must be longer than zero"},
		{"mute add x --reason y --for 0h", ``, exitUsage, "", "--for must be longer than zero"},
		{"suppress f1 --reason y --for=-1h", ``, exitUsage, "", "--for must be longer than zero"},
		{"tokens revoke t1", `{"name":"ci"}`, 0, "DELETE /v1/api-tokens/t1", "token ci is revoked"},
	} {
		request, answer = "", tt.answer
		args := strings.Fields(tt.args)
		for i, arg := range args {
			args[i] = strings.ReplaceAll(arg, "EMPTY", "")
		}
		code, out := call(args...)
		if code != tt.code || request != tt.request || !strings.Contains(out, tt.want) {
			t.Errorf("%s: exit %d, want %d\nsent %s\nwant %s\nprinted %s\nwant %s", tt.args, code, tt.code, request, tt.request, out, tt.want)
		}
	}
}
