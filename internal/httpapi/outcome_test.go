package httpapi_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// committing is an auditor whose records are committed when the handler calls
// Committed.
type committing struct{}

type commitKey struct{}

func (committing) Attach(ctx context.Context, p httpapi.Pending) context.Context {
	return context.WithValue(ctx, commitKey{}, p.Committed)
}

func (committing) Append(context.Context, httpapi.Event) error { return nil }

// TestFailureReportsWhetherTheChangeWasMade fails before, during and after the
// commit.
func TestFailureReportsWhetherTheChangeWasMade(t *testing.T) {
	t.Parallel()
	outcomeUnknown := fault.Wrap(fault.Unavailable, errors.Join(fault.ErrOutcomeUnknown, errors.New("connection reset")), "the database failed")
	for _, tt := range []struct {
		name   string
		commit bool
		err    error
		status int
		want   string
	}{
		{"before the commit", false, fault.New(fault.Unavailable, "the database is not available"), 503, ""},
		{"during the commit", false, outcomeUnknown, 503, "unknown"},
		{"after the commit", true, fault.New(fault.Unavailable, "too slow"), 503, "made"},
		{"after the commit, with an internal error", true, errors.New("bug"), 500, "made"},
		{"no failure", true, nil, 200, ""},
		{"an error of the caller", false, fault.New(fault.Invalid, "no"), 400, ""},
	} {
		route := public("POST /x", httpapi.JSON(func(ctx context.Context, _ httpapi.None) (string, error) {
			if tt.commit {
				ctx.Value(commitKey{}).(func())()
			}
			return "", tt.err
		}))
		w := httptest.NewRecorder()
		mux(t, httpapi.Options{Audit: committing{}}, route).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/x", nil))
		if got := w.Header().Get("Vigil-Change"); w.Code != tt.status || got != tt.want {
			t.Errorf("%s: %d, Vigil-Change %q, %s; want %d, %q", tt.name, w.Code, got, w.Body, tt.status, tt.want)
		}
	}
}
