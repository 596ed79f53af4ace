package limit

import (
	"context"
	"time"

	"vigil/internal/posture"
)

// Pulses restricts the change markers, which concern the whole organisation but
// tell nothing about it: only the time of the last change is left out.
type Pulses struct {
	Store interface {
		Pulse(ctx context.Context, org posture.OrgID) (posture.Pulse, error)
	}
}

// Pulse returns the change markers of an organisation, which may be shared by callers.
func (s Pulses) Pulse(ctx context.Context, org posture.OrgID) (posture.Pulse, error) {
	return s.Store.Pulse(ctx, org)
}

// Visible returns the change markers without what a limited caller must not see.
func (s Pulses) Visible(ctx context.Context, p posture.Pulse) posture.Pulse {
	if _, limited := From(ctx); limited {
		p.LastChange = time.Time{}
	}
	return p
}
