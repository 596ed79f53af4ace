package store

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// onboardTx is a transaction of one organisation.
type onboardTx struct {
	tx    *sqldb.Tx
	org   posture.OrgID
	store *Store
}

// Onboard implements [posture.OnboardingStore].
func (s *Store) Onboard(ctx context.Context, org posture.OrgID, f func(posture.OnboardingTx) error) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock("onboard/" + string(org)); err != nil {
			return err
		}
		return f(&onboardTx{tx, org, s})
	})
}

// Validate implements [posture.OnboardingTx].
func (t *onboardTx) Validate(id posture.AccountID) error {
	return t.store.jobs.Validate(t.tx, t.org, id)
}
