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

// TestOldestCollectionIncludesAccountsThatAlwaysFail has an account that was never collected, first when it is new and
// then when runs of its first days are not kept any more.
func TestOldestCollectionIncludesAccountsThatAlwaysFail(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		s := store.New(db, secrettest.NewBox(t), new(enqueued))
		begin := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		a := posture.Account{ID: "failing", Provider: posture.AWS, Created: begin, Status: posture.Stamped[posture.AccountStatus]{Value: posture.AccountActive}}
		if err := s.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error { return tx.AddAccount(a) }); err != nil {
			t.Fatal(err)
		}
		r := posture.Run{ID: "r", Account: a.ID, Provider: posture.AWS, Start: begin, Updated: begin}
		if err := s.StartRun(t.Context(), "org", r, begin.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		// If a draft is linked late, the account is old while its first run has not ended.
		if f, err := s.Figures(t.Context(), begin.Add(10*24*time.Hour)); err != nil || f.OldestRead != 0 {
			t.Errorf("during the first run, the oldest collection is %s old, %v; want 0", f.OldestRead, err)
		}
		r.Status, r.End = posture.RunFailed, begin
		if err := s.EndRun(t.Context(), "org", r, func(_ posture.OnboardingTx, a posture.Account) (posture.Account, error) { return a, nil }); err != nil {
			t.Fatal(err)
		}
		for age, want := range map[time.Duration]time.Duration{time.Hour: 0, 10 * 24 * time.Hour: posture.History} {
			if f, err := s.Figures(t.Context(), begin.Add(age)); err != nil || f.OldestRead != want {
				t.Errorf("%s after its start, the oldest collection is %s old, %v; want %s", age, f.OldestRead, err, want)
			}
		}
	})
}

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
