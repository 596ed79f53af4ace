package posture

import (
	"context"
	"time"
)

// A Framework is a catalogue of controls that somebody published, or that an
// organisation made for itself.
type Framework struct {
	ID          string
	Name        string
	Version     string
	Published   string // YYYY-MM-DD
	Author      string
	Description string
	URL         string
	Source      string // where numbers, and the rules of controls, were taken from
	Custom      bool
	Controls    []Control
	Created     time.Time
	Updated     time.Time
}

// A Control is one requirement of a framework.
type Control struct {
	ID      string // of the framework's own: "1.5"
	Title   string // in our words
	Section string
	Manual  bool // who published it says that a person has to look
}

// ControlID returns the id by which rules name a control of the framework.
func (f Framework) ControlID(control string) string { return f.ID + "_" + control }

// FrameworkStore keeps the frameworks that organisations made.
type FrameworkStore interface {
	// Frameworks returns the organisation's own frameworks by name.
	Frameworks(ctx context.Context, org OrgID) ([]Framework, error)

	// SaveFramework adds or replaces one.
	SaveFramework(ctx context.Context, org OrgID, f Framework) error

	// DeleteFramework removes one, or fails with fault.NotFound.
	DeleteFramework(ctx context.Context, org OrgID, id string) error
}
