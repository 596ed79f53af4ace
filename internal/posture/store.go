package posture

import "context"

// OnboardingStore stores accounts, credentials and links.
//
// Methods are safe for concurrent use. Values passed in and out are copies. Records of
// other organisations are reported as not found.
type OnboardingStore interface {
	// Onboard runs f in one durable transaction, which it commits if f returns nil.
	// Transactions of the same organisation are serialised, so f may read, decide and
	// write. Onboard may run f again if the database reports a conflict.
	Onboard(ctx context.Context, org OrgID, f func(OnboardingTx) error) error

	// Account returns an account, or fault.NotFound.
	Account(ctx context.Context, org OrgID, id AccountID) (Account, error)

	// Accounts returns one page of the accounts that f selects, sorted by id, and the
	// total number.
	Accounts(ctx context.Context, org OrgID, f AccountFilter, p Page) (page []Account, total int, err error)

	// Credential returns a credential, or fault.NotFound.
	Credential(ctx context.Context, org OrgID, id CredentialID) (Credential, error)

	// Credentials returns one page of the credentials of the given providers (all if ps
	// is empty), sorted by id, and the total number.
	Credentials(ctx context.Context, org OrgID, ps []Provider, p Page) (page []Credential, total int, err error)

	// Links returns the links of the given accounts (all if the list is empty), sorted
	// by account and credential.
	Links(ctx context.Context, org OrgID, accounts []AccountID) ([]Link, error)

	// Access returns an account with its credential and the secrets, or fault.NotFound
	// if it has no credential. Only packages that call the cloud may use it.
	Access(ctx context.Context, org OrgID, id AccountID) (Access, error)

	// ExternalID returns the external id for the organisation's roles. It creates one
	// at the first call.
	ExternalID(ctx context.Context, org OrgID) (string, error)

	// CheckExternalID fails with fault.Conflict if an external id belongs to
	// another organisation.
	CheckExternalID(ctx context.Context, org OrgID, id string) error
}

// OnboardingTx reads and writes within one transaction. Records that do not exist are
// fault.NotFound.
type OnboardingTx interface {
	Account(id AccountID) (Account, error)
	Members(root AccountID) (int, error) // number of accounts whose root is this one
	CountAccounts() (int, error)         // of the organisation
	AddAccount(a Account) error          // fault.Conflict if it exists
	SaveAccount(a Account) error
	RemoveAccount(id AccountID) error // with its links

	Credential(id CredentialID) (Credential, Secrets, error)
	CredentialOf(id AccountID) (Credential, error) // the one that OnboardingStore.Access returns
	SaveCredential(c Credential, s Secrets) error  // adds or replaces
	RemoveCredential(id CredentialID) error        // with its links

	// ClaimExternalID reserves an external id for the organisation permanently: roles
	// may still trust it after its last credential was deleted. It fails with
	// fault.Conflict if the id belongs to another organisation.
	ClaimExternalID(id string) error

	Link(a AccountID, c CredentialID) (Link, error)
	LinksOfAccount(id AccountID) ([]Link, error)
	LinksOfCredential(id CredentialID) ([]Link, error)
	AddLink(l Link) error
	RemoveLink(a AccountID, c CredentialID) error

	// Validate enqueues a job that validates the account against its cloud. The job
	// starts after the commit.
	Validate(id AccountID) error
}
