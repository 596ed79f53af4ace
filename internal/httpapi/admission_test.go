package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// orgGuard accepts tokens of the form "org/role".
func orgGuard(r *http.Request, _ string) (context.Context, error) {
	org, role, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "/")
	if !ok {
		return nil, fault.New(fault.Unauthenticated, "a token is needed")
	}
	httpapi.SetCaller(r.Context(), httpapi.Caller{ID: org + role, Org: org, Admin: role == "admin"})
	return r.Context(), nil
}

// blockingRoute returns a route whose handler blocks until release is closed.
func blockingRoute(pattern, need string, release chan struct{}) httpapi.Route {
	return httpapi.Route{Pattern: pattern, Need: need, Operation: "blocked", Handler: httpapi.JSON(func(ctx context.Context, _ httpapi.None) (any, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return 1, nil
	})}
}

func TestOneOrganisationDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := mux(t, httpapi.Options{Guard: orgGuard, Timeout: time.Minute,
			Admit: httpapi.Admission{Total: 20, Reads: 2, Changes: 3, Waiting: 4, Wait: 5 * time.Second}},
			blockingRoute("GET /x", "viewer", release), blockingRoute("POST /x", "viewer", release),
			httpapi.Route{Pattern: "GET /quick", Need: "viewer", Operation: "quick", Handler: returns(1)})
		answers := make(chan int, 100)
		send := func(method, token string) {
			go func() { answers <- request(m, method, "/x", "", "Authorization", "Bearer "+token).StatusCode }()
		}
		for range 2 + 4 {
			send("GET", "a/viewer")
		}
		synctest.Wait()
		if res := request(m, "GET", "/quick", "", "Authorization", "Bearer a/viewer"); res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
			t.Errorf("with a full queue: status %d, want 429", res.StatusCode)
		}
		if got := request(m, "GET", "/quick", "", "Authorization", "Bearer b/viewer").StatusCode; got != 200 {
			t.Errorf("another organisation: status %d, want 200", got)
		}
		for range 3 {
			send("POST", "a/viewer")
		}
		time.Sleep(6 * time.Second) // longer than Wait: the queued requests fail
		synctest.Wait()
		limited := 0
		for len(answers) > 0 {
			if code := <-answers; code == 429 {
				limited++
			}
		}
		if limited != 4 {
			t.Errorf("%d queued requests were refused, want 4", limited)
		}
		close(release)
		for range 2 + 3 {
			if code := <-answers; code != 200 {
				t.Errorf("a request with a slot: status %d, want 200", code)
			}
		}
		if got := request(m, "GET", "/quick", "", "Authorization", "Bearer a/viewer").StatusCode; got != 200 {
			t.Errorf("afterwards: status %d, want 200", got)
		}
	})
}

// TestReadLimitShrinksWhileOtherOrganisationsAreActive gives an organisation
// all read slots while it is the only active one, and half of them while
// another sends requests.
func TestReadLimitShrinksWhileOtherOrganisationsAreActive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var running atomic.Int32
		m := mux(t, httpapi.Options{Guard: orgGuard, Timeout: time.Hour, Admit: httpapi.Admission{Total: 20, Reads: 4, Wait: time.Hour}},
			httpapi.Route{Pattern: "GET /x", Need: "viewer", Operation: "x", Handler: httpapi.JSON(func(context.Context, httpapi.None) (any, error) {
				running.Add(1)
				defer running.Add(-1)
				<-release
				return 1, nil
			})},
			httpapi.Route{Pattern: "GET /quick", Need: "viewer", Operation: "quick", Handler: returns(1)})
		done := make(chan int, 20)
		for range 12 {
			go func() { done <- request(m, "GET", "/x", "", "Authorization", "Bearer a/viewer").StatusCode }()
		}
		want := func(n int32, when string) {
			t.Helper()
			synctest.Wait()
			if got := running.Load(); got != n {
				t.Errorf("%s: %d concurrent requests, want %d", when, got, n)
			}
		}
		want(4, "alone")
		if got := request(m, "GET", "/quick", "", "Authorization", "Bearer b/viewer").StatusCode; got != 200 {
			t.Errorf("the other organisation: status %d, want 200", got)
		}
		release <- struct{}{}
		want(3, "two active organisations, after one request ended")
		release <- struct{}{}
		want(2, "two active organisations, after two requests ended")
		release <- struct{}{}
		want(2, "two active organisations, after three requests ended")
		time.Sleep(2 * time.Second)
		release <- struct{}{}
		want(4, "alone again")
		close(release)
		for range 12 {
			if code := <-done; code != 200 {
				t.Errorf("a queued request: status %d, want 200", code)
			}
		}
	})
}

