package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	controlPath struct {
		frameworkPath
		Control string `path:"control_id"`
	}
	assessIn struct {
		controlPath
		Verdict string                      `json:"verdict" required:"true" enum:"Pass,Violation,NotApplicable"`
		Reason  string                      `json:"reason" required:"true"`
		Until   httpapi.Optional[time.Time] `json:"until"`
	}
	assessed struct {
		Verdict posture.AssessmentVerdict `json:"verdict"`
		Reason  string                    `json:"reason"`
		By      string                    `json:"by"`
		Time    httpapi.Time              `json:"time"`
		Until   *httpapi.Time             `json:"until,omitempty"`
		InForce bool                      `json:"inForce"`
	}
)

func (a *API) assessedOf(p posture.Assessment) *assessed {
	return &assessed{p.Verdict, p.Reason, p.By, httpapi.Time{Time: p.At}, optionalTime(p.Until), p.InForce(a.Now())}
}

// assessControl records what the caller says about a control that no rule checks.
func (a *API) assessControl(ctx context.Context, in assessIn) (*assessed, error) {
	now := a.Now()
	p := posture.Assessment{
		Framework: in.ID, Control: in.Control, Verdict: posture.AssessmentVerdict(in.Verdict), Reason: strings.TrimSpace(in.Reason), By: a.Caller(ctx), At: now,
	}
	if p.Reason == "" || len(p.Reason) > 1000 {
		return nil, fault.Field("reason", "must say why, in at most 1000 bytes")
	}
	until, err := futureTime(in.Until, now)
	if err != nil {
		return nil, err
	}
	p.Until = until.UTC()
	controls, err := a.controls(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(controls, func(c control) bool { return c.ControlID == in.Control })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "compliance framework %q has no control %q", in.ID, in.Control)
	}
	if len(controls[i].RuleIDs) > 0 {
		return nil, fault.New(fault.Conflict, "control %q is checked by rules; suppress their findings instead", in.Control)
	}
	return a.assessedOf(p), a.Book.Store.SaveAssessment(ctx, a.Org(ctx), p)
}

func (a *API) deleteAssessment(ctx context.Context, in controlPath) (*assessed, error) {
	p, err := a.Book.Store.DeleteAssessment(ctx, a.Org(ctx), in.ID, in.Control)
	if err != nil {
		return nil, err
	}
	return a.assessedOf(p), nil
}

// addAssessments adds the assessments by people to the controls that have no rules.
func (a *API) addAssessments(ctx context.Context, framework string, controls []controlPosture) error {
	all, err := a.Book.Store.Assessments(ctx, a.Org(ctx), framework)
	if err != nil {
		return err
	}
	for _, p := range all {
		for i := range controls {
			if c := &controls[i]; c.ControlID == p.Control && len(c.RuleIDs) == 0 {
				c.Assessed = a.assessedOf(p)
			}
		}
	}
	return nil
}

// assessmentsInForce returns the assessments of a framework's controls that are in force,
// by id of the control.
func (a *API) assessmentsInForce(ctx context.Context, framework string) (map[string]posture.AssessmentVerdict, error) {
	all, err := a.Book.Store.Assessments(ctx, a.Org(ctx), framework)
	inForce := map[string]posture.AssessmentVerdict{}
	for _, p := range all {
		if p.InForce(a.Now()) {
			inForce[p.Control] = p.Verdict
		}
	}
	return inForce, err
}

// count adds the assessed control to a tally.
func (p *assessed) count(t *controlTally) {
	switch p.Verdict {
	case posture.AssessedPass:
		t.Passing++
	case posture.AssessedViolation:
		t.Violating++
	default: // not applicable
		t.Nothing++
	}
}
