package probe

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// A Probe reads a component once, within the context's deadline as far as
// possible. It returns the certificate that the component presented even with
// an error.
type Probe func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error)

// A Target is a component to probe.
type Target struct {
	Ref   desktop.Ref
	Probe Probe

	// Spec is the configuration of the target. A target whose spec does not change
	// in a reload is kept, with its open connections.
	Spec any

	// Timeout limits one probe; 0 means the scheduler's.
	Timeout time.Duration

	// Careful means that repeated probes cannot lock an account, for example because
	// the probe itself never retries a refused password. Other targets are probed
	// rarely after a refusal.
	Careful bool

	// Close releases the probe's resources. It may be nil.
	Close func()
}

func (t Target) close() {
	if t.Close != nil {
		t.Close()
	}
}

// observe probes once and returns the result.
func (t Target) observe(ctx context.Context, now func() time.Time) (o desktop.Observation) {
	start := now()
	o = desktop.Observation{Kind: t.Ref.Kind, ID: t.Ref.ID}
	defer func() {
		if p := recover(); p != nil {
			o.Reading = nil
			o.Failure = &desktop.Failure{
				Cause: desktop.Broken, Reason: "the probe failed with an internal error",
				Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
		o.At = now()
		o.Took = o.At.Sub(start)
	}()
	reading, certificate, err := t.Probe(ctx)
	o.Certificate = certificate
	if err != nil {
		o.Failure = reach.Failure(t.Ref.Name, err)
		return o
	}
	o.Reading = reading
	return o
}
