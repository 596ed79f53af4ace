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

// TestUnlinkedAccountsAreNotScheduled collects two accounts, of which one is unlinked
// afterwards, so that it is not collected any more.
func TestUnlinkedAccountsAreNotScheduled(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		s := store.New(db, secrettest.NewBox(t), new(enqueued))
		begin := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		collect := func(id posture.AccountID, at time.Time) {
			a := posture.Account{ID: id, Provider: posture.AWS, Status: posture.Stamped[posture.AccountStatus]{Value: posture.AccountActive}}
			if err := s.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error { return tx.AddAccount(a) }); err != nil {
				t.Fatal(err)
			}
			r := posture.Run{ID: "run of " + string(id), Account: id, Provider: posture.AWS, Start: at, Updated: at}
			if err := s.StartRun(t.Context(), "org", r, at.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		collect("unlinked", begin)
		collect("linked", begin.Add(time.Hour))
		if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`UPDATE run SET status = 'Completed', ended = started`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error {
			a, err := tx.Account("unlinked")
			if err != nil {
				return err
			}
			return tx.SaveAccount(a.WithStatus(posture.AccountDraft, "", begin))
		}); err != nil {
			t.Fatal(err)
		}
		f, err := s.Figures(t.Context(), begin.Add(49*time.Hour))
		if err != nil || f.Overdue != 1 || f.OldestRead != 48*time.Hour {
			t.Errorf("%d accounts are overdue, the oldest collection is %s old, %v; want 1 and 48h", f.Overdue, f.OldestRead, err)
		}
		schedules, err := s.Schedules(t.Context(), "org", "")
		if err != nil || !schedules["unlinked"].Next.IsZero() || schedules["linked"].Next.IsZero() {
			t.Errorf("the schedules are %+v, %v; want the next run of the linked account only", schedules, err)
		}
	})
}
