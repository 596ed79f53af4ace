package onboard

import (
	"context"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// Validator validates accounts by reading them in their clouds.
type Validator struct {
	Store posture.OnboardingStore
	Cloud posture.Cloud
	Now   func() time.Time
}

// Validate tries to read an account and records the resulting status. It does nothing
// if the account was removed or has no link. It fails if the cloud could not be
// reached: the status stays, and the caller should retry.
func (v *Validator) Validate(ctx context.Context, org posture.OrgID, id posture.AccountID) (posture.AccountStatus, error) {
	access, err := v.Store.Access(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return posture.AccountDraft, nil
	}
	if err != nil {
		return "", err
	}
	status, reason, err := v.Cloud.Validate(ctx, access)
	if err != nil {
		return "", err
	}
	var current bool
	err = v.Store.Onboard(ctx, org, func(tx posture.OnboardingTx) error {
		a, err := tx.Account(id)
		if err != nil {
			return err
		}
		if current, err = access.Current(tx); err != nil || !current {
			return err
		}
		if a.Status.Value == status && a.Reason == reason {
			return nil
		}
		return tx.SaveAccount(a.WithStatus(status, reason, v.Now()))
	})
	if fault.Is(err, fault.NotFound) || err == nil && !current {
		// A change of the link or credential has enqueued another validation.
		return posture.AccountDraft, nil
	}
	return status, err
}
