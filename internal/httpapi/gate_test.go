package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// guard accepts the tokens "admin" and "viewer".
func guard(r *http.Request, need string) (context.Context, error) {
	user := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if user != "admin" && user != "viewer" {
		return nil, fault.New(fault.Unauthenticated, "a token is needed")
	}
	httpapi.SetCaller(r.Context(), httpapi.Caller{ID: user, Org: "o1"})
	if need == "admin" && user != "admin" {
		return nil, fault.New(fault.Forbidden, "only for admins")
	}
	return r.Context(), nil
}

type auditLog struct {
	events []httpapi.Event
	err    error
}

func (a *auditLog) Attach(ctx context.Context, p httpapi.Pending) context.Context {
	return context.WithValue(ctx, pendingKey{}, p)
}

type pendingKey struct{}

// change simulates a handler that commits a change together with the audit
// record.
func (a *auditLog) change(ctx context.Context) {
	p := ctx.Value(pendingKey{}).(httpapi.Pending)
	if e, hasEvent := p.Event(); hasEvent {
		a.events = append(a.events, e)
		p.Committed()
	}
}

func (a *auditLog) Append(_ context.Context, e httpapi.Event) error {
	a.events = append(a.events, e)
	return a.err
}

func TestGuardComesBeforeTheBody(t *testing.T) {
	t.Parallel()
	m := mux(t, httpapi.Options{Guard: guard},
		httpapi.Route{Pattern: "POST /x", Need: "admin", Operation: "x", Handler: httpapi.JSON(func(context.Context, everything) (any, error) { return 1, nil })})
	for _, tt := range []struct {
		token  string
		status int
	}{{"none", 401}, {"viewer", 403}, {"admin", 400}} {
		if res := request(m, "POST", "/x", "{broken", "Authorization", "Bearer "+tt.token); res.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d", tt.token, res.StatusCode, tt.status)
		}
	}
}

func TestChangesAndRefusalsAreAudited(t *testing.T) {
	t.Parallel()
	create := httpapi.JSON(func(ctx context.Context, _ httpapi.None) (any, error) {
		httpapi.Note(ctx, "id", "7")
		return httpapi.Created("/x/7", "v1", map[string]int{"id": 7}), nil
	})
	routes := []httpapi.Route{
		// The value of a wildcard that is named secret is not recorded.
		{Pattern: "POST /x/{provider}/{secret}", Need: "admin", Operation: "create", Handler: create},
		{Pattern: "GET /x", Need: "viewer", Operation: "list", Handler: returns(1)},
		{Pattern: "POST /query", Need: "viewer", Operation: "query", Safe: true, Handler: returns(1)},
		{Pattern: "POST /raw", Need: "viewer", Operation: "raw", Handler: httpapi.Plain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "done")
		}))},
	}
	for _, tt := range []struct {
		name, method, target, token string
		auditErr                    error
		status                      int
		want                        []httpapi.Event
	}{
		{"reads are not audited", "GET", "/x", "viewer", nil, 200, nil},
		{"queries are not audited", "POST", "/query", "viewer", nil, 200, nil},
		{"changes are audited", "POST", "/x/aws/hush", "admin", nil, 201, []httpapi.Event{{Operation: "create", Method: "POST",
			Caller: httpapi.Caller{ID: "admin", Org: "o1"}, Target: map[string]string{"provider": "aws"}, Notes: map[string]string{"id": "7"}, Status: 201}}},
		{"unauthenticated requests are audited", "GET", "/x", "none", nil, 401, []httpapi.Event{{Operation: "list", Method: "GET", Status: 401, Target: map[string]string{}}}},
		{"refused roles are audited", "POST", "/x/aws/hush", "viewer", nil, 403, []httpapi.Event{{Operation: "create", Method: "POST",
			Caller: httpapi.Caller{ID: "viewer", Org: "o1"}, Target: map[string]string{"provider": "aws"}, Status: 403}}},
		// The event has the status that the handler returned; the client gets 503 instead.
		{"a change that cannot be recorded is 503", "POST", "/x/aws/hush", "admin", errors.New("disk full"), 503, []httpapi.Event{{Operation: "create", Method: "POST",
			Caller: httpapi.Caller{ID: "admin", Org: "o1"}, Target: map[string]string{"provider": "aws"}, Notes: map[string]string{"id": "7"}, Status: 201}}},
		{"a change of a plain handler that cannot be recorded is 503", "POST", "/raw", "viewer", errors.New("disk full"), 503, []httpapi.Event{{Operation: "raw", Method: "POST",
			Caller: httpapi.Caller{ID: "viewer", Org: "o1"}, Target: map[string]string{}, Status: 200}}},
		{"a refusal that cannot be recorded stays a refusal", "GET", "/x", "none", errors.New("disk full"), 401,
			[]httpapi.Event{{Operation: "list", Method: "GET", Status: 401, Target: map[string]string{}}}},
	} {
		log := &auditLog{err: tt.auditErr}
		m := mux(t, httpapi.Options{Guard: guard, Audit: log}, routes...)
		res := request(m, tt.method, tt.target, "", "Authorization", "Bearer "+tt.token)
		if res.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, res.StatusCode, tt.status)
		}
		if tt.status == 503 && (res.Header.Get("Retry-After") == "" || res.Header.Get("Location") != "" || !json.Valid([]byte(text(t, res)))) {
			t.Errorf("%s: not a clean error answer: %v", tt.name, res.Header)
		}
		if diff := cmp.Diff(tt.want, log.events, cmpopts.IgnoreFields(httpapi.Event{}, "Time", "RequestID", "Source")); diff != "" {
			t.Errorf("%s: audit (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestEveryResponseHasTheCommonHeaders(t *testing.T) {
	t.Parallel()
	m := mux(t, httpapi.Options{}, public("GET /x", returns(1)))
	for _, target := range []string{"/x", "/none"} {
		res := request(m, "GET", target, "", "X-Request-Id", "mine-1")
		for name, want := range map[string]string{
			"X-Request-Id": "mine-1", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Content-Type": "application/json", "Strict-Transport-Security": "",
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", target, name, got, want)
			}
		}
	}
	for _, bad := range []string{"", "two words", "ü", strings.Repeat("x", 129)} {
		if got := request(m, "GET", "/x", "", "X-Request-Id", bad).Header.Get("X-Request-Id"); got == bad || len(got) < 16 {
			t.Errorf("request id %q was answered with %q", bad, got)
		}
	}
}

