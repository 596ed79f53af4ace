package demo

import (
	"fmt"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func TestHistoryCoversAMonthAndKeepsOpenFindings(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		s := store.New(db, secrettest.NewBox(t), nil)
		now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
		r := posture.RuleJudgement{Rule: "r"}
		for i := range 400 {
			r.Violating = append(r.Violating, posture.Raised{
				Finding: posture.Finding{Provider: posture.AWS, Object: posture.EntityID(fmt.Sprintf("AWS.S3.a.global.Bucket.b-%d", i)), Type: "AWS.S3.Bucket", Level: posture.LevelHigh},
				Blob:    func() string { return "{}" },
			})
		}
		// "repeated" is the organisation of another demo of the same accounts; "other" gets no history.
		for _, org := range []posture.OrgID{"org", "repeated", "other"} {
			if _, err := s.Observe(t.Context(), org, posture.Judgement{Account: "a", RulesAt: posture.AnyRules, At: now, Rules: []posture.RuleJudgement{r}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, org := range []posture.OrgID{"org", "repeated"} {
			if err := backdateFindings(t.Context(), db, org, now); err != nil {
				t.Fatal(err)
			}
		}
		trends, err := s.Trends(t.Context(), "org", posture.FindingFilter{}, "day", "", now)
		if err != nil {
			t.Fatal(err)
		}
		days, resolved := 0, 0
		for _, d := range trends.All {
			if d.New > 0 && d.Open > 0 {
				days++
			}
			resolved += d.Resolved
		}
		if last := trends.All[len(trends.All)-1]; days < 25 || resolved < 50 || last.Open != 400 {
			t.Errorf("%d days with new findings, %d resolved, %d open now; want at least 25, at least 50, and 400", days, resolved, last.Open)
		}
		page, err := s.Findings(t.Context(), "org", posture.FindingFilter{}, nil, posture.Page{Size: 1000}, now)
		if err != nil || page.Total != 400 {
			t.Fatalf("%d findings, %v; want 400", page.Total, err)
		}
		repeated, err := s.Findings(t.Context(), "repeated", posture.FindingFilter{}, nil, posture.Page{Size: 1000}, now)
		if err != nil {
			t.Fatal(err)
		}
		created := map[posture.EntityID]time.Time{}
		for _, f := range repeated.Findings {
			created[f.Object] = f.Created
		}
		for _, f := range page.Findings {
			if !created[f.Object].Equal(f.Created) {
				t.Fatalf("%s was raised at %s, and in another demo at %s", f.Object, f.Created, created[f.Object])
			}
			if f.Status != posture.FindingOpen || f.Created.After(now) || now.Sub(f.Created) > 31*24*time.Hour {
				t.Fatalf("finding %+v, want it open and raised in the last 31 days", f)
			}
		}
		// Another evaluation raises no new finding.
		if _, err := s.Observe(t.Context(), "org", posture.Judgement{Account: "a", RulesAt: posture.AnyRules, At: now.Add(time.Hour), Rules: []posture.RuleJudgement{r}}); err != nil {
			t.Fatal(err)
		}
		second, err := s.Findings(t.Context(), "org", posture.FindingFilter{Created: posture.Span{From: now}}, nil, posture.Page{}, now)
		if err != nil || second.Total != 0 {
			t.Errorf("%d findings were raised again, %v", second.Total, err)
		}
		others, err := s.Findings(t.Context(), "other", posture.FindingFilter{Created: posture.Span{From: now}}, nil, posture.Page{}, now)
		if err != nil || others.Total != 400 {
			t.Errorf("%d findings of another organisation have their original time, %v; want all 400", others.Total, err)
		}
	})
}
