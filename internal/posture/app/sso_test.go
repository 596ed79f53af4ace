package app_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture/app"
	"vigil/internal/sim/idp"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// An ssoFixture is a server with an identity provider.
type ssoFixture struct {
	t           *testing.T
	in          *instance.Installation
	base        string
	idp         *idp.Provider // nil while it is down
	mappingFile string        // path of the file that maps groups
	admin       *client
	org         auth.Org
}

const mapping = `
- {group: cloud-admins, organization: org, role: admin}
- {group: analysts, organization: org, role: analyst}
- {group: partners, organization: partner, role: viewer}
- {group: orphans, organization: nowhere, role: viewer}
`

func newSSOFixture(t *testing.T, dsn string) *ssoFixture {
	t.Helper()
	f := &ssoFixture{t: t, mappingFile: filepath.Join(t.TempDir(), "groups.yaml")}
	f.writeMapping(mapping)
	var handler http.Handler // set later, because the settings of the server need its URL
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	f.base = server.URL
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.idp == nil {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		f.idp.ServeHTTP(w, r)
	}))
	t.Cleanup(provider.Close)
	key := filepath.Join(t.TempDir(), "client-secret")
	if err := os.WriteFile(key, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	var a *app.App
	a, f.in = buildWith(t, dsn, app.Options{Cloud: new(memcloud.Cloud)}, func(p *config.Posture) {
		p.SSO = config.SSO{
			Issuer: provider.URL, ClientID: "vigil", ClientSecret: "file:" + key, Scopes: "openid profile email groups", GroupsClaim: "groups",
			GroupsFile: f.mappingFile, RedirectBase: server.URL,
		}
	})
	handler = a.Handler()
	var err error
	f.idp, err = idp.New(idp.Options{
		Issuer: provider.URL, ClientID: "vigil", ClientSecret: "s3cret", RedirectURL: func() string { return server.URL + "/console/sso/callback" },
		Users: []idp.User{
			{Subject: "1", Name: "ann", Email: "ann@example.com", Groups: []string{"staff", "cloud-admins"}},
			{Subject: "2", Name: "bob", Groups: []string{"analysts"}},
			{Subject: "3", Name: "nobody", Groups: []string{"staff"}},
			{Subject: "4", Name: "eve", Groups: []string{"orphans"}},
			{Subject: "5", Name: "Admin", Email: "admin@example.com", Groups: []string{"analysts"}}, // the name of a local user
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.admin, f.org, _ = newOrg(t, f.in, f.base, "org")
	return f
}

// writeMapping replaces the file that maps groups to organisations and roles.
func (f *ssoFixture) writeMapping(text string) {
	f.t.Helper()
	if err := os.WriteFile(f.mappingFile, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// groups sets the groups of a user at the provider.
func (f *ssoFixture) groups(subject string, groups ...string) {
	for i := range f.idp.Users {
		if f.idp.Users[i].Subject == subject {
			f.idp.Users[i].Groups = groups
		}
	}
}

// get sends a request of a browser without following redirects. It returns the status, and
// the address that the response redirects to.
func get(b *client, address string) (int, *url.URL) {
	b.t.Helper()
	plain := &http.Client{Jar: b.http.Jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := plain.Get(address)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	to, err := res.Location()
	if err != nil {
		to = new(url.URL)
	}
	return res.StatusCode, to
}

// begin starts a login in a browser, logs a user in at the provider, and
// returns the address of the callback.
func (f *ssoFixture) begin(b *client, subject, back string) string {
	f.t.Helper()
	status, login := get(b, f.base+"/console/sso/start?return="+url.QueryEscape(back))
	if status != http.StatusSeeOther || !strings.HasSuffix(login.Path, "/authorize") {
		f.t.Fatalf("start: %d %s", status, login)
	}
	_, callback := get(b, login.String()+"&user="+subject)
	if !strings.HasPrefix(callback.String(), f.base+"/console/sso/callback?") {
		f.t.Fatalf("the provider redirects to %s", callback)
	}
	return callback.String()
}

// login logs a user in. It returns the browser, and where the login redirects it in the end.
func (f *ssoFixture) login(subject string) (*client, string) {
	f.t.Helper()
	b := newBrowser(f.t, f.base)
	status, to := get(b, f.begin(b, subject, "/console/findings?level=High"))
	if status != http.StatusSeeOther {
		f.t.Fatalf("callback: %d", status)
	}
	return b, to.RequestURI()
}

// refused checks that a login ends without a session, on a page that names the reason.
func (f *ssoFixture) refused(subject, reason string) {
	f.t.Helper()
	b, to := f.login(subject)
	if to != "/console/?sso="+reason {
		f.t.Errorf("%s is sent to %s, not to the reason %s", subject, to, reason)
	}
	b.want(401, "GET", "/console/session", nil)
}

func TestSingleSignOn(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		f := newSSOFixture(t, dsn)
		if _, _, err := f.in.Registry.CreateOrg(t.Context(), "partner", "admin"); err != nil {
			t.Fatal(err)
		}
		ann, to := f.login("1")
		if to != "/console/findings?level=High" {
			t.Errorf("the login leads to %s", to)
		}
		me := ann.want(200, "GET", "/console/session", nil)
		if me.member("role") != "admin" || me.member("userName") != "ann" || me.member("email") != "ann@example.com" || me.member("method") != "oidc" {
			t.Errorf("the session of ann: %s", me.text)
		}
		ann.want(403, "POST", "/v2/findings/query", object{})
		ann.want(200, "POST", "/v2/findings/query", object{}, "X-CSRF-Token", me.member("csrfToken"))

		// A second login finds the same user and applies the current groups: the role of
		// the first session changes at once.
		f.groups("1", "analysts")
		again, _ := f.login("1")
		for _, b := range []*client{ann, again} {
			if now := b.want(200, "GET", "/console/session", nil); now.member("role") != "analyst" || now.member("userId") != me.member("userId") {
				t.Errorf("a session of ann, who is now an analyst: %s", now.text)
			}
		}
		// A group of another organisation logs in as another user, and ends the sessions in the old organisation.
		f.groups("1", "partners")
		third, _ := f.login("1")
		if now := third.want(200, "GET", "/console/session", nil); now.member("role") != "viewer" || now.member("userId") == me.member("userId") {
			t.Errorf("the session in the other organisation: %s", now.text)
		}
		again.want(401, "GET", "/console/session", nil)
		// Without a mapped group all sessions end.
		f.groups("1", "staff")
		f.refused("1", "no_group")
		third.want(401, "GET", "/console/session", nil)

		// A user whose name a local user has gets another name. Sessions are not listed as API tokens.
		other, _ := f.login("5")
		if now := other.want(200, "GET", "/console/session", nil); now.member("userName") != "Admin (single sign-on 1)" || now.member("role") != "analyst" {
			t.Errorf("the session of a user whose name is taken: %s", now.text)
		}
		f.login("5")
		if list := f.admin.want(200, "GET", "/v1/api-tokens", nil); strings.Contains(list.text, "Single sign-on") {
			t.Errorf("API tokens: %s", list.text)
		}
		if list := f.admin.want(200, "GET", "/v1/users", nil); strings.Count(list.text, "single sign-on") != 1 || strings.Count(list.text, `"singleSignOn":true`) != 2 {
			t.Errorf("users, of which two use single sign-on: %s", list.text)
		}
		// A disabled user is refused, and the session ends.
		id := other.want(200, "GET", "/console/session", nil).member("userId")
		f.admin.want(200, "PUT", "/v1/users/"+id, object{"name": "Admin 5", "role": "analyst", "status": "disabled"})
		other.want(401, "GET", "/console/session", nil)
		f.refused("5", "disabled")

		audit := f.admin.want(200, "GET", "/v1/audit?operation=finishSingleSignOn&pageSize=1000", nil)
		if n := strings.Count(audit.text, `"outcome":"success"`); n != 4 {
			t.Errorf("%d logins are recorded, want two of each of two users: %s", n, audit.text)
		}
		if !strings.Contains(audit.text, `"cause":"single sign-on: the user is disabled"`) || !strings.Contains(audit.text, `"subject":"5"`) {
			t.Errorf("the refusal is not recorded: %s", audit.text)
		}
	})
}

func TestSingleSignOnRefusals(t *testing.T) {
	t.Parallel()
	f := newSSOFixture(t, dbtest.SQLite(t))
	f.refused("3", "no_group")
	f.refused("4", "misconfigured") // mapped to an organisation that does not exist
	f.refused("6", "denied")        // the provider does not know this user

	b, thief := newBrowser(t, f.base), newBrowser(t, f.base)
	callback := f.begin(b, "2", "https://evil.example/console/")
	if _, to := get(thief, callback); to.RequestURI() != "/console/?sso=expired" {
		t.Errorf("another browser is sent to %s", to)
	}
	thief.want(401, "GET", "/console/session", nil)
	// The other browser did not redeem the code, which still works in the browser that began
	// the login. The return address on another host is ignored.
	if _, to := get(b, callback); to.String() != f.base+"/console/" {
		t.Errorf("the login leads to %s", to)
	}
	b.want(200, "GET", "/console/session", nil)
	if _, to := get(b, callback); to.RequestURI() != "/console/?sso=expired" {
		t.Errorf("a replayed response is sent to %s", to)
	}

	// A mapping that became unreadable refuses logins and nothing else.
	f.writeMapping("broken")
	f.refused("2", "misconfigured")
	f.writeMapping(mapping)
	if _, to := f.login("2"); to != "/console/findings?level=High" {
		t.Errorf("the login leads to %s", to)
	}

	callback = f.begin(b, "2", "/console/")
	provider := f.idp
	f.idp = nil
	if _, to := get(b, callback); to.RequestURI() != "/console/?sso=unavailable" {
		t.Errorf("without a provider the login leads to %s", to)
	}
	// API tokens can still be used to log in.
	_, text, err := f.in.Registry.IssueToken(t.Context(), auth.Operator(f.org.ID), auth.TokenEdit{Name: "t", User: f.anyUser()})
	if err != nil {
		t.Fatal(err)
	}
	b.want(200, "POST", "/console/session", object{"apiToken": text.Reveal()})
	f.idp = provider
	if config := b.want(200, "GET", "/console/config", nil); !strings.Contains(config.text, `"oidc"`) {
		t.Errorf("the configuration does not offer single sign-on: %s", config.text)
	}
	plain := *f.admin
	plain.http = http.DefaultClient // the metrics are not in the OpenAPI document
	metrics := plain.want(200, "GET", "/metrics", nil)
	for _, line := range []string{`outcome="success"} 2`, `outcome="no_group"} 1`, `outcome="unavailable"} 1`, `outcome="expired"} 2`} {
		if !strings.Contains(metrics.text, "vigil_posture_sso_logins_total{"+line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// anyUser returns a user of the organisation.
func (f *ssoFixture) anyUser() auth.UserID {
	all, err := f.in.Registry.Users(f.t.Context(), auth.Operator(f.org.ID))
	if err != nil || len(all) == 0 {
		f.t.Fatalf("users %v, %v", all, err)
	}
	return all[0].ID
}

func TestSingleSignOnNotConfigured(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	b := newBrowser(t, serve(t, a))
	for _, path := range []string{"start", "callback?code=x&state=y"} {
		b.want(404, "GET", "/console/sso/"+path, nil)
	}
	if config := b.want(200, "GET", "/console/config", nil); strings.Contains(config.text, "oidc") {
		t.Errorf("the configuration offers single sign-on: %s", config.text)
	}
}
