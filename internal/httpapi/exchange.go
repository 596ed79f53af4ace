package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"vigil/internal/telemetry/tracing"
)

// A Caller identifies the sender of a request in limits, logs and audit
// records.
type Caller struct {
	ID    string // of the token or user; key of the rate limits
	Name  string // shown in logs
	Org   string
	Admin bool // may use the slots reserved for administrators
}

// An Event is the content of an audit record of one request.
type Event struct {
	Time      time.Time
	RequestID string
	Operation string
	Method    string
	Caller    Caller
	Source    string            // address that sent the request
	Target    map[string]string // wildcards of the path by name, except those named secret
	Notes     map[string]string // added by the handler
	Status    int
}

// An exchange is the state of one request. It is in the request's context, so
// that guard and handler can add to it. Except for the fields below mu, only
// the request's own goroutine uses it.
type exchange struct {
	span   tracing.Span // of the whole request
	id     string
	start  time.Time
	route  *Route
	caller Caller
	source string
	login  string      // account of a login, if that account has logged in from this address before
	body   []byte      // as received
	header http.Header // of the response

	mu         sync.Mutex // guards the fields below: another goroutine may commit the audit record
	notes      map[string]string
	recorded   bool // the audit record was committed with the change
	notedSince bool // a note was added after the last call of Pending.Event
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// RequestID returns the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.id
	}
	return ""
}

// Pattern returns the pattern of the request's route, or "".
func Pattern(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil && x.route != nil {
		return x.route.Pattern
	}
	return ""
}

// OpenToLimited reports whether limited callers may call the request's route.
func OpenToLimited(ctx context.Context) bool {
	x := exchangeOf(ctx)
	return x != nil && x.route != nil && x.route.Limited
}

// SetCaller sets the sender of the request. A guard calls it as soon as it
// knows the sender; so may a handler that authenticates the caller, such as a
// login. It must be called from the request's own goroutine.
func SetCaller(ctx context.Context, c Caller) {
	if x := exchangeOf(ctx); x != nil {
		x.caller = c
	}
}

// SetCookie sets a cookie in the response, whether the handler succeeds or
// fails. It must be called from the request's own goroutine.
func SetCookie(ctx context.Context, c *http.Cookie) {
	if x := exchangeOf(ctx); x != nil && x.header != nil {
		x.header.Add("Set-Cookie", c.String())
	}
}

// CallerOf returns the sender of the request, or the zero Caller if unknown.
func CallerOf(ctx context.Context) Caller {
	if x := exchangeOf(ctx); x != nil {
		return x.caller
	}
	return Caller{}
}

// Source returns the address that sent the request, without the port.
func Source(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.source
	}
	return ""
}

// Note adds a fact to the request's audit record, such as the id of a created
// object or the names of changed members. It must not be a secret. Note must be
// called from the request's own goroutine.
func Note(ctx context.Context, key, value string) {
	if x := exchangeOf(ctx); x != nil {
		x.note(key, value)
	}
}

func (x *exchange) note(key, value string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.notes == nil {
		x.notes = make(map[string]string)
	}
	x.notedSince = x.notedSince || x.notes[key] != value
	x.notes[key] = value
}

// endSpan ends the span of the request.
func (x *exchange) endSpan(r *http.Request, pattern string, status int) {
	x.span.Name(pattern)
	x.span.Set("http.request.method", short(r.Method))
	x.span.Set("http.route", pattern)
	x.span.SetInt("http.response.status_code", status)
	x.span.Set("vigil.request_id", x.id)
	x.span.Set("vigil.org", x.caller.Org)
	var err error
	if status >= http.StatusInternalServerError {
		err = errFailed
	}
	x.span.End(err)
}

// errFailed marks the span of a request that was answered with a 5xx status.
var errFailed = errors.New("the request failed")

// requestID returns the request id sent by the caller if it is a short
// printable token, else a new one.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 128 {
		return rand.Text()
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c >= 0x7f {
			return rand.Text()
		}
	}
	return id
}

// sourceOf returns the sender's address without the port.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
