package posture

import (
	"context"
	"time"
)

// An Assessment is what a person says about a control that no rule checks.
type Assessment struct {
	Framework string
	Control   string // its number in the framework
	Verdict   AssessmentVerdict
	Reason    string
	By        string
	At        time.Time
	Until     time.Time // zero for no end
}

// InForce reports whether the assessment is valid at a time.
func (a Assessment) InForce(now time.Time) bool { return a.Until.IsZero() || now.Before(a.Until) }

// AssessmentVerdict is the verdict of a person on a control.
type AssessmentVerdict string

// The verdicts of people.
const (
	AssessedPass          AssessmentVerdict = "Pass"
	AssessedViolation     AssessmentVerdict = "Violation"
	AssessedNotApplicable AssessmentVerdict = "NotApplicable"
)

// AssessmentStore stores assessments.
type AssessmentStore interface {
	// Assessments returns the assessments of a framework's controls.
	Assessments(ctx context.Context, org OrgID, framework string) ([]Assessment, error)

	// SaveAssessment adds an assessment, or replaces that of the same control.
	SaveAssessment(ctx context.Context, org OrgID, a Assessment) error

	// DeleteAssessment removes the assessment of a control and returns it, or fails with
	// fault.NotFound.
	DeleteAssessment(ctx context.Context, org OrgID, framework, control string) (Assessment, error)
}
