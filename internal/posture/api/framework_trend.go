package api

import (
	"context"
	"slices"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	postureTrendIn struct {
		frameworkPath
		CloudAccountIDs []string `json:"cloudAccountIds" maxItems:"1000"`
		Interval        string   `json:"interval" required:"true" enum:"day,week,month"`
	}
	postureTrend struct {
		Controls int              `json:"controls"` // with rules
		Results  []postureAt      `json:"results"`
		Sections []sectionControl `json:"sections"`
	}
	// postureAt is the posture at the end of an interval.
	postureAt struct {
		Start    httpapi.Time   `json:"start"`
		Violated int            `json:"violatedControls"`
		Findings int            `json:"openFindings"` // a finding counts once, also if several controls have its rule
		Sections map[string]int `json:"violatedBySection"`
	}
	sectionControl struct {
		Section  string `json:"section"`
		Controls int    `json:"controls"` // with rules
	}
)

// getPostureTrend counts the violated controls at the end of each interval. It derives
// them from the findings: a control was violated when a finding of its rules was open.
// The numbers of passing resources at earlier times are not stored.
func (a *API) getPostureTrend(ctx context.Context, in postureTrendIn) (postureTrend, error) {
	found, err := a.controls(ctx, in.ID)
	if err != nil {
		return postureTrend{}, err
	}
	found = slices.DeleteFunc(found, func(c control) bool { return len(c.RuleIDs) == 0 })
	rules := []posture.RuleID{} // not nil, which would select the findings of all rules
	for _, c := range found {
		rules = append(rules, idsOf[posture.RuleID](c.RuleIDs)...)
	}
	slices.Sort(rules)
	filter := posture.FindingFilter{Rules: slices.Compact(rules), Accounts: in.CloudAccountIDs}
	trends, err := a.Findings.Trends(ctx, a.Org(ctx), filter, in.Interval, "ruleId", a.Now())
	if err != nil {
		return postureTrend{}, err
	}
	out := postureTrend{Controls: len(found), Results: []postureAt{}, Sections: sectionControls(found)}
	for i, all := range trends.All {
		at := postureAt{Start: httpapi.Time{Time: all.Start}, Findings: all.Open, Sections: map[string]int{}}
		for _, c := range found {
			// A rule without findings has no group. The groups have the same intervals as trends.All.
			open := func(rule string) bool { return len(trends.Groups[rule]) > 0 && trends.Groups[rule][i].Open > 0 }
			if slices.ContainsFunc(c.RuleIDs, open) {
				at.Violated++
				at.Sections[c.Section]++
			}
		}
		out.Results = append(out.Results, at)
	}
	return out, nil
}

// sectionControls counts controls by section, in the order of the framework.
func sectionControls(controls []control) []sectionControl {
	all := []sectionControl{}
	for _, c := range controls {
		i := slices.IndexFunc(all, func(s sectionControl) bool { return s.Section == c.Section })
		if i < 0 {
			i = len(all)
			all = append(all, sectionControl{Section: c.Section})
		}
		all[i].Controls++
	}
	return all
}
