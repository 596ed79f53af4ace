package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vigil/internal/fault"
)

// A Problem is the public form of an error.
type Problem struct {
	Status  int
	Message string
	Details []fault.Detail
	After   time.Duration // when to retry, for 429 and 503
	Time    time.Time
}

// statuses maps each kind of fault to an HTTP status.
var statuses = [...]int{
	fault.Internal:        http.StatusInternalServerError,
	fault.Invalid:         http.StatusBadRequest,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden:       http.StatusForbidden,
	fault.NotFound:        http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	fault.Stale:           http.StatusPreconditionFailed,
	fault.VersionRequired: http.StatusPreconditionRequired,
	fault.TooLarge:        http.StatusRequestEntityTooLarge,
	fault.TooSlow:         http.StatusRequestTimeout,
	fault.Limited:         http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusServiceUnavailable,
}

// statusClientClosed is the status in logs and audit records when the caller closed the
// connection before the response.
const statusClientClosed = 499

// problemOf returns the public form of an error. The cause may contain hosts,
// queries or keys: it is logged, never sent.
func problemOf(err error) Problem {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind != fault.Internal {
		return Problem{Status: statuses[e.Kind], Message: e.Message, Details: e.Details, After: e.After}
	}
	return Problem{Status: http.StatusInternalServerError, Message: "internal error"}
}

// header sets the headers that go with a problem.
func (p Problem) header(h http.Header) {
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	after := p.After
	if after <= 0 && (p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable) {
		after = time.Second
	}
	if after > 0 {
		h.Set("Retry-After", strconv.Itoa(int((after+time.Second-1)/time.Second)))
	}
}

// An ErrorBody returns the body of an error response; each server has its own
// format.
type ErrorBody func(Problem) any

// PostureError is the format of the posture server's errors.
func PostureError(p Problem) any {
	type member struct {
		Path      string `json:"path"`
		Message   string `json:"message"`
		Line      int    `json:"line,omitempty"`
		Column    int    `json:"column,omitempty"`
		EndColumn int    `json:"endColumn,omitempty"`
		Hint      string `json:"hint,omitempty"`
	}
	body := struct {
		Message    string   `json:"message"`
		StatusCode int      `json:"statusCode"`
		Errors     []member `json:"errors,omitempty"`
	}{Message: p.Message, StatusCode: p.Status}
	for _, d := range p.Details {
		body.Errors = append(body.Errors, member(d))
	}
	return body
}

// DesktopError is the format of the desktop server's errors.
func DesktopError(p Problem) any {
	type member struct {
		Key     string `json:"error_key"`
		Message string `json:"error_message"`
	}
	body := struct {
		Timestamp int64    `json:"timestamp"`
		Status    string   `json:"status"`
		Message   string   `json:"error_message"`
		Errors    []member `json:"errors"`
	}{p.Time.UnixMilli(), statusName(p.Status), p.Message, make([]member, 0, len(p.Details))}
	for _, d := range p.Details {
		body.Errors = append(body.Errors, member{Key: d.Path, Message: d.Path + " " + d.Message})
	}
	return body
}

// statusName spells a status as the desktop server does: NOT_FOUND.
func statusName(status int) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToUpper(http.StatusText(status)))
}
