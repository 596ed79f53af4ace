package onboard

import (
	"context"
	"errors"
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

// errChanged reports that the link or credential changed during a validation.
var errChanged = errors.New("the link or credential of the account changed during validation")

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
	err = v.Store.Onboard(ctx, org, func(tx posture.OnboardingTx) error {
		a, err := tx.Account(id)
		if err != nil {
			return err
		}
		if err := checkUnchanged(tx, access); err != nil {
			return err
		}
		if a.Status.Value == status && a.Reason == reason {
			return nil
		}
		return tx.SaveAccount(a.WithStatus(status, reason, v.Now()))
	})
	if errors.Is(err, errChanged) || fault.Is(err, fault.NotFound) {
		// The change of the link has enqueued another validation.
		return posture.AccountDraft, nil
	}
	return status, err
}

// checkUnchanged fails if the account is no longer linked to the credential of the
// validation, or the credential has changed.
func checkUnchanged(tx posture.OnboardingTx, access posture.Access) error {
	if _, err := tx.Link(access.Account.ID, access.Credential.ID); err != nil {
		return err
	}
	c, _, err := tx.Credential(access.Credential.ID)
	if err == nil && c.ETag != access.Credential.ETag {
		return errChanged
	}
	return err
}
