package httpapi

import (
	"context"
	"maps"
	"net/http"
)

// An Auditor writes records of requests that change something or are refused.
type Auditor interface {
	// Attach returns a context under which the first change that is committed to
	// the database commits the request's record with it.
	Attach(ctx context.Context, p Pending) context.Context

	// Append writes a record by itself, before the request is answered. If it
	// fails, a request that would have succeeded is answered with 503.
	Append(ctx context.Context, e Event) error
}

// Pending is a request that is being handled, as its record needs it.
type Pending struct {
	Event     func() (Event, bool) // what is known of it now; false when it is on record
	Committed func()               // to be called once it is on record
	Note      func(key, value string)
}

// attach has the record of a request committed with the change it makes.
func (m *Mux) attach(ctx context.Context, r *http.Request, x *exchange) context.Context {
	// Who logs in is known only when it is done: the record is written then.
	if m.o.Audit == nil || !x.route.mutates() || x.route.Login {
		return ctx
	}
	return m.o.Audit.Attach(ctx, Pending{
		Event: func() (Event, bool) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.later = false
			return m.event(r, x, 0), !x.recorded
		},
		Committed: func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.recorded = true
		},
		Note: x.note,
	})
}

// event is what is known of a request. The caller holds x.mu.
func (m *Mux) event(r *http.Request, x *exchange, status int) Event {
	return Event{
		Time: x.start, RequestID: x.id, Operation: x.route.Operation, Method: r.Method,
		Caller: x.caller, Source: x.source, Target: pathValues(r, x.route), Notes: maps.Clone(x.notes), Status: status,
	}
}

// audit writes the record of a request whose answer is about to be sent, unless
// it was committed with the change and nothing is to be added.
func (m *Mux) audit(r *http.Request, x *exchange, status int) error {
	refused := status == http.StatusUnauthorized || status == http.StatusForbidden
	if m.o.Audit == nil || x.route == nil || !refused && !x.route.mutates() {
		return nil
	}
	x.mu.Lock()
	recorded, later := x.recorded, x.later
	e := m.event(r, x, status)
	x.mu.Unlock()
	if recorded && !later && status < 400 {
		return nil
	}
	// The record must be written even when the caller has gone.
	err := m.o.Audit.Append(context.WithoutCancel(r.Context()), e)
	// A login goes on without its record, which the log line stands in for: an
	// administrator must be able to come in when the disk is full.
	if err != nil && (recorded || status >= 400 || x.route.Login || !x.route.mutates()) {
		m.o.Log.ErrorContext(r.Context(), "write audit record", "request_id", x.id, "operation", e.Operation, "err", err)
		return nil
	}
	return err
}
