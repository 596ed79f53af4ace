package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// Public as a route's need says that anybody may call it.
const Public = "public"

// Body sizes for [Limits].
const (
	DefaultBody = 1 << 20
	LargeBody   = 8 << 20
)

// A Route is one row of a server's routing table. The table is data so that
// tests can hold it against the OpenAPI document and the role matrix.
type Route struct {
	Pattern   string // method and path: "GET /v2/findings/{id}"; see [Router] for the path
	Need      string // the role that the caller must hold, or Public
	Operation string // operation id of the OpenAPI document, also in logs and audit records
	Limits    Limits
	Safe      bool // a POST that changes nothing, such as a query: it is not audited
	Login     bool // tells who the caller is: its record is written when that is known, and when little disk space is left it goes on
	// Deferrable requests write much and lose nothing by coming later: they are
	// the first to be refused when disk space is low.
	Deferrable bool

	// SecretAnswer says that the answer holds a secret, which is not kept for
	// requests that are sent again with the same Idempotency-Key.
	SecretAnswer bool

	Quiet   bool // called so often by machines that its log line is for debugging only
	Monitor bool // says how the server is: answered even when it has no room for other requests
	Hidden  bool // not part of the API and so not in its document: the console, the document itself
	Handler Handler
}

// Limits bound what one request may cost. Zero values mean the defaults.
type Limits struct {
	Body    int64         // bytes of body that are read
	Timeout time.Duration // how long the handler may take; negative for streams, which may take any time
	Rate    string        // name of the rate limit that the request counts against

	// Account names the account that a login is for, if the account has logged in
	// from the request's address before. Such a request counts against limits of
	// the account, which others at the same address cannot use up. It returns ""
	// for all others, which count against the address.
	Account func(r *http.Request) string
}

// A Handler answers one request. It returns what to send rather than sending
// it, except for those made by [Stream] and [Plain].
type Handler func(w http.ResponseWriter, r *http.Request) (body any, err error)

// JSON adapts a typed function. In is filled from the request as its tags say
// (see [Bind]) and checked by its Validate method if it has one. Out is sent as
// JSON with status 200; a [Reply] says otherwise. JSON panics if In has a field
// that cannot be filled.
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

// written is what a handler returns that has sent its answer itself.
type written struct{}

// Stream adapts a function that writes its own answer: events, files, exports.
// An error returned before anything was written becomes an error answer.
func Stream(f func(w http.ResponseWriter, r *http.Request) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		return written{}, f(w, r)
	}
}

// Plain adapts a standard handler, which then stands behind the same guard,
// limits and log as every other route.
func Plain(h http.Handler) Handler {
	return Stream(func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	})
}

// mutates reports whether a call of the route may change something.
func (rt Route) mutates() bool {
	method, _, _ := strings.Cut(rt.Pattern, " ")
	return !rt.Safe && method != http.MethodGet && method != http.MethodHead
}

// check reports what is wrong with a row of the table.
func (rt Route) check() error {
	switch {
	case rt.Need == "":
		return fmt.Errorf("route %q does not say who may call it", rt.Pattern)
	case rt.Operation == "":
		return fmt.Errorf("route %q has no operation id", rt.Pattern)
	case rt.Handler == nil:
		return fmt.Errorf("route %q has no handler", rt.Pattern)
	}
	return nil
}
