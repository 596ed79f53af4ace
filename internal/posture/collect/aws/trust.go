package aws

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/awsapi"
)

// trustAge is how long a trust policy that was found to require the external id is not
// checked again. Trust policies seldom change, and every check makes refused calls that
// appear in the log of the account.
const trustAge = time.Hour

// trustedRoles caches the roles that were found to require their external id.
type trustedRoles struct {
	mu    sync.Mutex
	roles map[trustKey]time.Time
}

type trustKey struct{ role, externalID string }

func (t *trustedRoles) isRecent(k trustKey) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, ok := t.roles[k]
	return ok && time.Since(at) < trustAge
}

func (t *trustedRoles) add(k trustKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.roles == nil || len(t.roles) >= 100_000 {
		t.roles = map[trustKey]time.Time{}
	}
	t.roles[k] = time.Now()
}

func (t *trustedRoles) forget(k trustKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.roles, k)
}

// checkTrust fails with an identityError for a role that can be assumed without an
// external id or with one that is not the credential's. Anyone who knows the name of
// such a role could have Vigil read the account for them (the confused deputy problem).
func (src *Source) checkTrust(ctx context.Context, p partition, role arn.ARN, externalID string) error {
	const advice = "; its trust policy must compare sts:ExternalId with the external id of the credential by StringEquals"
	if externalID == "" { // the caller has already assumed the role, without an external id
		return &identityError{role.String() + " can be assumed without an external id" + advice, collect.ErrIdentity}
	}
	key := trustKey{role.String(), externalID}
	if src.trusted.isRecent(key) {
		return nil
	}
	// An id of the issued form detects policies that accept every id of that form.
	for _, try := range []struct{ id, words string }{
		{"", "without an external id"}, {posture.NewExternalID(), "with another external id than the credential's"},
	} {
		switch accepted, err := src.accepts(ctx, p, role, try.id); {
		case err != nil:
			return err
		case accepted:
			return &identityError{role.String() + " can be assumed " + try.words + advice, collect.ErrIdentity}
		}
	}
	src.trusted.add(key)
	return nil
}

// accepts reports whether a role can be assumed with an external id. It discards the
// credentials.
func (src *Source) accepts(ctx context.Context, p partition, role arn.ARN, externalID string) (bool, error) {
	client, err := src.ownClient()
	if err != nil {
		return false, err
	}
	_, err = client.AssumeRole(awsapi.Role{
		ARN: role.String(), ExternalID: externalID, SessionName: src.options.SessionName, SessionLength: 15 * time.Minute, Region: p.homeRegion,
	}).Retrieve(ctx)
	refused, ok := errors.AsType[*awsapi.Error](err)
	switch {
	case err == nil:
		return true, nil
	case ok && (refused.Code == "AccessDenied" || refused.Code == "AccessDeniedException"):
		return false, nil
	}
	return false, err
}