func TestOneLineIsLoggedPerRequest(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	m := mux(t, httpapi.Options{Log: log, Guard: guard},
		httpapi.Route{Pattern: "GET /x/{id}", Need: "viewer", Operation: "getX", Handler: fails(errors.New("the cause"))},
		httpapi.Route{Pattern: "GET /healthz", Need: httpapi.Public, Operation: "h", Quiet: true, Handler: returns(1)})
	request(m, "GET", "/x/path-value?q=query-value", "", "Authorization", "Bearer viewer", "X-Request-Id", "r1")
	request(m, "GET", "/healthz", "")
	if strings.Contains(out.String(), "-value") || strings.Contains(out.String(), "Bearer") {
		t.Errorf("the log contains a secret: %s", &out)
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("not one line: %v\n%s", err, &out)
	}
	delete(line, "time")
	delete(line, "duration")
	want := map[string]any{"level": "ERROR", "msg": "request", "request_id": "r1", "method": "GET", "route": "GET /x/{id}", "operation": "getX",
		"status": 500.0, "bytes": 46.0, "source": "192.0.2.1", "caller": "viewer", "org": "o1", "err": "the cause"}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestPanicsBecome500(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m := mux(t, httpapi.Options{Log: slog.New(slog.NewTextHandler(&out, nil)), Errors: httpapi.DesktopError},
		public("GET /x", httpapi.JSON(func(context.Context, httpapi.None) (any, error) { panic("oops") })),
		public("GET /half", httpapi.Stream(func(w http.ResponseWriter, _ *http.Request) error {
			fmt.Fprint(w, "half")
			panic("oops")
		})))
	res := request(m, "GET", "/x", "")
	if body := text(t, res); res.StatusCode != 500 || !strings.Contains(body, `"status":"INTERNAL_SERVER_ERROR","error_message":"internal error","errors":[]`) {
		t.Errorf("status %d: %s", res.StatusCode, body)
	}
	if !strings.Contains(out.String(), "oops") || !strings.Contains(out.String(), "gate_test.go") {
		t.Errorf("no stack in the log: %s", &out)
	}
	srv := httptest.NewServer(m)
	defer srv.Close()
	res, err := http.Get(srv.URL + "/half")
	if err == nil {
		_, err = io.ReadAll(res.Body)
		res.Body.Close()
	}
	if err == nil {
		t.Error("a truncated response was read without an error")
	}
}

func TestBodiesAreLimited(t *testing.T) {
	t.Parallel()
	type in struct {
		Padding string `json:"padding"`
	}
	m := mux(t, httpapi.Options{}, public("POST /x", httpapi.JSON(func(_ context.Context, i in) (int, error) { return len(i.Padding), nil })))
	srv := httptest.NewServer(m)
	defer srv.Close()
	contentType := "nonsense" // the server ignores it
	for _, tt := range []struct {
		size, status int
		chunked      bool
	}{{1<<20 - 1024, 200, false}, {1<<20 + 1024, 413, false}, {1<<20 + 1024, 413, true}, {5 << 20, 413, true}} {
		var body io.Reader = strings.NewReader(`{"padding":"` + strings.Repeat("x", tt.size) + `"}`)
		if tt.chunked {
			body = io.MultiReader(body) // hides the length from the HTTP client
		}
		res, err := http.Post(srv.URL+"/x", contentType, body)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != tt.status {
			t.Errorf("%d bytes (chunked %t): status %d, want %d", tt.size, tt.chunked, res.StatusCode, tt.status)
		}
		res.Body.Close()
	}
}

func TestFormsAreReadFromBodyOrQuery(t *testing.T) {
	t.Parallel()
	type in struct {
		Token string `form:"refresh_token" required:"true"`
	}
	m := mux(t, httpapi.Options{}, public("POST /x", httpapi.JSON(func(_ context.Context, i in) (string, error) { return i.Token, nil })))
	for _, tt := range []struct {
		target, body string
		status       int
		want         string
	}{
		{"/x", "refresh_token=a%2Bb", 200, `"a+b"`},
		{"/x?refresh_token=q", "", 200, `"q"`},
		{"/x?refresh_token=q", "refresh_token=b", 200, `"b"`},
		{"/x", "", 400, `{"message":"refresh_token is missing","statusCode":400,"errors":[{"path":"refresh_token","message":"is missing"}]}`},
	} {
		res := request(m, "POST", tt.target, tt.body)
		if diff := cmp.Diff(tt.want, text(t, res)); diff != "" || res.StatusCode != tt.status {
			t.Errorf("%s %s: status %d (-want +got):\n%s", tt.target, tt.body, res.StatusCode, diff)
		}
	}
}

func TestSlowHandlersAreCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := public("GET /x", httpapi.JSON(func(ctx context.Context, _ httpapi.None) (any, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("query: %w", ctx.Err())
		}))
		rt.Limits.Timeout = time.Minute
		res := request(mux(t, httpapi.Options{}, rt), "GET", "/x", "")
		if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
			t.Errorf("status %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
		}
	})
}

