package httpapi_test

import (
	"errors"
	"net/http"
	"testing"

	"vigil/internal/httpapi"
)

func TestDeferrableWritesAreRefusedFirst(t *testing.T) {
	t.Parallel()
	var space httpapi.Space
	m := mux(t, httpapi.Options{Space: func() httpapi.Space { return space }},
		public("GET /x", returns(1)), public("POST /x", returns(1)), public("DELETE /x", returns(1)),
		httpapi.Route{Pattern: "POST /query", Need: httpapi.Public, Operation: "query", Safe: true, Handler: returns(1)},
		// As the routes of event streams: Safe because they are not audited, although they write.
		httpapi.Route{Pattern: "POST /events", Need: httpapi.Public, Operation: "events", Safe: true, Deferrable: true, Handler: returns(1)},
		httpapi.Route{Pattern: "POST /login", Need: httpapi.Public, Operation: "login", Login: true, Handler: returns(1)})
	for _, tt := range []struct {
		method, path          string
		enough, low, critical int
	}{
		{"GET", "/x", 200, 200, 200},
		{"POST", "/query", 200, 200, 200},
		{"POST", "/login", 200, 200, 200},
		{"DELETE", "/x", 200, 200, 200},
		{"POST", "/x", 200, 200, 503},
		{"POST", "/events", 200, 503, 503},
	} {
		for level, want := range map[httpapi.Space]int{
			httpapi.SpaceEnough: tt.enough, httpapi.SpaceLow: tt.low, httpapi.SpaceCritical: tt.critical,
		} {
			space = level
			res := request(m, tt.method, tt.path, "")
			if res.StatusCode != want || want == 503 && res.Header.Get("Retry-After") != "60" {
				t.Errorf("%s %s at level %d: %d, want %d", tt.method, tt.path, level, res.StatusCode, want)
			}
		}
	}
}

// TestLoginsSucceedWithoutAuditRecord simulates a full disk.
func TestLoginsSucceedWithoutAuditRecord(t *testing.T) {
	t.Parallel()
	m := mux(t, httpapi.Options{Audit: &auditLog{err: errors.New("disk full")}},
		httpapi.Route{Pattern: "POST /login", Need: httpapi.Public, Operation: "login", Login: true, Handler: returns(1)},
		httpapi.Route{Pattern: "POST /x", Need: httpapi.Public, Operation: "x", Handler: returns(1)})
	for path, want := range map[string]int{"/login": http.StatusOK, "/x": http.StatusServiceUnavailable} {
		if got := request(m, "POST", path, "").StatusCode; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}
