package posture

import "context"

// OnboardingStore keeps accounts, credentials and links.
//
// Methods are safe for concurrent use. Values passed in and out are copies. A
// record of another organisation is answered as one that does not exist.
type OnboardingStore interface {
	// Onboard runs f in one transaction: what f did is on disk when Onboard
	// returns nil, and nothing of it is there otherwise. Calls for the same
	// organisation run one after another, so f may read, decide and write.
	// f may be run again when the database asks for it.
	Onboard(ctx context.Context, org OrgID, f func(OnboardingTx) error) error

	// Account returns an account, or fault.NotFound.
	Account(ctx context.Context, org OrgID, id AccountID) (Account, error)

	// Accounts returns one page of the accounts that f lets through in the order
	// of their ids, and how many there are in all.
	Accounts(ctx context.Context, org OrgID, f AccountFilter, p Page) (page []Account, total int, err error)

	// Credential returns a credential, or fault.NotFound.
	Credential(ctx context.Context, org OrgID, id CredentialID) (Credential, error)

	// Credentials returns one page of the credentials of the given providers,
	// or of all when there are none, in the order of their ids, and how many
	// there are in all.
	Credentials(ctx context.Context, org OrgID, ps []Provider, p Page) (page []Credential, total int, err error)

	// Links returns the links of the given accounts, or of all when there are
	// none, in the order of account and credential.
	Links(ctx context.Context, org OrgID, accounts []AccountID) ([]Link, error)

	// Access returns an account with the credential it is read with and its
	// secrets, or fault.NotFound when it has none. Only what talks to the cloud
	// may call it.
	Access(ctx context.Context, org OrgID, id AccountID) (Access, error)

	// ExternalID returns the external id that was issued for the organisation's
	// roles. It issues one if there is none yet.
	ExternalID(ctx context.Context, org OrgID) (string, error)

	// CheckExternalID fails with fault.Conflict if an external id belongs to
	// another organisation.
	CheckExternalID(ctx context.Context, org OrgID, id string) error
}

// OnboardingTx reads and writes within one transaction. What it does not find
// is fault.NotFound.
type OnboardingTx interface {
	Account(id AccountID) (Account, error)
	Members(root AccountID) (int, error) // accounts that name root as theirs
	AddAccount(a Account) error          // fault.Conflict when it exists
	SaveAccount(a Account) error
	RemoveAccount(id AccountID) error // with its links

	Credential(id CredentialID) (Credential, Secrets, error)
	SaveCredential(c Credential, s Secrets) error // adds or replaces
	RemoveCredential(id CredentialID) error       // with its links

	// ClaimExternalID makes an external id the organisation's for good: roles may
	// go on trusting it after the last credential that had it is gone. It fails
	// with fault.Conflict if the id belongs to another organisation.
	ClaimExternalID(id string) error

	Link(a AccountID, c CredentialID) (Link, error)
	LinksOfAccount(id AccountID) ([]Link, error)
	LinksOfCredential(id CredentialID) ([]Link, error)
	AddLink(l Link) error
	RemoveLink(a AccountID, c CredentialID) error

	// Validate asks for the account's link to be tried against its cloud once
	// the transaction is committed.
	Validate(id AccountID) error
}
