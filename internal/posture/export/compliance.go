package export

import (
	"strings"

	"vigil/internal/posture"
)

// A Compliance is how an account, or several, stand against a framework.
type Compliance struct {
	Framework                          posture.Framework
	Controls                           []ControlResult
	Pass, Violated, Unknown, Unchecked int // controls
}

// A ControlResult is what the rules of one control say.
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

// VerdictOf sums a control up: one violation is enough, then one unknown. A
// control that nothing was held against has no verdict.
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

// Comply says how verdicts stand against a framework. A control whose rules found
// no resource to look at passes: there is nothing that could violate it.
func Comply(f posture.Framework, rules map[posture.RuleID]posture.Rule, verdicts map[posture.RuleID]posture.ControlPosture) Compliance {
	by := map[string][]posture.RuleID{}
	for id, r := range rules {
		for _, c := range r.Controls {
			if control, ok := strings.CutPrefix(c, f.ID+"_"); ok {
				by[control] = append(by[control], id)
			}
		}
	}
	c := Compliance{Framework: f}
	for _, control := range f.Controls {
		result := ControlResult{Control: control, Rules: by[control.ID]}
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