func TestClosedConnectionsAreLoggedAs499(t *testing.T) {
	t.Parallel()
	log := new(auditLog)
	m := mux(t, httpapi.Options{Audit: log}, public("POST /x", httpapi.JSON(func(ctx context.Context, _ httpapi.None) (any, error) {
		return nil, ctx.Err()
	})))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", "/x", nil))
	if w.Code != 499 || len(log.events) != 1 || log.events[0].Status != 499 {
		t.Errorf("status %d, audit %+v", w.Code, log.events)
	}
}

func TestStreamsAreAuditedBeforeTheFirstFlush(t *testing.T) {
	t.Parallel()
	flush := httpapi.Stream(func(w http.ResponseWriter, _ *http.Request) error {
		return http.NewResponseController(w).Flush()
	})
	for auditErr, want := range map[error]int{nil: 200, io.ErrShortWrite: 503} {
		m := mux(t, httpapi.Options{Audit: &auditLog{err: auditErr}}, public("POST /x", flush))
		if res := request(m, "POST", "/x", ""); res.StatusCode != want {
			t.Errorf("with audit error %v: status %d, want %d", auditErr, res.StatusCode, want)
		}
	}
}

func TestTooManyConcurrentRequestsAre503(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := mux(t, httpapi.Options{Admit: httpapi.Admission{Total: 1}}, public("GET /x", httpapi.JSON(func(context.Context, httpapi.None) (any, error) {
			<-release
			return 1, nil
		})))
		first := make(chan int)
		go func() { first <- request(m, "GET", "/x", "").StatusCode }()
		synctest.Wait()
		if res := request(m, "GET", "/x", ""); res.StatusCode != 503 {
			t.Errorf("status %d, want 503", res.StatusCode)
		}
		close(release)
		if got := <-first; got != 200 {
			t.Errorf("the first request: status %d, want 200", got)
		}
		if res := request(m, "GET", "/x", ""); res.StatusCode != 200 {
			t.Errorf("afterwards: status %d, want 200", res.StatusCode)
		}
	})
}

func TestRateLimitsArePerCaller(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	m := mux(t, httpapi.Options{Guard: guard, Now: func() time.Time { return now }, Rates: map[string]httpapi.Rate{
		"slow": {PerSecond: 0.5, Burst: 2}, httpapi.RateRefused: {PerSecond: 1, Burst: 1},
	}}, httpapi.Route{Pattern: "GET /x", Need: "viewer", Operation: "x", Limits: httpapi.Limits{Rate: "slow"}, Handler: returns(1)})
	get := func(token string) (int, string) {
		res := request(m, "GET", "/x", "", "Authorization", "Bearer "+token)
		return res.StatusCode, res.Header.Get("Retry-After")
	}
	for i, want := range []struct {
		token string
		code  int
		after string
	}{{"viewer", 200, ""}, {"viewer", 200, ""}, {"viewer", 429, "2"}, {"admin", 200, ""}, {"none", 401, ""}, {"none", 429, "1"}, {"admin", 200, ""}} {
		if code, after := get(want.token); code != want.code || after != want.after {
			t.Errorf("request %d as %s: %d %q, want %d %q", i, want.token, code, after, want.code, want.after)
		}
	}
	now = now.Add(2 * time.Second)
	if code, _ := get("viewer"); code != 200 {
		t.Errorf("after the pause: %d", code)
	}
}

