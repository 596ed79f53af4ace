package posture

import "time"

// A Link joins an account to the credential it is read with. An account is
// onboarded only when it has one.
type Link struct {
	Account    AccountID
	Credential CredentialID
	Provider   Provider
	ETag       string
	Created    time.Time
	Updated    time.Time
}

// NewLink returns a link made now.
func NewLink(a Account, c Credential, now time.Time) Link {
	return Link{Account: a.ID, Credential: c.ID, Provider: a.Provider, ETag: NewETag(), Created: now, Updated: now}
}

// CheckVersion fails with fault.Stale unless wanted, when given, is current.
func (l Link) CheckVersion(wanted string) error { return checkVersion(l.ETag, wanted) }
