package export

import (
	"strings"

	"vigil/internal/posture"
)

// A Compliance is the result of a framework for one or more accounts.
type Compliance struct {
	Framework                                         posture.Framework
	Controls                                          []ControlResult
	Pass, Violated, Unknown, Unchecked, NotApplicable int // numbers of controls
}

// A ControlResult is the combined result of the rules of one control, or what a person
// says about a control without rules.
type ControlResult struct {
	posture.Control
	posture.ControlPosture
	Rules   []posture.RuleID
	Verdict string // pass, violation, unknown, "not applicable" or "no rule"
}

// The verdicts on a control.
const (
	ControlPass          = "pass"
	ControlViolation     = "violation"
	ControlUnknown       = "unknown"
	ControlNotApplicable = "not applicable"
	ControlUnchecked     = "no rule"
)

// VerdictOf summarises a control with a number of rules: it is violated if there is a
// violation, otherwise unknown if a result is unknown or resources could not be listed.
// A control whose rules apply to no resource is not applicable. If the control has no rules,
// its assessment by a person decides; "" means that no assessment is in force.
func VerdictOf(p posture.ControlPosture, rules int, assessed posture.AssessmentVerdict) string {
	switch {
	case rules == 0:
		return assessedVerdict(assessed)
	case p.Violating > 0:
		return ControlViolation
	case p.Unknown+p.NotListed > 0:
		return ControlUnknown
	case p.Passing > 0:
		return ControlPass
	}
	return ControlNotApplicable
}

// assessedVerdict returns the verdict on a control without rules.
func assessedVerdict(a posture.AssessmentVerdict) string {
	switch a {
	case posture.AssessedPass:
		return ControlPass
	case posture.AssessedViolation:
		return ControlViolation
	case posture.AssessedNotApplicable:
		return ControlNotApplicable
	}
	return ControlUnchecked
}

// Comply combines the verdicts of rules and the assessments in force into the result of a
// framework. The key of an assessment is the id of its control.
func Comply(f posture.Framework, rules map[posture.RuleID]posture.Rule, verdicts map[posture.RuleID]posture.ControlPosture, assessed map[string]posture.AssessmentVerdict) Compliance {
	rulesOf := map[string][]posture.RuleID{}
	for id, r := range rules {
		for _, c := range r.Controls {
			if control, ok := strings.CutPrefix(c, f.ID+"_"); ok {
				rulesOf[control] = append(rulesOf[control], id)
			}
		}
	}
	c := Compliance{Framework: f}
	for _, control := range f.Controls {
		result := ControlResult{Control: control, Rules: rulesOf[control.ID]}
		for _, id := range result.Rules {
			result.ControlPosture = result.Add(verdicts[id])
		}
		result.Verdict = VerdictOf(result.ControlPosture, len(result.Rules), assessed[control.ID])
		switch result.Verdict {
		case ControlPass:
			c.Pass++
		case ControlViolation:
			c.Violated++
		case ControlUnknown:
			c.Unknown++
		case ControlNotApplicable:
			c.NotApplicable++
		default:
			c.Unchecked++
		}
		c.Controls = append(c.Controls, result)
	}
	return c
}
