package posture

import "time"

// A Link connects an account to the credential that reads it. An account is onboarded
// once it has a link.
type Link struct {
	Account    AccountID
	Credential CredentialID
	Provider   Provider
	ETag       string
	Created    time.Time
	Updated    time.Time
}

// NewLink returns a new link.
func NewLink(a Account, c Credential, now time.Time) Link {
	return Link{Account: a.ID, Credential: c.ID, Provider: a.Provider, ETag: NewETag(), Created: now, Updated: now}
}

// CheckVersion fails with fault.Stale if the caller requires other versions of the link.
// The argument required is a list of ETags separated by commas, "*" for any version, or empty.
func (l Link) CheckVersion(required string) error { return checkVersion(l.ETag, required) }
