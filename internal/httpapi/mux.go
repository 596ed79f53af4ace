package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/subnet"
	"vigil/internal/telemetry/tracing"
)

// A Guard authenticates the sender of a request and checks that they have the
// role that the route needs, before the body is read. It is not called for
// public routes. The handler gets the context that it returns.
type Guard func(r *http.Request, need string) (context.Context, error)

// Options configure a Mux. The zero value serves public routes only.
type Options struct {
	Guard   Guard
	Audit   Auditor
	Errors  ErrorBody       // shape of error bodies; PostureError when nil
	Log     *slog.Logger    // discarded when nil
	Tracer  *tracing.Tracer // none when nil
	Metrics *Metrics        // none when nil
	Rates   map[string]Rate // by the names that routes use; "" is the default
	Admit   Admission       // limits on concurrent requests
	Proxies Proxies         // reverse proxies whose X-Forwarded-For is trusted
	// Idempotency stores requests by their Idempotency-Key; when nil, the header is
	// ignored.
	Idempotency Idempotency
	Space       func() Space     // free disk space; assumed sufficient when nil
	Timeout     time.Duration    // of handlers without their own; 30 s when zero
	Now         func() time.Time // time.Now when nil
}

// Mux serves a table of routes.
type Mux struct {
	o       Options
	router  Router[*Route]
	limiter *limiter
	gate    *gate
	streams *streams
	bodies  bodies

	warnedOfProxy sync.Once
}

// NewMux checks the routes and returns a Mux that serves them.
func NewMux(routes []Route, o Options) (*Mux, error) {
	if o.Errors == nil {
		o.Errors = PostureError
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Mux{o: o, limiter: newLimiter(o.Rates, o.Now), gate: newGate(o.Admit), streams: newStreams(o.Admit)}
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

// ServeHTTP handles one request.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, span := m.o.Tracer.Request(r)
	x := &exchange{id: requestID(r), start: m.o.Now(), source: m.o.Proxies.source(r), header: w.Header(), span: span}
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	m.warnOfProxy(r)
	rec := &recorder{ResponseWriter: w, head: r.Method == http.MethodHead}
	rec.before = func(status int) error { return m.audit(r, x, status) }
	setHeaders(w.Header(), r, x.id)
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = m.panicError(rec, r, p)
		}
		m.finish(r, x, rec, err)
		if rec.broken {
			panic(http.ErrAbortHandler) // the response is partly sent: close the connection
		}
	}()
	m.o.Metrics.begin()
	err = m.serve(rec, r, x)
}

// serve finds the route, runs it and sends the response. It returns the error
// that the response reports, for the log.
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
		rec.acceptsGzip = x.route.mayCompress() && AcceptsGzip(r)
		return m.reply(rec, body)
	case errors.Is(context.Cause(r.Context()), errStopped) && rec.status == 0:
		return m.fail(rec, fault.Wrap(fault.Unavailable, err, "the server stopped before the request ended"))
	case r.Context().Err() != nil && rec.status == 0:
		m.problem(rec, Problem{Status: statusClientClosed, Message: "the caller went away"}) // for log and audit record only
		return nil
	}
	return m.fail(rec, err)
}

// responseTime limits how long a client takes to read a response that a handler returned when
// its timeout was nearly over.
const responseTime = 90 * time.Second