// TestQueuedRequestsEnterWhenTheLimitGrows fills the server with the requests of two organisations. After a second
// without requests, each may use all read slots again, but only as far as the server has room.
func TestQueuedRequestsEnterWhenTheLimitGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}
		var running atomic.Int32
		block := httpapi.Route{Pattern: "GET /x/{org}", Need: "viewer", Operation: "x", Handler: httpapi.JSON(func(_ context.Context, in struct {
			Org string `path:"org"`
		}) (any, error) {
			running.Add(1)
			defer running.Add(-1)
			<-release[in.Org]
			return 1, nil
		})}
		m := mux(t, httpapi.Options{Guard: orgGuard, Timeout: time.Hour, Admit: httpapi.Admission{Total: 6, Reserved: 1, Reads: 4, Shared: 2, Wait: time.Hour}}, block)
		done := make(chan int, 20)
		send := func(org string, n int) {
			for range n {
				go func() {
					done <- request(m, "GET", "/x/"+org, "", "Authorization", "Bearer "+org+"/viewer").StatusCode
				}()
				synctest.Wait()
			}
		}
		want := func(n int32, when string) {
			t.Helper()
			synctest.Wait()
			if got := running.Load(); got != n {
				t.Errorf("%s: %d concurrent requests, want %d", when, got, n)
			}
		}
		send("b", 1)
		send("a", 6)
		want(3, "two active organisations")
		time.Sleep(2 * time.Second)
		send("a", 1)
		want(5, "after a pause: four of a, its whole limit, and one of b")
		send("b", 1) // is refused: the last slot of the server is reserved
		release["b"] <- struct{}{}
		want(4, "the slot of b is free, and a has reached its limit")
		release["a"] <- struct{}{}
		want(4, "a slot of a passes to its queue")
		close(release["a"])
		close(release["b"])
		for range 2 + 7 {
			<-done
		}
	})
}

func TestQueuedRequestsThatTimeOutAre429(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		rt := blockingRoute("GET /x", "viewer", release)
		quick := httpapi.Route{Pattern: "GET /quick", Need: "viewer", Operation: "quick", Limits: httpapi.Limits{Timeout: 20 * time.Second}, Handler: returns(1)}
		m := mux(t, httpapi.Options{Guard: orgGuard, Timeout: time.Hour, Admit: httpapi.Admission{Reads: 1, Wait: 30 * time.Second}}, rt, quick)
		first := make(chan int)
		go func() { first <- request(m, "GET", "/x", "", "Authorization", "Bearer a/viewer").StatusCode }()
		synctest.Wait()
		if res := request(m, "GET", "/quick", "", "Authorization", "Bearer a/viewer"); res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
			t.Errorf("queued for longer than the timeout of the route: status %d, want 429", res.StatusCode)
		}
		close(release)
		if got := <-first; got != 200 {
			t.Errorf("the request with the slot: status %d, want 200", got)
		}
	})
}

