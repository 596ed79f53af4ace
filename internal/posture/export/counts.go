package export

import "vigil/internal/posture"

// Counts are the numbers of findings in a report, in total and by attribute.
type Counts struct {
	Total    int
	Levels   map[posture.FindingLevel]int
	Rules    map[posture.RuleID]int
	Services map[string]int
	Accounts map[posture.AccountID]int
	Regions  map[string]int
}

// Count counts findings.
func Count(findings []posture.Finding) Counts {
	c := Counts{
		Levels: map[posture.FindingLevel]int{}, Rules: map[posture.RuleID]int{}, Services: map[string]int{}, Accounts: map[posture.AccountID]int{}, Regions: map[string]int{},
	}
	for _, f := range findings {
		c.Total++
		c.Levels[f.Level]++
		c.Rules[f.Rule]++
		c.Services[f.Service]++
		c.Accounts[f.Account]++
		c.Regions[f.Region]++
	}
	return c
}
