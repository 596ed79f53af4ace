package storetest

import (
	"fmt"
	"testing"
	"time"

	"vigil/internal/posture"
)

// countsAgreeWithARecount creates, resolves and suppresses findings and compares the
// stored counts with the number of listed findings.
func countsAgreeWithARecount(t *testing.T, f Fixture) {
	spread := func(i int) posture.Raised {
		return newFinding(i, func(x *posture.Finding) {
			// Every region has open and resolved findings, in different proportions, so that counts by
			// region differ from counts by status.
			x.Region = []string{"eu-west-1", "us-east-1", "global"}[i/5%3]
			x.Level = posture.FindingLevels[i%2]
		})
	}
	for generation := range 2 {
		for _, rule := range []posture.RuleID{"r", "s"} {
			j := posture.RuleJudgement{Rule: rule}
			for i := range 24 {
				if generation == 0 || i%3 != 0 { // the second generation resolves every third finding
					j.Violating = append(j.Violating, spread(i))
				}
			}
			judge(t, f, int64(generation+1), begin.Add(time.Duration(generation)*time.Hour), j)
		}
	}
	for i := range 5 { // the suppressions of 0 and 1 end before now, which is defined below
		sup := &posture.Suppression{By: "ada", Reason: "known", Since: begin, Until: begin.Add(time.Duration(i) * time.Hour)}
		if _, err := f.Store.Suppress(t.Context(), org, find(t, f, "r", i).ID, sup, "ada", begin); err != nil {
			t.Fatal(err)
		}
	}
	now, yes, no := begin.Add(90*time.Minute), true, false
	fields := map[string]func(posture.Finding) string{
		"ruleId": func(x posture.Finding) string { return string(x.Rule) }, "region": func(x posture.Finding) string { return x.Region },
		"cloudAccountId": func(x posture.Finding) string { return string(x.Account) }, "level": func(x posture.Finding) string { return string(x.Level) },
		"status":       func(x posture.Finding) string { return string(x.Status) },
		"isSuppressed": func(x posture.Finding) string { return fmt.Sprint(x.Suppressed(now)) },
	}
	for name, filter := range map[string]posture.FindingFilter{
		"all": {}, "open": openFindings, "suppressed": {Suppressed: &yes}, "not suppressed": {Suppressed: &no},
		"open, not suppressed, of a rule": {Suppressed: &no, Statuses: openFindings.Statuses, Rules: []posture.RuleID{"r"}},
		"with a text, not suppressed":     {Suppressed: &no, Text: "bucket-01"},
	} {
		page, err := f.Store.Findings(t.Context(), org, filter, nil, posture.Page{}, now)
		if err != nil || page.Total != len(page.Findings) {
			t.Errorf("%s: %d findings on the only page, with a total of %d, %v", name, len(page.Findings), page.Total, err)
		}
		for outer, outerField := range fields {
			for inner, innerField := range fields {
				want := posture.Buckets{}
				for _, x := range page.Findings {
					bucket := want[outerField(x)]
					if bucket.Sub == nil {
						bucket.Sub = map[string]posture.Buckets{"in": {}}
					}
					b := bucket.Sub["in"][innerField(x)]
					b.Count++
					bucket.Sub["in"][innerField(x)] = b
					bucket.Count++
					want[outerField(x)] = bucket
				}
				_, got, err := f.Store.AggregateFindings(t.Context(), org, filter, map[string]posture.Aggregation{"out": {
					Of: posture.Attribute{Name: outer}, Sub: map[string]posture.Aggregation{"in": {Of: posture.Attribute{Name: inner}}},
				}}, now)
				if err != nil {
					t.Fatal(err)
				}
				wantSame(t, fmt.Sprintf("%s by %s and %s", name, outer, inner), got["out"], want)
			}
		}
	}
}
