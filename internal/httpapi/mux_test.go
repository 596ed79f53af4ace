package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// mux builds a mux or fails the test.
func mux(t *testing.T, o httpapi.Options, routes ...httpapi.Route) *httpapi.Mux {
	t.Helper()
	m, err := httpapi.NewMux(routes, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// public returns a route that needs no role.
func public(pattern string, h httpapi.Handler) httpapi.Route {
	return httpapi.Route{Pattern: pattern, Need: httpapi.Public, Operation: "op", Handler: h}
}

// request sends one request to a handler.
func request(h http.Handler, method, target, body string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func fails(err error) httpapi.Handler {
	return httpapi.JSON(func(context.Context, httpapi.None) (any, error) { return nil, err })
}

func returns(body any) httpapi.Handler {
	return httpapi.JSON(func(context.Context, httpapi.None) (any, error) { return body, nil })
}

func TestFaultsBecomeStatuses(t *testing.T) {
	t.Parallel()
	// Retry-After is in whole seconds, rounded up: After is 1 ns in the row of 429. Without
	// After it is one second.
	for _, tt := range []struct {
		err    error
		status int
		body   string
		header http.Header
	}{
		{fault.New(fault.Invalid, "no"), 400, `{"message":"no","statusCode":400}`, nil},
		{fault.Field("a[0].b", "is missing"), 400, `{"message":"a[0].b is missing","statusCode":400,"errors":[{"path":"a[0].b","message":"is missing"}]}`, nil},
		{fault.New(fault.Unauthenticated, "who?"), 401, `{"message":"who?","statusCode":401}`, http.Header{"Www-Authenticate": {"Bearer"}}},
		{fault.New(fault.Forbidden, "no"), 403, `{"message":"no","statusCode":403}`, nil},
		{fault.New(fault.NotFound, "no"), 404, `{"message":"no","statusCode":404}`, nil},
		{fault.New(fault.Conflict, "no"), 409, `{"message":"no","statusCode":409}`, nil},
		{fault.New(fault.Stale, "no"), 412, `{"message":"no","statusCode":412}`, nil},
		{fault.New(fault.TooLarge, "no"), 413, `{"message":"no","statusCode":413}`, nil},
		{fault.New(fault.VersionRequired, "no"), 428, `{"message":"no","statusCode":428}`, nil},
		{&fault.Error{Kind: fault.Limited, Message: "no", After: 1}, 429, `{"message":"no","statusCode":429}`, http.Header{"Retry-After": {"1"}}},
		{fault.New(fault.Unavailable, "no"), 503, `{"message":"no","statusCode":503}`, http.Header{"Retry-After": {"1"}}},
		{errors.New("password=x"), 500, `{"message":"internal error","statusCode":500}`, nil},
		{fault.Wrap(fault.Internal, errors.New("x"), "secret"), 500, `{"message":"internal error","statusCode":500}`, nil},
	} {
		res := request(mux(t, httpapi.Options{}, public("GET /x", fails(tt.err))), "GET", "/x", "")
		if res.StatusCode != tt.status {
			t.Errorf("%v: status %d, want %d", tt.err, res.StatusCode, tt.status)
		}
		if diff := cmp.Diff(tt.body, text(t, res)); diff != "" {
			t.Errorf("%v: body (-want +got):\n%s", tt.err, diff)
		}
		for name, want := range tt.header {
			if diff := cmp.Diff(want, res.Header.Values(name)); diff != "" {
				t.Errorf("%v: %s (-want +got):\n%s", tt.err, name, diff)
			}
		}
	}
}

func TestIncompleteRoutesAreRefused(t *testing.T) {
	t.Parallel()
	for _, rt := range []httpapi.Route{
		{Pattern: "GET /x", Operation: "x", Handler: returns(1)},                        // no Need
		{Pattern: "GET /x", Need: "viewer", Handler: returns(1)},                        // no operation id
		{Pattern: "GET /x", Need: httpapi.Public, Operation: "x"},                       // no handler
		{Pattern: "GET /x", Need: "viewer", Operation: "x", Handler: returns(1)},        // the options have no guard
		{Pattern: "/x", Need: httpapi.Public, Operation: "x", Handler: returns(1)},      // no method
		{Pattern: "GET /{}", Need: httpapi.Public, Operation: "x", Handler: returns(1)}, // a parameter without a name
	} {
		if _, err := httpapi.NewMux([]httpapi.Route{rt}, httpapi.Options{}); err == nil {
			t.Errorf("%+v was accepted", rt)
		}
	}
}

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	type in struct {
		ID string `path:"id"`
	}
	echo := httpapi.JSON(func(_ context.Context, i in) (string, error) { return i.ID, nil })
	m := mux(t, httpapi.Options{}, public("GET /v1/x/{id}", echo), public("PUT /v1/x/{id}", echo),
		public("POST /v1/x/query", returns("query")), public("GET /", returns("root")))
	for _, tt := range []struct {
		method, target string
		status         int
		body, allow    string
	}{
		{"GET", "/v1/x/a", 200, `"a"`, ""},
		{"GET", "/v1/x/a/", 200, `"a"`, ""},
		{"GET", "/v1/x/AWS.S3.1.global.Bucket.a%2Fb_c", 200, `"AWS.S3.1.global.Bucket.a/b_c"`, ""},
		{"GET", "/v1/x/%2e%2e", 200, `".."`, ""},
		{"GET", "/v1/x/..", 200, `".."`, ""},
		{"GET", "/v1/x/%E4%BD%A0", 200, `"你"`, ""},
		{"HEAD", "/v1/x/a", 200, "", ""},
		{"GET", "/", 200, `"root"`, ""},
		{"POST", "/v1/x/query/", 200, `"query"`, ""},
		{"GET", "/v1/x/query", 405, `{"message":"this path does not take GET","statusCode":405}`, "OPTIONS, POST"},
		{"DELETE", "/v1/x/a", 405, `{"message":"this path does not take DELETE","statusCode":405}`, "GET, HEAD, OPTIONS, PUT"},
		{"OPTIONS", "/v1/x/a", 204, "", "GET, HEAD, OPTIONS, PUT"},
		{"GET", "/v1/x", 404, `{"message":"there is nothing at this path","statusCode":404}`, ""},
		{"GET", "/v1/x//", 404, `{"message":"there is nothing at this path","statusCode":404}`, ""},
		{"GET", "/v1//x/a", 404, `{"message":"there is nothing at this path","statusCode":404}`, ""},
		{"GET", "/v1/x/%00", 404, `{"message":"there is nothing at this path","statusCode":404}`, ""},
		{"GET", "/v1/x/%ff", 404, `{"message":"there is nothing at this path","statusCode":404}`, ""},
		{"GET", "//", 404, `{"message":"there is nothing at this path","statusCode":404}`, ""},
	} {
		res := request(m, tt.method, "http://h"+tt.target, "")
		got := []string{text(t, res), res.Header.Get("Allow")}
		if diff := cmp.Diff([]string{tt.body, tt.allow}, got); diff != "" || res.StatusCode != tt.status {
			t.Errorf("%s %s: status %d, want %d (-want +got):\n%s", tt.method, tt.target, res.StatusCode, tt.status, diff)
		}
	}
}

// slowBody arrives after a while.
type slowBody struct {
	io.Reader
	wait time.Duration
}

func (b *slowBody) Read(p []byte) (int, error) {
	time.Sleep(b.wait)
	b.wait = 0
	return b.Reader.Read(p)
}

// TestTimeoutStartsWhenTheBodyHasArrived sends a large body within the time limit of bodies, but later than the
// timeout of the route. The handler has the whole timeout.
func TestTimeoutStartsWhenTheBodyHasArrived(t *testing.T) {
	t.Parallel()
	for handling, status := range map[time.Duration]int{29 * time.Second: http.StatusOK, 31 * time.Second: http.StatusServiceUnavailable} {
		synctest.Test(t, func(t *testing.T) {
			r := public("POST /x", httpapi.JSON(func(ctx context.Context, _ struct {
				Name string `json:"name"`
			}) (string, error) {
				select {
				case <-ctx.Done():
					return "", ctx.Err()
				case <-time.After(handling):
					return "done", nil
				}
			}))
			r.Limits = httpapi.Limits{Body: httpapi.LargeBody, Timeout: 30 * time.Second}
			body := &slowBody{strings.NewReader(`{"name":"a"}`), 40 * time.Second}
			w := httptest.NewRecorder()
			mux(t, httpapi.Options{}, r).ServeHTTP(w, httptest.NewRequest("POST", "/x", body))
			if w.Code != status {
				t.Errorf("status %d after %s: %s; want %d", w.Code, handling, w.Body, status)
			}
		})
	}
}

// A deadlineConn is the connection of a request whose body never arrives: the response writer and the body.
type deadlineConn struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (c *deadlineConn) SetReadDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

func (c *deadlineConn) Read([]byte) (int, error) {
	time.Sleep(time.Until(c.deadline))
	return 0, os.ErrDeadlineExceeded
}

func TestIncompleteBodyIsATimeoutOfTheSender(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := public("POST /x", returns(1))
		r.Limits = httpapi.Limits{Body: httpapi.LargeBody, Timeout: 30 * time.Second}
		c := &deadlineConn{ResponseRecorder: httptest.NewRecorder()}
		start := time.Now()
		mux(t, httpapi.Options{}, r).ServeHTTP(c, httptest.NewRequest("POST", "/x", c))
		// 45 s is the time for the body of a route with LargeBody, which is longer than the route's own timeout.
		if took := time.Since(start); c.Code != http.StatusRequestTimeout || took != 45*time.Second {
			t.Errorf("status %d after %s: %s; want 408 after 45s", c.Code, took, c.Body)
		}
	})
}

// writeDeadline is a response writer that records the deadline for writing.
type writeDeadline struct {
	*httptest.ResponseRecorder
	at time.Time
}

func (w *writeDeadline) SetWriteDeadline(at time.Time) error {
	w.at = at
	return nil
}

func TestResponseMayBeWrittenAfterTheTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const timeout = 10 * time.Minute // longer than the deadline that the server sets
		slow := public("GET /slow", returns(1))
		slow.Limits.Timeout = timeout
		m := mux(t, httpapi.Options{}, slow)
		w := &writeDeadline{ResponseRecorder: httptest.NewRecorder()}
		m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/slow", nil))
		if end := time.Now().Add(timeout); w.Code != http.StatusOK || !w.at.After(end) {
			t.Errorf("status %d; the response must be written by %v, want later than the timeout at %v", w.Code, w.at, end)
		}
	})
}
