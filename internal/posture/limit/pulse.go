package limit

import (
	"context"
	"time"

	"vigil/internal/posture"
)

// Pulses restricts the version tokens of an organisation's data. Limited callers get
// those of the whole organisation, without the time of the last change.
type Pulses struct {
	Store interface {
		Pulse(ctx context.Context, org posture.OrgID) (posture.Pulse, error)
	}
}

// Pulse returns the version tokens of an organisation. The result is the same for all
// callers; Visible returns the part that one of them may see.
func (s Pulses) Pulse(ctx context.Context, org posture.OrgID) (posture.Pulse, error) {
	return s.Store.Pulse(ctx, org)
}

// Visible returns the version tokens without what a limited caller must not see.
func (s Pulses) Visible(ctx context.Context, p posture.Pulse) posture.Pulse {
	if _, limited := From(ctx); limited {
		p.LastChange = time.Time{}
	}
	return p
}
