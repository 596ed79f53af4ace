package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"vigil/internal/fault"
)

// A Guard finds out who sent a request and whether they may do what the route
// needs, before the body is read. It is not asked for public routes. The context
// it returns is the handler's.
type Guard func(r *http.Request, need string) (context.Context, error)

// An Audit writes a record of a request that changes something, or that was
// refused. It is called before the answer is sent; if it fails, a change is
// answered with 503.
type Audit func(ctx context.Context, e Event) error

// Options are what a Mux needs. The zero value serves public routes only.
type Options struct {
	Guard    Guard
	Audit    Audit
	Errors   ErrorBody        // shape of error bodies; PostureError when nil
	Log      *slog.Logger     // discarded when nil
	Metrics  *Metrics         // none when nil
	Rates    map[string]Rate  // by the names that routes use; "" is the default
	InFlight int              // requests served at a time; 512 when zero
	Timeout  time.Duration    // of handlers that do not say; 30 s when zero
	Now      func() time.Time // time.Now when nil
}

// Mux serves a table of routes.
type Mux struct {
	o        Options
	router   Router[*Route]
	limiter  *limiter
	inFlight chan struct{}
}

// NewMux checks the table and returns its server.
func NewMux(routes []Route, o Options) (*Mux, error) {
	if o.Errors == nil {
		o.Errors = PostureError
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.InFlight == 0 {
		o.InFlight = 512
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Mux{o: o, limiter: newLimiter(o.Rates, o.Now), inFlight: make(chan struct{}, o.InFlight)}
	for _, rt := range routes {
		if err := rt.check(); err != nil {
			return nil, err
		}
		if rt.Need != Public && o.Guard == nil {
			return nil, fmt.Errorf("route %q needs %s, and there is no guard", rt.Pattern, rt.Need)
		}
		if rt.Limits.Body == 0 {
			rt.Limits.Body = DefaultBody
		}
		if rt.Limits.Timeout == 0 {
			rt.Limits.Timeout = o.Timeout
		}
		if err := m.router.Add(rt.Pattern, &rt); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// ServeHTTP answers one request.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{id: requestID(r), start: m.o.Now(), source: sourceOf(r), header: w.Header()}
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	rec := &recorder{ResponseWriter: w, head: r.Method == http.MethodHead}
	rec.before = func(status int) error { return m.audit(r, x, status) }
	setHeaders(w.Header(), r, x.id)
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = m.recovered(rec, r, p)
		}
		m.finish(r, x, rec, err)
		if rec.broken {
			panic(http.ErrAbortHandler) // the answer is half sent: all that is left is to hang up
		}
	}()
	m.o.Metrics.begin()
	err = m.serve(rec, r, x)
}

// serve finds the route, runs it and writes the answer. It returns the error
// that was answered, for the log.
func (m *Mux) serve(rec *recorder, r *http.Request, x *exchange) error {
	found, ok := m.router.Find(r.Method, r.URL.EscapedPath())
	if !ok {
		return m.fail(rec, fault.New(fault.NotFound, "there is nothing at this path"))
	}
	if found.Allow != nil {
		rec.Header().Set("Allow", strings.Join(found.Allow, ", "))
		if r.Method == http.MethodOptions {
			rec.WriteHeader(http.StatusNoContent)
			return nil
		}
		m.problem(rec, Problem{Status: http.StatusMethodNotAllowed, Message: "this path does not take " + short(r.Method)})
		return nil
	}
	x.route = found.Value
	for i, name := range found.Names {
		r.SetPathValue(name, found.Values[i])
	}
	body, err := m.run(rec, r, x)
	switch {
	case err == nil:
		return m.reply(rec, body)
	case r.Context().Err() != nil && rec.status == 0:
		m.problem(rec, Problem{Status: statusGone, Message: "the caller went away"}) // for log and audit: nobody reads it
		return nil
	}
	return m.fail(rec, err)
}

// run lets the request pass all gates and calls its handler.
func (m *Mux) run(rec *recorder, r *http.Request, x *exchange) (any, error) {
	rt := x.route
	if !rt.Quiet {
		select {
		case m.inFlight <- struct{}{}:
			defer func() { <-m.inFlight }()
		default:
			return nil, fault.New(fault.Unavailable, "the server is busy")
		}
	}
	ctx := r.Context()
	if rt.Limits.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, rt.Limits.Timeout)
		defer cancel()
		r = r.WithContext(ctx)
	} else {
		// Not every writer has deadlines, and those without need none lifted.
		rc := http.NewResponseController(rec)
		_ = errors.Join(rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{}))
	}
	if rt.Need != Public {
		guarded, err := m.o.Guard(r, rt.Need)
		if err != nil {
			if limited := m.limiter.allow(RateRefused, network(x.source)); limited != nil {
				return nil, limited
			}
			return nil, err
		}
		ctx = guarded
	}
	if err := m.limiter.allow(rt.Limits.Rate, x.account()); err != nil {
		return nil, err
	}
	if r.ContentLength > rt.Limits.Body {
		drain(r, rt.Limits.Body)
		return nil, fault.New(fault.TooLarge, "the body is larger than %d bytes", rt.Limits.Body)
	}
	r.Body = http.MaxBytesReader(rec.ResponseWriter, r.Body, rt.Limits.Body)
	body, err := rt.Handler(rec, r.WithContext(ctx))
	if err != nil && fault.KindOf(err) == fault.Internal && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fault.Wrap(fault.Unavailable, err, "the request took too long")
	}
	return body, err
}

