package onboard

import (
	"context"
	"errors"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// Validator tries the links of accounts against their clouds.
type Validator struct {
	Store posture.OnboardingStore
	Cloud posture.Cloud
	Now   func() time.Time
}

// errChanged says that an account was linked otherwise while it was tried.
var errChanged = errors.New("the account was linked otherwise meanwhile")

// Validate tries to read an account and records what came of it. An account
// that is gone or has no link by now is left alone. An error means that the
// cloud could not be asked: the status stays, and it is worth trying again.
func (v *Validator) Validate(ctx context.Context, org posture.OrgID, id posture.AccountID) (posture.AccountStatus, error) {
	access, err := v.Store.Access(ctx, org, id)
	if fault.Is(err, fault.NotFound) {
		return posture.AccountDraft, nil
	}
	if err != nil {
		return "", err
	}
	status, why, err := v.Cloud.Validate(ctx, access)
	if err != nil {
		return "", err
	}
	err = v.Store.Onboard(ctx, org, func(tx posture.OnboardingTx) error {
		a, err := tx.Account(id)
		if err != nil {
			return err
		}
		if err := unchanged(tx, access); err != nil {
			return err
		}
		if a.Status.Value == status && a.Reason == why {
			return nil
		}
		return tx.SaveAccount(a.WithStatus(status, why, v.Now()))
	})
	if errors.Is(err, errChanged) || fault.Is(err, fault.NotFound) {
		// Whoever changed the link has asked for another validation.
		return posture.AccountDraft, nil
	}
	return status, err
}

// unchanged fails unless the account is still linked to the credential it was
// tried with, as it was then.
func unchanged(tx posture.OnboardingTx, access posture.Access) error {
	if _, err := tx.Link(access.Account.ID, access.Credential.ID); err != nil {
		return err
	}
	c, _, err := tx.Credential(access.Credential.ID)
	if err == nil && c.ETag != access.Credential.ETag {
		return errChanged
	}
	return err
}
