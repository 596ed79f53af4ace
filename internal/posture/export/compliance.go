package export

import (
	"strings"

	"vigil/internal/posture"
)

// A Compliance is the result of a framework for one or more accounts.
type Compliance struct {
	Framework                          posture.Framework
	Controls                           []ControlResult
	Pass, Violated, Unknown, Unchecked int // numbers of controls
}

// A ControlResult is the combined result of the rules of one control.
type ControlResult struct {
	posture.Control
	posture.ControlPosture
	Rules   []posture.RuleID
	Verdict string // pass, violation, unknown or "no rule"
}

// The verdicts on a control.
const (
	ControlPass      = "pass"
	ControlViolation = "violation"
	ControlUnknown   = "unknown"
	ControlUnchecked = "no rule"
)

// VerdictOf summarises a control: it is violated if there is a violation, otherwise
// unknown if a result is unknown. A control without results is unchecked.
func VerdictOf(p posture.ControlPosture) string {
	switch {
	case p.Violating > 0:
		return ControlViolation
	case p.Unknown > 0:
		return ControlUnknown
	case p.Passing > 0:
		return ControlPass
	}
	return ControlUnchecked
}

// Comply combines the verdicts of rules into the result of a framework. A control whose
// rules apply to no resource passes, because nothing violates it.
func Comply(f posture.Framework, rules map[posture.RuleID]posture.Rule, verdicts map[posture.RuleID]posture.ControlPosture) Compliance {
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
			v := verdicts[id]
			result.Violating, result.Passing, result.Unknown = result.Violating+v.Violating, result.Passing+v.Passing, result.Unknown+v.Unknown
		}
		result.Verdict = VerdictOf(result.ControlPosture)
		if result.Verdict == ControlUnchecked && len(result.Rules) > 0 {
			result.Verdict = ControlPass
		}
		switch result.Verdict {
		case ControlPass:
			c.Pass++
		case ControlViolation:
			c.Violated++
		case ControlUnknown:
			c.Unknown++
		default:
			c.Unchecked++
		}
		c.Controls = append(c.Controls, result)
	}
	return c
}
