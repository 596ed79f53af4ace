package httpapi

import (
	"context"
	"maps"
	"net/http"
)

// An Auditor writes audit records of requests that change something or are
// refused.
type Auditor interface {
	// Attach returns a context in which the first transaction that commits also
	// commits the request's audit record.
	Attach(ctx context.Context, p Pending) context.Context

	// Append writes a record in its own transaction, before the response is sent.
	// If it fails, a request that would have succeeded is answered with 503.
	Append(ctx context.Context, e Event) error
}

// Pending gives an Auditor access to a request that is being handled.
type Pending struct {
	Event     func() (Event, bool) // the record as known now; false when it is already written
	Committed func()               // must be called after the record was committed
	Note      func(key, value string)
}

// attach arranges that the request's audit record is committed in the same
// transaction as its change.
func (m *Mux) attach(ctx context.Context, r *http.Request, x *exchange) context.Context {
	// The caller of a login is known only when the login ends: the method audit writes the record.
	if m.o.Audit == nil || !x.route.mutates() || x.route.Login {
		return ctx
	}
	return m.o.Audit.Attach(ctx, Pending{
		Event: func() (Event, bool) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.notedSince = false
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

// event returns the audit record of a request as known so far. A status of 0 means
// that the status is not known yet. The caller holds x.mu.
func (m *Mux) event(r *http.Request, x *exchange, status int) Event {
	return Event{
		Time: x.start, RequestID: x.id, Operation: x.route.Operation, Method: r.Method,
		Caller: x.caller, Source: x.source, Target: pathValues(r, x.route), Notes: maps.Clone(x.notes), Status: status,
	}
}

// audit writes the request's audit record before the response is sent, unless
// it was committed with the change and no note was added since.
func (m *Mux) audit(r *http.Request, x *exchange, status int) error {
	refused := status == http.StatusUnauthorized || status == http.StatusForbidden
	if m.o.Audit == nil || x.route == nil || !refused && !x.route.mutates() && !x.route.Login {
		return nil
	}
	x.mu.Lock()
	recorded, notedSince := x.recorded, x.notedSince
	e := m.event(r, x, status)
	x.mu.Unlock()
	if recorded && !notedSince && status < 400 {
		return nil
	}
	// The record must be written even when the caller closed the connection.
	err := m.o.Audit.Append(context.WithoutCancel(r.Context()), e)
	// If the record cannot be written, only a successful change that has no record yet
	// fails. A login succeeds, so that an administrator can log in when the disk is full.
	// If the request does not fail, the log line replaces the record.
	mustBeRecorded := x.route.mutates() && !x.route.Login && status < 400 && !recorded
	if err != nil && !mustBeRecorded {
		m.o.Log.ErrorContext(r.Context(), "write audit record", "request_id", x.id, "operation", e.Operation, "err", err)
		return nil
	}
	return err
}
