package posture

import (
	"context"
	"time"
)

// A Framework is a catalogue of controls, either published or defined by an
// organisation.
type Framework struct {
	ID          string
	Name        string
	Version     string
	Published   string // YYYY-MM-DD
	Author      string
	Description string
	URL         string
	Source      string // where the control numbers and the rules of the controls come from
	Custom      bool
	Controls    []Control
	Created     time.Time
	Updated     time.Time
}

// A Control is one requirement of a framework.
type Control struct {
	ID      string // the framework's number: "1.5"
	Title   string // paraphrased
	Section string
	Manual  bool // the publisher says that it cannot be assessed automatically
}

// ControlID returns the id that rules use for a control of the framework.
func (f Framework) ControlID(control string) string { return f.ID + "_" + control }

// FrameworkStore stores the frameworks that organisations define.
type FrameworkStore interface {
	// Frameworks returns the organisation's own frameworks by name.
	Frameworks(ctx context.Context, org OrgID) ([]Framework, error)

	// SaveFramework adds or replaces a framework.
	SaveFramework(ctx context.Context, org OrgID, f Framework) error

	// DeleteFramework removes a framework, or fails with fault.NotFound.
	DeleteFramework(ctx context.Context, org OrgID, id string) error
}