// run checks rate limits, permission, body and concurrency, then calls the
// handler.
func (m *Mux) run(rec *recorder, r *http.Request, x *exchange) (any, error) {
	rt := x.route
	ctx := r.Context()
	if rt.Limits.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, rt.Limits.Timeout+bodyTimeOf(r, rt))
		defer cancel()
		r = r.WithContext(ctx)
	} else {
		// Response writers without deadlines have none to lift: the error is ignored.
		rc := http.NewResponseController(rec)
		_ = errors.Join(rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{}))
	}
	if rt.Need != Public {
		guarded, err := m.o.Guard(r, rt.Need)
		if err != nil {
			if limited := m.limiter.allow(RateRefused, subnet.Of(x.source)); limited != nil {
				return nil, limited
			}
			return nil, err
		}
		ctx = guarded
	}
	if rt.Limits.Account == nil {
		if err := m.limiter.allow(rt.Limits.Rate, x.rateKey()); err != nil {
			return nil, err
		}
	}
	if x.caller.Org != "" {
		if err := m.limiter.allow(RateOrg, x.caller.Org); err != nil {
			return nil, err
		}
	}
	if err := m.checkSpace(rt); err != nil {
		return nil, err
	}
	release, err := m.readBody(rec, r, x)
	if err != nil {
		return nil, err
	}
	defer release()
	if rt.Limits.Timeout > 0 {
		// The handler has the whole timeout, however slowly the body arrived. The deadline
		// of the server for writing the response can be earlier.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, rt.Limits.Timeout)
		defer cancel()
		_ = http.NewResponseController(rec).SetWriteDeadline(time.Now().Add(rt.Limits.Timeout + responseTime)) // not supported by every writer
	}
	if rt.Limits.Account != nil {
		// The account is named in the body.
		x.login = rt.Limits.Account(withBody(r, x.body))
		if err := m.limiter.allow(rt.Limits.Rate, x.rateKey()); err != nil {
			return nil, err
		}
	}
	leave, err := m.enter(ctx, x)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx = m.attach(ctx, r, x)
	key, past, err := m.idempotencyKey(ctx, r, x)
	if err != nil || past != nil {
		return past, err
	}
	if key != nil {
		ctx = m.o.Idempotency.Attach(ctx, *key)
	}
	body, err := rt.Handler(rec, r.WithContext(ctx))
	if err == nil && key != nil {
		m.storeAnswer(ctx, x, key, body)
	}
	if err != nil && fault.KindOf(err) == fault.Internal && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fault.Wrap(fault.Unavailable, err, "the request took too long")
	}
	return body, m.reportOutcome(rec, x, err)
}

// enter counts the request against the limits of concurrent requests or of open
// streams, until leave is called. A request takes a slot only after its body
// arrived, so that slow senders do not block others.
func (m *Mux) enter(ctx context.Context, x *exchange) (leave func(), err error) {
	switch {
	case x.route.Monitor:
		return func() {}, nil
	case x.route.Events:
		return m.streams.enter(x.caller)
	}
	return m.gate.enter(ctx, x.admissionRequest())
}

// withBody returns a copy of a request with its own reader of the body.
func withBody(r *http.Request, body []byte) *http.Request {
	c := *r
	c.Body = io.NopCloser(bytes.NewReader(body))
	return &c
}

// rateKey returns the key of the request's rate limit: the caller, the account
// of a login from a known address, or the network of an unauthenticated sender.
func (x *exchange) rateKey() string {
	switch {
	case x.caller.ID != "":
		return "caller " + x.caller.ID
	case x.login != "":
		return "login " + x.login
	}
	return subnet.Of(x.source)
}

// concurrencyKey returns the key of the request's concurrency limit: the organisation,
// the caller if there is no organisation, or the network of an unauthenticated
// sender.
func (x *exchange) concurrencyKey() string {
	if x.caller.ID != "" && x.caller.Org != "" {
		return "org " + x.caller.Org
	}
	return x.rateKey()
}

func (x *exchange) admissionRequest() admissionRequest {
	return admissionRequest{
		key:   shareKey{x.concurrencyKey(), x.route.mutates()},
		known: x.caller.ID != "" || x.login != "", admin: x.caller.Admin,
	}
}

// pathValues returns the values of a route's wildcards.
func pathValues(r *http.Request, rt *Route) map[string]string {
	_, names, _ := parseSegment(rt.Pattern) // finds the wildcards of all segments
	values := make(map[string]string, len(names))
	for _, name := range names {
		name = strings.TrimSuffix(name, "...")
		if name != "secret" {
			values[name] = r.PathValue(name)
		}
	}
	return values
}

// panicError turns a panic into an error response.
func (m *Mux) panicError(rec *recorder, r *http.Request, p any) error {
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
	elapsed := m.o.Now().Sub(x.start)
	pattern, operation, level := "none", "", slog.LevelInfo
	if x.route != nil {
		pattern, operation = x.route.Pattern, x.route.Operation
		if x.route.Quiet {
			level = slog.LevelDebug
		}
	}
	m.o.Metrics.end(pattern, rec.status, elapsed, x.route != nil && x.route.Events)
	x.endSpan(r, pattern, rec.status)
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("method", short(r.Method)), slog.String("route", pattern),
		slog.String("operation", operation), slog.Int("status", rec.status), slog.Duration("duration", elapsed),
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
