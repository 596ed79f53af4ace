package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// Public as a route's Need means that anybody may call it.
const Public = "public"

// Body sizes for [Limits].
const (
	DefaultBody = 1 << 20
	LargeBody   = 8 << 20
)

// A Route is one row of a server's routing table. The table is data so that
// tests can compare it with the OpenAPI document and the role matrix.
type Route struct {
	Pattern   string // method and path: "GET /v2/findings/{id}"; see [Router] for the path
	Need      string // the role that the caller must hold, or Public
	Operation string // operation id of the OpenAPI document, also in logs and audit records
	Limits    Limits
	Safe      bool // a POST that changes nothing, such as a query: it is not audited
	Login     bool // authenticates the caller: its audit record is written when it ends, and the request is allowed when disk space is critical
	// Deferrable requests write much and can be sent later without loss: they are
	// refused first when disk space is low.
	Deferrable bool

	// SecretAnswer means that the response contains a secret. Such a response is not
	// compressed, and not stored for requests repeated with the same Idempotency-Key.
	SecretAnswer bool

	Quiet   bool // called so often by machines that it is logged at debug level
	Events  bool // a stream of server-sent events, see [Feed]: it takes no slot of a request, but counts against the limits of streams
	Monitor bool // reports the server's health: served even when concurrency limits are reached
	Hidden  bool // not in the OpenAPI document: the console, the document itself
	// Limited means that callers whose access is limited to a part of their
	// organisation may call the route: the handler keeps to that part.
	Limited bool
	Handler Handler
}

// Limits limit the cost of one request. A zero field means the default.
type Limits struct {
	Body    int64         // maximum size of the body in bytes
	Timeout time.Duration // limit of the handler's duration, from when the body has arrived; negative for none, as for exports
	Rate    string        // name of the rate limit that the request counts against

	// Account returns the account of a login, if that account has logged in from
	// the request's address before. Such a request counts against the account's
	// rate limit, which other users of the address cannot exhaust. For any other
	// request it returns "", and the request counts against the address.
	Account func(r *http.Request) string
}

// A Handler handles one request. It returns the body to send; only handlers
// made by [Stream] and [Plain] write to w.
type Handler func(w http.ResponseWriter, r *http.Request) (body any, err error)

// JSON adapts a typed function. In is filled from the request by its tags (see
// [Bind]) and checked by its Validate method, if it has one. Out is sent as
// JSON with status 200; a [Reply] sets its own status. JSON panics if In has a
// field that cannot be filled.
func JSON[In, Out any](f func(context.Context, In) (Out, error)) Handler {
	mustBind(reflect.TypeFor[In]())
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		var in In
		if err := Bind(r, &in); err != nil {
			return nil, err
		}
		return f(r.Context(), in)
	}
}

// None is the input of an operation that takes none.
type None struct{}

// written is returned by handlers that sent the response themselves.
type written struct{}

// Stream adapts a function that writes its own response: events, files,
// exports. An error returned before the first write becomes an error response.
func Stream(f func(w http.ResponseWriter, r *http.Request) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		return written{}, f(w, r)
	}
}

// Plain adapts a standard handler. Guard, limits and logging apply to it as to
// every other route.
func Plain(h http.Handler) Handler {
	return Stream(func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	})
}

// mutates reports whether the route may change something.
func (rt Route) mutates() bool {
	method, _, _ := strings.Cut(rt.Pattern, " ")
	return !rt.Safe && method != http.MethodGet && method != http.MethodHead
}

// check returns an error if a row of the table is incomplete.
func (rt Route) check() error {
	switch {
	case rt.Need == "":
		return fmt.Errorf("route %q has no Need", rt.Pattern)
	case rt.Operation == "":
		return fmt.Errorf("route %q has no operation id", rt.Pattern)
	case rt.Handler == nil:
		return fmt.Errorf("route %q has no handler", rt.Pattern)
	}
	return nil
}
