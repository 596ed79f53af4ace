package probe

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// A Look reads a component once. It keeps to the context's deadline as far as
// it can. The certificate is what the component showed, also with an error.
type Look func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error)

// A Target is a component to look at.
type Target struct {
	Ref  desktop.Ref
	Look Look

	// Spec is what the target was made from. A target whose spec stays the same
	// over a reload is left alone, with the connections it holds.
	Spec any

	// Timeout bounds one look; 0: the scheduler's.
	Timeout time.Duration

	// Careful says that the look itself never repeats a password that was
	// refused. Others are looked at seldom after a refusal, so that nobody's
	// account is locked by us.
	Careful bool

	// Close lets go of what the looks have kept. It may be nil.
	Close func()
}

func (t Target) close() {
	if t.Close != nil {
		t.Close()
	}
}

// observe looks once and describes the attempt.
func (t Target) observe(ctx context.Context, now func() time.Time) (o desktop.Observation) {
	began := now()
	o = desktop.Observation{Kind: t.Ref.Kind, ID: t.Ref.ID}
	defer func() {
		if p := recover(); p != nil {
			o.Reading = nil
			o.Failure = &desktop.Failure{
				Cause: desktop.Broken, Reason: "the probe failed by a fault of its own",
				Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
		o.At = now()
		o.Took = o.At.Sub(began)
	}()
	reading, certificate, err := t.Look(ctx)
	o.Certificate = certificate
	if err != nil {
		o.Failure = reach.Failure(t.Ref.Name, err)
		return o
	}
	o.Reading = reading
	return o
}
