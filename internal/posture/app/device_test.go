package app_test

import (
	"net/http"
	"net/url"
	"testing"

	"vigil/internal/auth"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestProgramLogsInThroughTheBrowser starts logins as a program does and decides about
// them in a browser. The token of the program has the role and limits of the session.
func TestProgramLogsInThroughTheBrowser(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		api, org, user := newOrg(t, in, base, "org")
		_, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(org.ID), auth.TokenEdit{Name: "console", User: user.ID, Role: auth.Analyst})
		if err != nil {
			t.Fatal(err)
		}
		b, program := newBrowser(t, base), newBrowser(t, base)
		csrf := b.want(200, "POST", "/console/session", object{"apiToken": text.Reveal()}).member("csrfToken")
		const logins = "/v1/device-logins"
		start := func() (token, page string) {
			t.Helper()
			started := program.want(200, "POST", logins, object{"clientName": "vigil on laptop"})
			return started.member("deviceToken"), "/console/device-logins/" + started.member("userCode")
		}
		wantState := func(token, want string) {
			t.Helper()
			if got := program.want(200, "POST", logins+"/state", object{"deviceToken": token}).member("state"); got != want {
				t.Errorf("the login is %s, want %s", got, want)
			}
		}
		accepted := func(token string) bool {
			t.Helper()
			res, err := program.http.PostForm(base+"/csp/gateway/am/api/auth/api-tokens/authorize", url.Values{"refresh_token": {token}})
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			return res.StatusCode == http.StatusOK
		}
		program.want(400, "POST", logins, object{})
		program.want(404, "POST", logins+"/state", object{"deviceToken": "vgl_guess"})
		program.want(404, "POST", logins+"/state", object{"deviceToken": text.Reveal()})

		token, page := start()
		wantState(token, "pending")
		program.want(401, "GET", page, nil)
		program.want(401, "POST", page, object{"approve": true})
		api.want(403, "POST", page, object{"approve": true}) // not a browser session
		b.want(403, "POST", page, object{"approve": true})   // without the CSRF token
		b.want(404, "GET", "/console/device-logins/BCDF-BCDF", nil)
		if got := b.want(200, "GET", page, nil); got.member("clientName") != "vigil on laptop" || got.member("state") != "pending" {
			t.Errorf("the login: %s", got.text)
		}
		if accepted(token) {
			t.Error("the token is valid before the confirmation")
		}
		b.want(200, "POST", page, object{"approve": true}, "X-CSRF-Token", csrf)
		b.want(409, "POST", page, object{"approve": true}, "X-CSRF-Token", csrf)
		wantState(token, "approved")
		cli := &client{t: t, base: base, http: program.http}
		cli.token = cli.exchange(token)
		if me := cli.want(200, "GET", "/console/session", nil); me.member("role") != "analyst" || me.member("userName") != "admin" {
			t.Errorf("the program is %s", me.text)
		}
		count := 0
		for _, listed := range results(api.want(200, "GET", "/v1/api-tokens", nil)) {
			if listed["name"] != "vigil on laptop" {
				continue
			}
			count++
			if listed["expiryTime"] == nil {
				t.Errorf("the token does not expire: %v", listed)
			}
		}
		if count != 1 {
			t.Errorf("%d tokens of the program are listed, want one", count)
		}

		token, page = start()
		b.want(200, "POST", page, object{"approve": false}, "X-CSRF-Token", csrf)
		wantState(token, "denied")
		if accepted(token) {
			t.Error("the token of a refused login is valid")
		}
	})
}
