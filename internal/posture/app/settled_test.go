package app_test

import (
	"errors"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestSettledIgnoresTimeouts checks that a run that ended as Timeout does not make an
// account settled, because another run replaces it.
func TestSettledIgnoresTimeouts(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	st := store.New(in.DB, in.Box, nil)
	now := time.Now()
	bare := posture.Account{ID: "123456789012", Provider: posture.AWS, Name: "a"}.WithStream(posture.StreamDisconnected, now)
	active := bare.WithStatus(posture.AccountActive, "", now)
	draft := bare.WithStatus(posture.AccountDraft, "", now)
	for name, tt := range map[string]struct {
		account posture.Account
		linked  bool
		settled bool
	}{
		"unlinked draft": {draft, false, true},
		"linked draft":   {draft, true, false},
		"never run":      {active, true, false},
		"completed":      {active.WithRun(posture.RunCompleted, now), true, true},
		"failed":         {active.WithRun(posture.RunFailed, now), true, true},
		"lost":           {active.WithRun(posture.RunTimeout, now), true, false},
	} {
		org := posture.OrgID("org of " + name)
		if err := st.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error {
			if err := tx.AddAccount(tt.account); err != nil || !tt.linked {
				return err
			}
			c := posture.Credential{ID: "c", Provider: posture.AWS, ETag: "1", Created: now, Updated: now}
			return errors.Join(tx.SaveCredential(c, nil), tx.AddLink(posture.NewLink(tt.account, c, now)))
		}); err != nil {
			t.Fatal(err)
		}
		if settled, err := a.Settled(t.Context(), org); err != nil || settled != tt.settled {
			t.Errorf("%s: settled is %v, %v", name, settled, err)
		}
	}
}
