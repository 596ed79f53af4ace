package websession_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/auth/websession"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// A fixture is a server with sessions and a controlled clock.
type fixture struct {
	t        *testing.T
	sessions *websession.Sessions
	url      string

	mu    sync.Mutex
	clock time.Time
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

func (f *fixture) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock = f.clock.Add(d)
}

var ann = websession.Identity{Org: "org", Subject: "ann", Grant: "token-1", Name: "Ann", Method: "apiToken"}

func newFixture(t *testing.T, db *sqldb.DB, o websession.Options) *fixture {
	t.Helper()
	if err := websession.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, clock: time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)}
	o.Realm, o.Now = "test", f.now
	f.sessions = websession.New(db, o)
	guard := func(r *http.Request, _ string) (context.Context, error) {
		session, err := f.sessions.Authenticate(r)
		return context.WithValue(r.Context(), contextKey{}, session), err
	}
	route := func(pattern, need string, h httpapi.Handler) httpapi.Route {
		return httpapi.Route{Pattern: pattern, Need: need, Operation: pattern, Handler: h}
	}
	show := func(ctx context.Context, _ httpapi.None) (map[string]string, error) {
		s, _ := ctx.Value(contextKey{}).(websession.Session)
		return map[string]string{"id": s.ID, "name": s.Name, "csrf": s.CSRFToken()}, nil
	}
	login := func(_ http.ResponseWriter, r *http.Request) (any, error) {
		if err := websession.CheckOrigin(r); err != nil {
			return nil, err
		}
		_, err := f.sessions.Begin(r, ann)
		return nil, err
	}
	logout := func(ctx context.Context, _ httpapi.None) (httpapi.Reply, error) {
		s, _ := ctx.Value(contextKey{}).(websession.Session)
		return httpapi.NoContent(), f.sessions.Logout(ctx, s)
	}
	m, err := httpapi.NewMux([]httpapi.Route{
		route("POST /login", httpapi.Public, login), route("GET /me", "user", httpapi.JSON(show)),
		route("POST /me", "user", httpapi.JSON(show)), route("DELETE /me", "user", httpapi.JSON(logout)),
	}, httpapi.Options{
		Guard: guard,
		// A zero rate is unlimited.
		Rates: map[string]httpapi.Rate{httpapi.RateDefault: {}, httpapi.RateRefused: {}, httpapi.RateLogin: {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

type contextKey struct{}

// A browser stores one cookie. If lossy is set, it drops new cookies.
type browser struct {
	f      *fixture
	cookie *http.Cookie
	csrf   string
	lossy  bool
}

func (b *browser) do(method, path string, headers ...string) (int, map[string]string) {
	b.f.t.Helper()
	status, body, err := b.try(method, path, headers...)
	if err != nil {
		b.f.t.Fatal(err)
	}
	return status, body
}

// try sends a request. Unlike do, it may be called by any goroutine.
func (b *browser) try(method, path string, headers ...string) (status int, body map[string]string, err error) {
	r, err := http.NewRequestWithContext(b.f.t.Context(), method, b.f.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	r.Header.Set("X-CSRF-Token", b.csrf)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	for _, c := range res.Cookies() {
		if !b.lossy {
			b.cookie = c
		}
	}
	text, err := io.ReadAll(res.Body)
	_ = json.Unmarshal(text, &body)
	return res.StatusCode, body, err
}

func (b *browser) login() {
	b.f.t.Helper()
	if status, _ := b.do("POST", "/login"); status != 200 {
		b.f.t.Fatalf("login = %d", status)
	}
	status, body := b.do("GET", "/me")
	if status != 200 || body["name"] != "Ann" || body["csrf"] == "" {
		b.f.t.Fatalf("after the login: %d %v", status, body)
	}
	b.csrf = body["csrf"]
}

func (b *browser) want(status int, method string, headers ...string) {
	b.f.t.Helper()
	if got, body := b.do(method, "/me", headers...); got != status {
		b.f.t.Fatalf("%s = %d %v; want %d", method, got, body, status)
	}
}

func (b *browser) copy() *browser {
	c := *b.cookie
	return &browser{f: b.f, cookie: &c, csrf: b.csrf}
}

// run calls test for every database.
func run(t *testing.T, o websession.Options, test func(t *testing.T, f *fixture)) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) { test(t, newFixture(t, db, o)) })
}

func TestCookieCannotBeReadByScriptsOrSentByOthers(t *testing.T) {
	run(t, websession.Options{Secure: true}, func(t *testing.T, f *fixture) {
		b := &browser{f: f}
		b.login()
		c := b.cookie
		if c.Name != "__Host-vigil-test" || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 {
			t.Errorf("cookie %+v", c)
		}
		if strings.Contains(c.Value, b.csrf) {
			t.Error("the CSRF token is part of the cookie")
		}
	})
}

func TestChangesNeedTheCSRFTokenAndTheOwnOrigin(t *testing.T) {
	run(t, websession.Options{}, func(t *testing.T, f *fixture) {
		b := &browser{f: f}
		b.login()
		b.want(200, "POST")
		b.want(403, "POST", "X-CSRF-Token", "")
		b.want(403, "POST", "X-CSRF-Token", "x"+b.csrf)
		b.want(403, "POST", "Sec-Fetch-Site", "cross-site")
		b.want(403, "POST", "Origin", "https://other.example")
		b.want(403, "GET", "Sec-Fetch-Site", "same-site")
		b.want(200, "GET", "Sec-Fetch-Site", "same-origin", "X-CSRF-Token", "")
		if status, _ := b.do("POST", "/login", "Sec-Fetch-Site", "cross-site"); status != 403 {
			t.Errorf("a login from another origin = %d", status)
		}
		other := &browser{f: f}
		other.login()
		b.csrf = other.csrf
		b.want(403, "POST")
	})
}

func TestSessionsEndByLogoutIdlenessAndAge(t *testing.T) {
	run(t, websession.Options{}, func(t *testing.T, f *fixture) {
		b := &browser{f: f}
		b.login()
		copied := b.copy()
		b.want(204, "DELETE")
		if b.cookie.MaxAge >= 0 {
			t.Errorf("the logout leaves the cookie: %+v", b.cookie)
		}
		copied.want(401, "GET")

		b = &browser{f: f}
		b.login()
		for range 4 {
			f.pass(29 * time.Minute)
			b.want(200, "GET")
		}
		f.pass(32 * time.Minute) // longer than Idle (30 minutes) and the precision of the last use (1 minute)
		b.want(401, "GET")

		b = &browser{f: f}
		b.login()
		for range 23 { // 9 hours 58 minutes; the maximum age is 10 hours
			f.pass(26 * time.Minute)
			b.want(200, "GET")
		}
		f.pass(3 * time.Minute)
		b.want(401, "GET")
	})
}

func TestReuseOfARotatedSecretEndsTheSession(t *testing.T) {
	run(t, websession.Options{}, func(t *testing.T, f *fixture) {
		b := &browser{f: f}
		b.login()
		thief, first := b.copy(), b.cookie.Value
		f.pass(6 * time.Minute)
		b.want(200, "GET")
		if b.cookie.Value == first {
			t.Fatal("the cookie was not replaced")
		}
		second := b.cookie.Value
		b.want(200, "POST")
		b.want(200, "GET")
		if b.cookie.Value != second {
			t.Error("the cookie was replaced twice within a minute")
		}
		// A request that was sent before the cookie was replaced is accepted within the
		// grace period ...
		thief.want(200, "GET")
		// ... but later it ends the session, for the browser as well.
		f.pass(2 * time.Minute)
		thief.want(401, "GET")
		b.want(401, "GET")
	})
}

func TestLostResponseDoesNotEndTheSession(t *testing.T) {
	run(t, websession.Options{}, func(t *testing.T, f *fixture) {
		b := &browser{f: f}
		b.login()
		first := b.cookie.Value
		b.lossy = true // the responses with the new cookie never arrive
		for range 5 {
			f.pass(7 * time.Minute)
			b.want(200, "GET")
		}
		b.lossy = false
		f.pass(7 * time.Minute)
		b.want(200, "GET")
		if b.cookie.Value == first {
			t.Error("the cookie is still not replaced")
		}
		b.want(200, "POST")
	})
}

func TestConcurrentRequestsGetOneNewCookie(t *testing.T) {
	run(t, websession.Options{}, func(t *testing.T, f *fixture) {
		b := &browser{f: f}
		b.login()
		f.pass(6 * time.Minute)
		var wait sync.WaitGroup
		replaced := make(chan string, 20)
		for range 20 {
			wait.Go(func() {
				c := b.copy()
				before := c.cookie.Value
				if status, body, err := c.try("GET", "/me"); status != 200 || err != nil {
					t.Errorf("one of many = %d %v, %v", status, body, err)
				}
				if c.cookie.Value != before {
					replaced <- c.cookie.Value
				}
			})
		}
		wait.Wait()
		if len(replaced) != 1 {
			t.Fatalf("%d responses replace the cookie, want 1", len(replaced))
		}
		b.cookie.Value = <-replaced
		b.want(200, "GET")
		f.pass(2 * time.Minute)
		b.want(200, "GET")
	})
}

func TestGuessedCookiesAreRefused(t *testing.T) {
	run(t, websession.Options{}, func(t *testing.T, f *fixture) {
		b := &browser{f: f}
		b.login()
		handle, secret, _ := strings.Cut(b.cookie.Value, ".")
		for _, value := range []string{"", "x", ".", "a.b", secret + "." + handle, handle, strings.Repeat("a", 5000) + ".b"} {
			guess := b.copy()
			guess.cookie.Value = value
			guess.want(401, "GET")
		}
		b.want(200, "GET") // none of them affected the session
		elsewhere := b.copy()
		elsewhere.cookie.Name = "vigil-other"
		elsewhere.want(401, "GET")
	})
}

func TestSessionsAreListedAndEndedByID(t *testing.T) {
	run(t, websession.Options{}, func(t *testing.T, f *fixture) {
		one, two := &browser{f: f}, &browser{f: f}
		one.login()
		f.pass(time.Second)
		two.login()
		all, err := f.sessions.List(t.Context(), "org", "ann")
		if err != nil || len(all) != 2 || !all[0].CreatedAt.After(all[1].CreatedAt) {
			t.Fatalf("List = %v, %v; want two sessions, the newest first", all, err)
		}
		if all[0].CSRFToken() != "" || all[1].CSRFToken() != "" {
			t.Error("a list contains CSRF tokens")
		}
		for _, wrong := range [][3]string{{"other", "ann", all[0].ID}, {"org", "bob", all[0].ID}, {"org", "ann", "none"}} {
			if err := f.sessions.End(t.Context(), wrong[0], wrong[1], wrong[2], websession.EndedByAdmin); !fault.Is(err, fault.NotFound) {
				t.Errorf("end %v: %v, want a fault of kind NotFound", wrong, err)
			}
		}
		if err := f.sessions.End(t.Context(), "org", "ann", all[0].ID, websession.EndedByAdmin); err != nil {
			t.Fatal(err)
		}
		two.want(401, "GET")
		one.want(200, "GET")
		if second, err := f.sessions.List(t.Context(), "org", "ann"); err != nil || len(second) != 1 {
			t.Errorf("List after one has ended = %v, %v; want one session", second, err)
		}
	})
}

func TestTicketIsValidOnceUntilItExpires(t *testing.T) {
	run(t, websession.Options{}, func(t *testing.T, f *fixture) {
		ticket, err := f.sessions.Invite(t.Context(), ann, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if identity, err := f.sessions.Redeem(t.Context(), ticket); err != nil || identity != ann {
			t.Errorf("Redeem = %v, %v; want %v", identity, err, ann)
		}
		if _, err := f.sessions.Redeem(t.Context(), ticket); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a second time: %v", err)
		}
		expiring, err := f.sessions.Invite(t.Context(), ann, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		f.pass(2 * time.Minute)
		if _, err := f.sessions.Redeem(t.Context(), expiring); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("after it expired: %v", err)
		}
	})
}
