package storetest

import (
	"slices"
	"testing"
	"time"

	"vigil/internal/posture"
)

func trendsAreGrouped(t *testing.T, f Fixture) {
	day := 24 * time.Hour
	low := func(objects ...int) posture.RuleJudgement {
		r := newJudgement("low", objects...)
		for i := range r.Violating {
			r.Violating[i].Finding.Level = posture.LevelLow
		}
		return r
	}
	judge(t, f, 1, begin.Add(-2*day), newJudgement("high", 1, 2, 3))
	judge(t, f, 2, begin.Add(-day), low(4))
	judge(t, f, 3, begin, newJudgement("high", 1))
	// All findings have one of the two tags, but tags are not compared in SQL.
	for _, filter := range []posture.FindingFilter{{}, {Tags: map[string][]string{"Team": {"red", "blue"}}}} {
		got, err := f.Store.Trends(t.Context(), org, filter, "day", "level", begin)
		if err != nil {
			t.Fatal(err)
		}
		last := func(all []posture.Trend) (days [][3]int) {
			for _, g := range all[len(all)-3:] { // open, new and resolved on each of the last three days
				days = append(days, [3]int{g.Open, g.New, g.Resolved})
			}
			return days
		}
		wantSame(t, "High", last(got.Groups["High"]), [][3]int{{3, 3, 0}, {3, 0, 0}, {1, 0, 2}})
		wantSame(t, "Low", last(got.Groups["Low"]), [][3]int{{0, 0, 0}, {1, 1, 0}, {1, 0, 0}})
		wantSame(t, "all", last(got.All), [][3]int{{3, 3, 0}, {4, 1, 0}, {2, 0, 2}})
	}
}

func manyAreSuppressedAtOnce(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 1, 2, 3))
	judge(t, f, 1, begin, newJudgement("s", 4))
	suppression := &posture.Suppression{By: "ann", Reason: "known", Since: begin, Until: begin.Add(time.Hour)}
	suppressAll := func(name string, owner posture.OrgID, filter posture.FindingFilter, s *posture.Suppression, wantMatched, wantChanged int) {
		t.Helper()
		matched, changed, err := f.Store.SuppressAll(t.Context(), owner, filter, s, "ann", begin)
		if err != nil || matched != wantMatched || changed != wantChanged {
			t.Errorf("%s: %d matched, %d changed, %v; want %d and %d", name, matched, changed, err, wantMatched, wantChanged)
		}
	}
	rule := posture.FindingFilter{Rules: []posture.RuleID{"r"}}
	suppressAll("suppress the findings of another organisation", other, rule, suppression, 0, 0)
	suppressAll("release what is not suppressed", org, rule, nil, 3, 0)
	suppressAll("suppress", org, rule, suppression, 3, 3)
	got := find(t, f, "r", 2)
	wantSame(t, "suppression", got.Suppression, suppression)
	if find(t, f, "s", 4).Suppression != nil {
		t.Error("a finding of another rule is suppressed")
	}
	history, err := f.Store.FindingHistory(t.Context(), org, got.ID)
	if err != nil || len(history) != 2 || history[1].By != "ann" && history[0].By != "ann" {
		t.Errorf("history %v, %v; want two events, one by ann", history, err)
	}
	suppressAll("release one by its id", org, posture.FindingFilter{IDs: []posture.FindingID{got.ID}}, nil, 1, 1)
	history, err = f.Store.FindingHistory(t.Context(), org, got.ID)
	if !slices.ContainsFunc(history, func(e posture.FindingEvent) bool { return e.What == "released" && e.By == "ann" }) {
		t.Errorf("history %v, %v; want who released it", history, err)
	}
	suppressAll("release all by tag", org, posture.FindingFilter{Tags: map[string][]string{"Team": {"red", "blue"}}}, nil, 4, 2)
	if find(t, f, "r", 1).Suppression != nil {
		t.Error("a released finding is suppressed")
	}
}
