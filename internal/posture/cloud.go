package posture

import (
	"context"
	"time"
)

// Access is what a collector needs to read an account.
type Access struct {
	Org        OrgID
	Account    Account
	Credential Credential
	Secrets    Secrets
}

// A Project is a GCP project that a service account sees.
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
	Root  bool   // it manages the organisation
}

// A Subscription is an Azure subscription that an application sees.
type Subscription struct {
	ID    AccountID
	Name  string
	State string // Enabled, Warned, PastDue, Disabled; "" when it is not told
}

// Cloud is what onboarding asks of the customers' clouds.
type Cloud interface {
	// Validate tries to read the account. It returns AccountActive,
	// AccountValidationFailed or AccountDenyAccess and why; an error means that
	// the cloud could not be asked and that trying again may help.
	Validate(ctx context.Context, a Access) (status AccountStatus, why string, err error)

	// Discover lists the projects that a service account key opens. A refused
	// key is fault.Invalid.
	Discover(ctx context.Context, key ServiceAccountKey) ([]Project, error)

	// Members lists the accounts of the AWS organisation that an account manages.
	// A refused role, or one of another account, is fault.Invalid.
	Members(ctx context.Context, a Access) ([]Member, error)

	// Subscriptions lists the Azure subscriptions below a management group, or all
	// that the application sees when the group is "". Of the account only the
	// cloud that it is in matters. A refused application is fault.Invalid.
	Subscriptions(ctx context.Context, a Access, group string) ([]Subscription, error)

	// Principal names what we are to AWS, which roles of customers are to trust.
	Principal(ctx context.Context) (string, error)
}
