package api

import "slices"

type (
	// controlTally counts controls by result. A control counts once: as violated if a
	// resource violates it, otherwise as unknown if a result is unknown or resources
	// could not be listed, otherwise as passing if a resource passes.
	controlTally struct {
		Violating int `json:"violating"`
		Unknown   int `json:"unknown"`
		Passing   int `json:"passing"`
		Nothing   int `json:"nothing"` // its rules apply to no resource, or a person assessed it as not applicable
		Manual    int `json:"manual"`
		NoRule    int `json:"noRule"`
	}
	sectionPosture struct {
		Section string `json:"section"`
		controlTally
	}
)

// count counts a control with the given results.
func (t *controlTally) count(assessment string, sum verdictSum) {
	switch {
	case assessment == "manual":
		t.Manual++
	case assessment == "noRule":
		t.NoRule++
	case sum.Violating > 0:
		t.Violating++
	case sum.Unknown+sum.NotListed > 0:
		t.Unknown++
	case sum.Passing > 0:
		t.Passing++
	default:
		t.Nothing++
	}
}

// sectionsOf adds up controls by section, in the order of the framework.
func sectionsOf(controls []controlPosture) []sectionPosture {
	all := []sectionPosture{}
	for _, c := range controls {
		i := slices.IndexFunc(all, func(s sectionPosture) bool { return s.Section == c.Section })
		if i < 0 {
			i = len(all)
			all = append(all, sectionPosture{Section: c.Section})
		}
		if c.Assessed != nil && c.Assessed.InForce {
			c.Assessed.count(&all[i].controlTally)
		} else {
			all[i].count(c.Assessment, c.verdictSum)
		}
	}
	return all
}

// accountsOf adds up controls by account. It counts the controls that have a result in
// the account.
func accountsOf(controls []controlPosture) map[string]*controlTally {
	all := map[string]*controlTally{}
	for _, c := range controls {
		for account, sum := range c.Accounts {
			if all[account] == nil {
				all[account] = new(controlTally)
			}
			all[account].count(c.Assessment, *sum)
		}
	}
	return all
}
