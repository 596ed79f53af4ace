package posture

import (
	"context"
	"time"

	"vigil/internal/fault"
)

// Access is an account with the credential and the secrets to read it.
type Access struct {
	Org        OrgID
	Account    Account
	Credential Credential
	Secrets    Secrets
}

// Current reports whether the account is still read with the same version of the same
// credential. If not, results obtained with this access do not apply to the current
// credential.
func (a Access) Current(tx OnboardingTx) (bool, error) {
	c, err := tx.CredentialOf(a.Account.ID)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return c.ID == a.Credential.ID && c.ETag == a.Credential.ETag, err
}

// A Project is a GCP project that a service account can list.
type Project struct {
	ID      string
	Number  string
	Name    string
	State   string
	Labels  map[string]string
	Created time.Time
}

// A Member is an account of an AWS organisation.
type Member struct {
	ID    AccountID
	Name  string
	Email string
	State string // ACTIVE, SUSPENDED and others
	Root  bool   // whether it is the management account
}

// A Subscription is an Azure subscription that an application can list.
type Subscription struct {
	ID    AccountID
	Name  string
	State string // Enabled, Warned, PastDue, Disabled; "" if unknown
}

// Cloud makes the calls to the customers' clouds that onboarding needs.
type Cloud interface {
	// Validate tries to read the account. It returns AccountActive,
	// AccountValidationFailed or AccountDenyAccess and the reason. An error means that
	// the cloud could not be reached and that the caller may retry.
	Validate(ctx context.Context, a Access) (status AccountStatus, reason string, err error)

	// Discover lists the projects that a service account key gives access to. It fails
	// with fault.Invalid if the cloud rejects the key.
	Discover(ctx context.Context, key ServiceAccountKey) ([]Project, error)

	// Members lists the accounts of the AWS organisation whose management account is
	// given. It fails with fault.Invalid if the role is rejected or belongs to another
	// account.
	Members(ctx context.Context, a Access) ([]Member, error)

	// Subscriptions lists the Azure subscriptions below a management group, or all that
	// the application can list if the group is "". Of a.Account it uses only
	// Government. It fails with fault.Invalid if the cloud rejects the application.
	Subscriptions(ctx context.Context, a Access, group string) ([]Subscription, error)

	// Principal returns the ARN of this server's AWS identity, which the roles of
	// customers must trust.
	Principal(ctx context.Context) (string, error)
}
