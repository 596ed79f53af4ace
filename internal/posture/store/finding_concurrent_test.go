package store_test

import (
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestSuppressionDuringAJudgementIsKept suppresses a finding while a judgement changes it.
func TestSuppressionDuringAJudgementIsKept(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.Postgres(t)) // SQLite has one writer at a time
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	s := store.New(db, secrettest.NewBox(t), new(enqueued))
	observe := func(level posture.FindingLevel, during func()) {
		t.Helper()
		rule := posture.RuleJudgement{Rule: "rule", Violating: []posture.Raised{{
			Finding: posture.Finding{Provider: posture.AWS, Object: "it", Level: level},
			Blob:    func() string { during(); return "{}" },
		}}}
		if _, err := s.Observe(t.Context(), "org", posture.Judgement{
			Account: "a", Generation: 1, RulesAt: posture.AnyRules, At: time.Now(), Rules: []posture.RuleJudgement{rule},
		}); err != nil {
			t.Fatal(err)
		}
	}
	id := posture.NewFindingID("org", "rule", "it")
	observe(posture.LevelLow, func() {})
	observe(posture.LevelHigh, func() {
		if _, err := s.Suppress(t.Context(), "org", id, &posture.Suppression{By: "ann", Reason: "known"}, "ann", time.Now()); err != nil {
			t.Error(err)
		}
	})
	f, _, err := s.Finding(t.Context(), "org", id)
	if err != nil || f.Level != posture.LevelHigh || f.Suppression == nil {
		t.Errorf("the finding is %+v, %v; want the new level and the suppression", f, err)
	}
}