func TestRequestsThatStoppedWaitingFreeTheirPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := mux(t, httpapi.Options{Guard: orgGuard, Timeout: time.Hour, Admit: httpapi.Admission{Reads: 1, Waiting: 2, Wait: 5 * time.Second}},
			blockingRoute("GET /x", "viewer", release),
			httpapi.Route{Pattern: "GET /quick", Need: "viewer", Operation: "quick", Handler: returns(1)})
		answers := make(chan int, 4)
		send := func(path string) {
			go func() { answers <- request(m, "GET", path, "", "Authorization", "Bearer a/viewer").StatusCode }()
			synctest.Wait()
		}
		send("/x")
		send("/quick")
		send("/quick")
		time.Sleep(6 * time.Second)
		synctest.Wait()
		for range 2 {
			if code := <-answers; code != 429 {
				t.Errorf("queued for too long: status %d, want 429", code)
			}
		}
		send("/quick")
		close(release)
		for range 2 {
			if code := <-answers; code != 200 {
				t.Errorf("after the queue was left: status %d, want 200", code)
			}
		}
	})
}

func TestSlotsAreReservedForAdministrators(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := mux(t, httpapi.Options{Guard: orgGuard, Admit: httpapi.Admission{Total: 4, Reserved: 1, Anonymous: 2, Address: 2, Reads: 4}},
			blockingRoute("GET /x", "viewer", release), blockingRoute("GET /open", httpapi.Public, release),
			httpapi.Route{Pattern: "GET /quick", Need: "viewer", Operation: "quick", Handler: returns(1)},
			httpapi.Route{Pattern: "GET /healthz", Need: httpapi.Public, Operation: "health", Monitor: true, Handler: returns(1)})
		for range 2 {
			go request(m, "GET", "/open", "")
		}
		synctest.Wait()
		if got := request(m, "GET", "/open", "").StatusCode; got != 503 {
			t.Errorf("anonymous request above the limit: status %d, want 503", got)
		}
		go request(m, "GET", "/x", "", "Authorization", "Bearer a/viewer")
		synctest.Wait()
		for token, want := range map[string]int{"a/viewer": 503, "b/viewer": 503, "b/admin": 200} {
			if got := request(m, "GET", "/quick", "", "Authorization", "Bearer "+token).StatusCode; got != want {
				t.Errorf("%s: status %d, want %d", token, got, want)
			}
		}
		if got := request(m, "GET", "/healthz", "").StatusCode; got != 200 {
			t.Errorf("health: status %d, want 200", got)
		}
		close(release)
		synctest.Wait()
	})
}

// TestSlowBodiesTakeNoSlot opens more requests with unfinished bodies than
// there are slots.
func TestSlowBodiesTakeNoSlot(t *testing.T) {
	t.Parallel()
	m := mux(t, httpapi.Options{Admit: httpapi.Admission{Total: 8}},
		public("POST /x", httpapi.JSON(func(context.Context, struct {
			A string `json:"a"`
		}) (any, error) {
			return 1, nil
		})))
	srv := httptest.NewServer(m)
	defer srv.Close()
	for range 40 {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	}
	for range 10 {
		res, err := http.Post(srv.URL+"/x", "application/json", strings.NewReader(`{"a":"b"}`))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Fatalf("status %d while others send slowly, want 200", res.StatusCode)
		}
	}
}

// TestBodiesOfOneSenderAreBounded announces more bodies than one address may
// send at the same time.
func TestBodiesOfOneSenderAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mux(t, httpapi.Options{}, public("POST /x", httpapi.JSON(func(context.Context, struct {
			A string `json:"a"`
		}) (any, error) {
			return 1, nil
		})))
		post := func(source string, body io.Reader) int {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/x", body)
			r.RemoteAddr = source + ":1"
			w := httptest.NewRecorder()
			m.ServeHTTP(w, r)
			return w.Code
		}
		var stalled []*io.PipeWriter
		for range 16 { // of unknown length: each reserves one mebibyte
			pr, pw := io.Pipe()
			stalled = append(stalled, pw)
			go post("192.0.2.1", pr)
		}
		synctest.Wait()
		if got := post("192.0.2.1", strings.NewReader(`{}`)); got != 429 {
			t.Errorf("body above the limit: status %d, want 429", got)
		}
		if got := post("192.0.2.2", strings.NewReader(`{}`)); got != 200 {
			t.Errorf("another address: status %d, want 200", got)
		}
		for _, pw := range stalled {
			pw.Close()
		}
		synctest.Wait()
		if got := post("192.0.2.1", strings.NewReader(`{}`)); got != 200 {
			t.Errorf("afterwards: status %d, want 200", got)
		}
	})
}