// account is what rate limits count against: the caller, or the network of an
// unknown one.
func (x *exchange) account() string {
	if x.caller.ID != "" {
		return "caller " + x.caller.ID
	}
	return network(x.source)
}

// audit writes the record of a request whose answer is about to be sent.
func (m *Mux) audit(r *http.Request, x *exchange, status int) error {
	refused := status == http.StatusUnauthorized || status == http.StatusForbidden
	if m.o.Audit == nil || x.route == nil || !refused && !x.route.mutates() {
		return nil
	}
	e := Event{
		Time: x.start, RequestID: x.id, Operation: x.route.Operation, Method: r.Method,
		Caller: x.caller, Source: x.source, Target: pathValues(r, x.route), Notes: x.notes, Status: status,
	}
	// The record must be written even when the caller has gone.
	err := m.o.Audit(context.WithoutCancel(r.Context()), e)
	if err != nil && (refused || !x.route.mutates()) {
		m.o.Log.ErrorContext(r.Context(), "write audit record", "request_id", x.id, "operation", e.Operation, "err", err)
		return nil
	}
	return err
}

// pathValues returns the values of a route's wildcards.
func pathValues(r *http.Request, rt *Route) map[string]string {
	_, names, _ := parseSegment(rt.Pattern)
	values := make(map[string]string, len(names))
	for _, name := range names {
		if name = strings.TrimSuffix(name, "..."); name != "secret" {
			values[name] = r.PathValue(name)
		}
	}
	return values
}

// recovered turns a panic into an error answer.
func (m *Mux) recovered(rec *recorder, r *http.Request, p any) error {
	if p == http.ErrAbortHandler {
		rec.broken = true
		return nil
	}
	m.o.Log.ErrorContext(r.Context(), "panic", "request_id", RequestID(r.Context()), "panic", p, "stack", string(debug.Stack()))
	err := fmt.Errorf("panic: %v", p)
	if rec.status != 0 {
		rec.broken = true
		return err
	}
	return m.fail(rec, err)
}

// finish writes the log line and the metrics of a request.
func (m *Mux) finish(r *http.Request, x *exchange, rec *recorder, err error) {
	took := m.o.Now().Sub(x.start)
	pattern, operation, level := "none", "", slog.LevelInfo
	if x.route != nil {
		pattern, operation = x.route.Pattern, x.route.Operation
		if x.route.Quiet {
			level = slog.LevelDebug
		}
	}
	m.o.Metrics.end(pattern, rec.status, took)
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("method", short(r.Method)), slog.String("route", pattern),
		slog.String("operation", operation), slog.Int("status", rec.status), slog.Duration("duration", took),
		slog.Int64("bytes", rec.bytes), slog.String("source", x.source),
	}
	if x.caller != (Caller{}) {
		attrs = append(attrs, slog.String("caller", x.caller.ID), slog.String("org", x.caller.Org))
	}
	if rec.status >= 500 && err != nil && !errors.Is(err, context.Canceled) {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("err", err))
	}
	m.o.Log.LogAttrs(r.Context(), level, "request", attrs...)
}
