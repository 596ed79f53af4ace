package app_test

import (
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestSettledWaitsForARunThatEndedWell has the last run of an account end in every
// way. One that lost its worker ends as Timeout, and another takes its place.
func TestSettledWaitsForARunThatEndedWell(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	kept := store.New(in.DB, in.Box, nil)
	now := time.Now()
	bare := posture.Account{ID: "123456789012", Provider: posture.AWS, Name: "a"}.WithStream(posture.StreamDisconnected, now)
	active := bare.WithStatus(posture.AccountActive, "", now)
	for name, tt := range map[string]struct {
		account posture.Account
		settled bool
	}{
		"draft":     {bare.WithStatus(posture.AccountDraft, "", now), true},
		"never run": {active, false},
		"completed": {active.WithRun(posture.RunCompleted, now), true},
		"failed":    {active.WithRun(posture.RunFailed, now), true},
		"lost":      {active.WithRun(posture.RunTimeout, now), false},
	} {
		org := posture.OrgID("org of " + name)
		if err := kept.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error { return tx.AddAccount(tt.account) }); err != nil {
			t.Fatal(err)
		}
		if settled, err := a.Settled(t.Context(), org); err != nil || settled != tt.settled {
			t.Errorf("%s: settled is %v, %v", name, settled, err)
		}
	}
}
