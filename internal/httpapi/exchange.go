package httpapi

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// A Caller is who sent a request, as far as limits, logs and audit records need
// to know.
type Caller struct {
	ID    string // of the token or user; rate limits count against it
	Name  string // for people who read logs
	Org   string
	Admin bool // there is room for them when the server is full
}

// An Event is what an audit record says of one request.
type Event struct {
	Time      time.Time
	RequestID string
	Operation string
	Method    string
	Caller    Caller
	Source    string            // address the request came from
	Target    map[string]string // wildcards of the path by name, except those called secret
	Notes     map[string]string // what the handler added
	Status    int
}

// An exchange is one request and what becomes of it. It travels in the context
// so that guard and handler can add what they learn; they run in the request's
// own goroutine, and so does everything that reads it.
type exchange struct {
	id     string
	start  time.Time
	route  *Route
	caller Caller
	source string
	login  string      // the account of a login from a place that is known
	body   []byte      // as it was received
	header http.Header // of the answer

	mu       sync.Mutex // a change may be recorded by another goroutine than the request's
	notes    map[string]string
	recorded bool // a record is on disk with the change
	later    bool // something was noted since
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

// Pattern returns the pattern of the route that the request took, or "".
func Pattern(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil && x.route != nil {
		return x.route.Pattern
	}
	return ""
}

// SetCaller says who sent the request. A guard calls it as soon as it knows; so
// may a handler that finds out itself, such as a login. It must be called from
// the request's own goroutine.
func SetCaller(ctx context.Context, c Caller) {
	if x := exchangeOf(ctx); x != nil {
		x.caller = c
	}
}

// SetCookie has the answer to the request set a cookie, whatever the handler
// returns. It must be called from the request's own goroutine.
func SetCookie(ctx context.Context, c *http.Cookie) {
	if x := exchangeOf(ctx); x != nil && x.header != nil {
		x.header.Add("Set-Cookie", c.String())
	}
}

// CallerOf returns who sent the request, if that is known.
func CallerOf(ctx context.Context) Caller {
	if x := exchangeOf(ctx); x != nil {
		return x.caller
	}
	return Caller{}
}

// Source returns the address that the request came from, without its port.
func Source(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.source
	}
	return ""
}

// Note adds a fact to the request's audit record: the id of what was created,
// the names of the members that changed. It must never be a secret, and Note
// must be called from the request's own goroutine.
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
	x.later = x.later || x.notes[key] != value
	x.notes[key] = value
}

// requestID takes over the caller's id when it is a short printable token.
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

// network returns what an address shares with others of the same subscriber: a
// site has a whole /64 of IPv6 to choose from.
func network(source string) string {
	a, err := netip.ParseAddr(source)
	if err != nil || a.Unmap().Is4() {
		return source
	}
	p, err := a.WithZone("").Prefix(64)
	if err != nil {
		return source
	}
	return p.String()
}
