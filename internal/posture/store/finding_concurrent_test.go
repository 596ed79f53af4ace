package store_test

import (
	"sync"
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
	// observe records a violation; the store calls during while it does so.
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

// TestFindingIsResolvedOnce deletes a rule and the account of its finding at the same time.
func TestFindingIsResolvedOnce(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.Postgres(t)) // SQLite has one writer at a time
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	s := store.New(db, secrettest.NewBox(t), new(enqueued))
	rule := posture.Rule{ID: "rule", Version: 1}
	if err := s.SaveRule(t.Context(), "org", rule, "ann"); err != nil {
		t.Fatal(err)
	}
	if err := s.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error {
		return tx.AddAccount(posture.Account{ID: "a", Provider: posture.AWS})
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Observe(t.Context(), "org", posture.Judgement{
		Account: "a", Generation: 1, RulesAt: posture.AnyRules, At: time.Now(), Rules: []posture.RuleJudgement{{Rule: rule.ID, Violating: []posture.Raised{{
			Finding: posture.Finding{Provider: posture.AWS, Object: "it", Level: posture.LevelLow}, Blob: func() string { return "{}" },
		}}}},
	}); err != nil {
		t.Fatal(err)
	}

	// DeleteRule and RemoveAccount delete the verdict first: one would wait there for the other.
	// Without a verdict they meet at the finding, as in the later batches of a large account.
	if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`DELETE FROM rule_verdict`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`SELECT n FROM finding FOR UPDATE`); err != nil {
			return err
		}
		both.Go(func() {
			if _, err := s.DeleteRule(t.Context(), "org", rule.ID, "*", time.Now()); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			if err := s.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error { return tx.RemoveAccount("a") }); err != nil {
				t.Error(err)
			}
		})
		// Wait until both wait for locks: the first for this transaction, the second for the lock
		// on the row that the first holds.
		for waiting := 0; waiting < 2; time.Sleep(10 * time.Millisecond) {
			var err error
			if waiting, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `
				SELECT count(*) FROM pg_locks
				WHERE NOT granted AND (relation = 'finding'::regclass OR transactionid = pg_current_xact_id()::xid)`); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	both.Wait()
	history, err := s.FindingHistory(t.Context(), "org", posture.NewFindingID("org", rule.ID, "it"))
	if err != nil || len(history) != 2 {
		t.Errorf("the history is %v, %v; want raised and resolved", history, err)
	}
	resolved, err := s.Findings(t.Context(), "org", posture.FindingFilter{Statuses: []posture.FindingStatus{posture.FindingResolved}}, nil, posture.Page{}, time.Now())
	if err != nil || resolved.Total != 1 {
		t.Errorf("%d findings are counted as resolved, %v; want 1", resolved.Total, err)
	}
}
