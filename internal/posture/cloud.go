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

// Cloud is what onboarding asks of the customers' clouds.
type Cloud interface {
	// Validate tries to read the account. It returns AccountActive,
	// AccountValidationFailed or AccountDenyAccess and why; an error means that
	// the cloud could not be asked and that trying again may help.
	Validate(ctx context.Context, a Access) (status AccountStatus, why string, err error)

	// Discover lists the projects that a service account key opens. A refused
	// key is fault.Invalid.
	Discover(ctx context.Context, key ServiceAccountKey) ([]Project, error)
}
