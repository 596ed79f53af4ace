package app_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/posture/app"
	"vigil/internal/secret"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// newBrowser returns a client without a token that keeps cookies.
func newBrowser(t *testing.T, base string) *client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, base: base, http: document.Client(t, nil)}
	c.http.Jar = jar
	return c
}

func TestBrowserLogsInWithAnAPIToken(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		_, org, user := newOrg(t, in, base, "org")
		token, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(org.ID), auth.TokenEdit{Name: "console", User: user.ID, Role: auth.Analyst})
		if err != nil {
			t.Fatal(err)
		}
		b := newBrowser(t, base)
		b.want(401, "GET", "/console/session", nil)
		b.want(400, "POST", "/console/session", object{})
		b.want(400, "POST", "/console/session", object{"apiToken": "vgl_guess"})
		b.want(403, "POST", "/console/session", object{"apiToken": text.Reveal()}, "Sec-Fetch-Site", "cross-site")
		login := b.want(200, "POST", "/console/session", object{"apiToken": text.Reveal()})
		cookie := login.header.Get("Set-Cookie")
		if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
			t.Errorf("cookie %q", cookie)
		}
		if strings.Contains(login.text, text.Reveal()) {
			t.Error("the response contains the API token")
		}
		csrf := login.member("csrfToken")
		session := b.want(200, "GET", "/console/session", nil)
		if session.member("role") != "analyst" || session.member("userName") != "admin" || session.member("method") != "apiToken" || session.member("csrfToken") != csrf {
			t.Errorf("session %s", session.text)
		}
		b.want(200, "POST", "/v2/findings/query", object{}, "X-CSRF-Token", csrf)
		b.want(403, "POST", "/v2/findings/query", object{})
		b.want(403, "POST", accounts, awsAccount(accountID(1)), "X-CSRF-Token", csrf) // an analyst lacks the permission

		// The access token takes precedence over the cookie.
		b.want(401, "GET", "/console/session", nil, "Authorization", "Bearer none")

		if _, err := in.Registry.RevokeToken(t.Context(), auth.Operator(org.ID), token.ID); err != nil {
			t.Fatal(err)
		}
		b.want(401, "GET", "/console/session", nil)
	})
}

func TestLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	base := serve(t, a)
	api, org, user := newOrg(t, in, base, "org")
	_, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(org.ID), auth.TokenEdit{Name: "console", User: user.ID})
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, base)
	csrf := b.want(200, "POST", "/console/session", object{"apiToken": text.Reveal()}).member("csrfToken")
	b.want(403, "DELETE", "/console/session", nil)
	b.want(204, "DELETE", "/console/session", nil, "X-CSRF-Token", csrf)
	b.want(401, "GET", "/console/session", nil)
	// A client with an access token has no session, but can read its own profile.
	if session := api.want(200, "GET", "/console/session", nil); session.member("method") != "accessToken" || session.body["csrfToken"] != nil {
		t.Errorf("session of an access token: %s", session.text)
	}
	api.want(404, "DELETE", "/console/session", nil)
}

func TestOneTimeLinkLogsIn(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	base := serve(t, a)
	_, org, user := newOrg(t, in, base, "org")
	_, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(org.ID), auth.TokenEdit{Name: "console", User: user.ID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.ConsoleLink(t.Context(), secret.NewText("vgl_guess"), time.Hour); err == nil {
		t.Error("a link was made for an unknown token")
	}
	link, err := a.ConsoleLink(t.Context(), text, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, base)
	open := func() (int, string) {
		res, err := (&http.Client{Jar: b.http.Jar}).Get(base + link) // pages are not in the OpenAPI document
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode, res.Request.URL.Path
	}
	if status, path := open(); status != http.StatusOK || path != "/console/" {
		t.Fatalf("the link leads to %s, %d", path, status)
	}
	if session := b.want(200, "GET", "/console/session", nil); session.member("method") != "link" || session.member("role") != "admin" {
		t.Errorf("session of a link: %s", session.text)
	}
	b = newBrowser(t, base)
	if status, _ := open(); status != http.StatusUnauthorized {
		t.Errorf("the second use of the link = %d, want 401", status)
	}
}

func TestConsoleConfigIsPublic(t *testing.T) {
	t.Parallel()
	a, _ := build(t, dbtest.SQLite(t), app.Options{
		Cloud: new(memcloud.Cloud), Version: "1.2.3", Demo: true, Warning: "not real", Desktop: func() string { return "https://desktop.test" },
	})
	b := newBrowser(t, serve(t, a))
	got := b.want(200, "GET", "/console/config", nil)
	want := `{"product":"posture","version":"1.2.3","demo":true,"warning":"not real","otherServer":{"product":"desktop","url":"https://desktop.test"},"login":["apiToken"]}`
	if strings.TrimSpace(got.text) != want {
		t.Errorf("config %s\nwant %s", got.text, want)
	}
}

func TestSessionTellsTheScopesOfItsToken(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	base := serve(t, a)
	admin, _, _ := newOrg(t, in, base, "org")
	for want, scopes := range map[string][]string{"[]": {}, "[console findings]": {"findings", "console"}} {
		token := admin.want(201, "POST", "/v1/api-tokens", object{"name": "x", "role": "analyst", "scopes": scopes}).member("token")
		b := newBrowser(t, base)
		b.want(200, "POST", "/console/session", object{"apiToken": token})
		if got := fmt.Sprint(b.want(200, "GET", "/console/session", nil).body["scopes"]); got != want {
			t.Errorf("scopes %s, want %s", got, want)
		}
	}
}