func TestForwardedForIsTrustedFromProxiesOnly(t *testing.T) {
	t.Parallel()
	proxies := httpapi.Proxies{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::1/128")}
	for _, tt := range []struct {
		proxies         httpapi.Proxies
		remote, forward string
		want            string
	}{
		{nil, "192.0.2.1:5", "198.51.100.7", "192.0.2.1"},
		{proxies, "203.0.113.9:5", "198.51.100.7", "203.0.113.9"},
		{proxies, "192.0.2.1:5", "198.51.100.7", "198.51.100.7"},
		{proxies, "192.0.2.1:5", "10.6.6.6, 198.51.100.7", "198.51.100.7"},
		{proxies, "192.0.2.1:5", "10.6.6.6, 198.51.100.7, 192.0.2.2", "198.51.100.7"},
		{proxies, "192.0.2.1:5", "198.51.100.7:4711", "198.51.100.7"},
		{proxies, "192.0.2.1:5", "nonsense", "192.0.2.1"},
		{proxies, "192.0.2.1:5", "", "192.0.2.1"},
		{proxies, "[2001:db8::1]:5", "2001:db8:1::2", "2001:db8:1::2"},
	} {
		m := mux(t, httpapi.Options{Proxies: tt.proxies}, public("GET /x", httpapi.JSON(func(ctx context.Context, _ httpapi.None) (string, error) {
			return httpapi.Source(ctx), nil
		})))
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/x", nil)
		r.RemoteAddr = tt.remote
		if tt.forward != "" {
			r.Header.Set("X-Forwarded-For", tt.forward)
		}
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		if got := strings.Trim(w.Body.String(), "\"\n"); got != tt.want {
			t.Errorf("%s forwarding %q: source %q, want %q", tt.remote, tt.forward, got, tt.want)
		}
	}
}

// TestLoginsOfKnownAccountsHaveSeparateLimits exhausts the login limit of an
// address and then logs in from it with an account that has logged in from
// there before.
func TestLoginsOfKnownAccountsHaveSeparateLimits(t *testing.T) {
	t.Parallel()
	type login struct {
		User string `json:"user"`
	}
	route := public("POST /login", httpapi.JSON(func(_ context.Context, in login) (string, error) { return in.User, nil }))
	route.Limits = httpapi.Limits{Rate: httpapi.RateLogin, Account: func(r *http.Request) string {
		var in login
		if httpapi.Bind(r, &in) != nil || in.User != "resident" || httpapi.Source(r.Context()) != "192.0.2.1" {
			return ""
		}
		return in.User
	}}
	now := time.Now()
	m := mux(t, httpapi.Options{
		Now:   func() time.Time { return now },
		Rates: map[string]httpapi.Rate{httpapi.RateLogin: {PerSecond: 1, Burst: 3}},
	}, route)
	post := func(source, user string) int {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/login", strings.NewReader(`{"user":"`+user+`"}`))
		r.RemoteAddr = source + ":1"
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		return w.Code
	}
	for i := range 10 {
		want := 200
		if i >= 3 {
			want = 429
		}
		if got := post("192.0.2.1", "unknown"); got != want {
			t.Errorf("login %d of an unknown account: %d, want %d", i, got, want)
		}
	}
	for i := range 4 {
		want := 200
		if i == 3 {
			want = 429 // the account has its own limit
		}
		if got := post("192.0.2.1", "resident"); got != want {
			t.Errorf("login %d of the known account: %d, want %d", i, got, want)
		}
	}
	if got := post("192.0.2.2", "resident"); got != 200 {
		t.Errorf("from another address: status %d, want 200", got)
	}
}