// TestOrganisationsHaveARateLimit sends requests with two tokens of one organisation.
func TestOrganisationsHaveARateLimit(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	m := mux(t, httpapi.Options{Guard: guard, Now: func() time.Time { return now }, Rates: map[string]httpapi.Rate{
		httpapi.RateOrg: {PerSecond: 0.5, Burst: 2},
	}}, httpapi.Route{Pattern: "GET /x", Need: "viewer", Operation: "x", Handler: returns(1)})
	for i, want := range []struct {
		token string
		code  int
	}{{"viewer", 200}, {"admin", 200}, {"viewer", 429}, {"admin", 429}} {
		res := request(m, "GET", "/x", "", "Authorization", "Bearer "+want.token)
		if after := res.Header.Get("Retry-After"); res.StatusCode != want.code || want.code == 429 && after != "2" {
			t.Errorf("request %d as %s: %d with Retry-After %q, want %d", i, want.token, res.StatusCode, after, want.code)
		}
	}
}

func TestMetricsAreLabelledByRoute(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	metrics, err := httpapi.NewMetrics(reg, "posture")
	if err != nil {
		t.Fatal(err)
	}
	m := mux(t, httpapi.Options{Metrics: metrics}, public("GET /x/{id}", returns(1)), httpapi.MetricsRoute(reg, httpapi.Public))
	request(m, "GET", "/x/1", "")
	request(m, "GET", "/x/2", "")
	request(m, "GET", "/none/3", "")
	got := text(t, request(m, "GET", "/metrics", ""))
	// The request that is in flight is the one for /metrics.
	for _, want := range []string{
		`vigil_http_requests_total{route="GET /x/{id}",server="posture",status="2xx"} 2`,
		`vigil_http_requests_total{route="none",server="posture",status="4xx"} 1`,
		`vigil_http_requests_in_flight{server="posture"} 1`,
		`vigil_http_request_duration_seconds_count{route="GET /x/{id}",server="posture",status="2xx"} 2`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestAuditRecordIsCommittedWithTheChange(t *testing.T) {
	t.Parallel()
	log := new(auditLog)
	answer := func(after func(ctx context.Context) error) httpapi.Handler {
		return httpapi.JSON(func(ctx context.Context, _ httpapi.None) (any, error) {
			httpapi.Note(ctx, "id", "7")
			log.change(ctx)
			log.change(ctx) // second transaction of the same request
			return 1, after(ctx)
		})
	}
	m := mux(t, httpapi.Options{Guard: guard, Audit: log},
		httpapi.Route{Pattern: "POST /x", Need: "admin", Operation: "x", Handler: answer(func(context.Context) error { return nil })},
		httpapi.Route{Pattern: "POST /noted", Need: "admin", Operation: "noted", Handler: answer(func(ctx context.Context) error {
			httpapi.Note(ctx, "more", "8")
			return nil
		})},
		httpapi.Route{Pattern: "POST /failed", Need: "admin", Operation: "failed", Handler: answer(func(context.Context) error {
			return errors.New("after the change")
		})})
	for _, tt := range []struct {
		path     string
		auditErr error
		status   int
		want     []int // statuses of the records; 0 in the record committed with the change
	}{
		// The record was committed with the change: no other is appended.
		{"/x", nil, 200, []int{0}},
		{"/x", errors.New("disk full"), 200, []int{0}},
		// A later note needs a second record. A failure to append it does not fail the request.
		{"/noted", nil, 200, []int{0, 200}},
		{"/noted", errors.New("disk full"), 200, []int{0, 200}},
		{"/failed", nil, 500, []int{0, 500}},
	} {
		log.events, log.err = nil, tt.auditErr
		if got := request(m, "POST", tt.path, "", "Authorization", "Bearer admin").StatusCode; got != tt.status {
			t.Errorf("%s with audit error %v: status %d, want %d", tt.path, tt.auditErr, got, tt.status)
		}
		var got []int
		for _, e := range log.events {
			got = append(got, e.Status)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || log.events[0].Notes["id"] != "7" {
			t.Errorf("%s with audit error %v: records (-want +got):\n%s%+v", tt.path, tt.auditErr, diff, log.events)
		}
	}
}
