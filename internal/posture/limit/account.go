package limit

import (
	"context"
	"slices"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// Onboarding restricts accounts, credentials and links.
type Onboarding struct{ Store posture.OnboardingStore }

var _ posture.OnboardingStore = Onboarding{}

// Onboard implements [posture.OnboardingStore].
func (s Onboarding) Onboard(ctx context.Context, org posture.OrgID, f func(posture.OnboardingTx) error) error {
	if err := refuse(ctx); err != nil {
		return err
	}
	return s.Store.Onboard(ctx, org, f)
}

// Account implements [posture.OnboardingStore].
func (s Onboarding) Account(ctx context.Context, org posture.OrgID, id posture.AccountID) (posture.Account, error) {
	a, err := s.Store.Account(ctx, org, id)
	if err == nil && !Allows(ctx, a.ID) {
		return posture.Account{}, noAccount(id)
	}
	return a, err
}

// Accounts implements [posture.OnboardingStore].
func (s Onboarding) Accounts(ctx context.Context, org posture.OrgID, f posture.AccountFilter, p posture.Page) ([]posture.Account, int, error) {
	f.IDs = within(ctx, f.IDs)
	return s.Store.Accounts(ctx, org, f, p)
}

// Credential implements [posture.OnboardingStore].
func (s Onboarding) Credential(ctx context.Context, org posture.OrgID, id posture.CredentialID) (posture.Credential, error) {
	c, err := s.Store.Credential(ctx, org, id)
	if _, limited := From(ctx); err != nil || !limited {
		return c, err
	}
	linked, err := s.linked(ctx, org)
	if err == nil && !linked[c.ID] {
		err = fault.New(fault.NotFound, "credential %q was not found", id)
	}
	if err != nil {
		return posture.Credential{}, err
	}
	return c, nil
}

// linked returns the credentials of the accounts that the context may see.
func (s Onboarding) linked(ctx context.Context, org posture.OrgID) (map[posture.CredentialID]bool, error) {
	links, err := s.Links(ctx, org, nil)
	if err != nil {
		return nil, err
	}
	found := map[posture.CredentialID]bool{}
	for _, l := range links {
		found[l.Credential] = true
	}
	return found, nil
}

// Credentials implements [posture.OnboardingStore]. A limited caller gets the
// credentials that are linked to the accounts of the limit.
func (s Onboarding) Credentials(ctx context.Context, org posture.OrgID, ps []posture.Provider, p posture.Page) ([]posture.Credential, int, error) {
	if _, limited := From(ctx); !limited {
		return s.Store.Credentials(ctx, org, ps, p)
	}
	linked, err := s.linked(ctx, org)
	if err != nil {
		return nil, 0, err
	}
	all, _, err := s.Store.Credentials(ctx, org, ps, posture.Page{})
	if err != nil {
		return nil, 0, err
	}
	all = slices.DeleteFunc(all, func(c posture.Credential) bool { return !linked[c.ID] })
	total := len(all)
	if p.After != "" {
		all = slices.DeleteFunc(all, func(c posture.Credential) bool { return string(c.ID) <= p.After })
	}
	if p.Size > 0 && len(all) > p.Size {
		all = all[:p.Size]
	}
	return all, total, nil
}

// Links implements [posture.OnboardingStore].
func (s Onboarding) Links(ctx context.Context, org posture.OrgID, accounts []posture.AccountID) ([]posture.Link, error) {
	links, err := s.Store.Links(ctx, org, accounts)
	return slices.DeleteFunc(links, func(l posture.Link) bool { return !Allows(ctx, l.Account) }), err
}

// Access implements [posture.OnboardingStore].
func (s Onboarding) Access(ctx context.Context, org posture.OrgID, id posture.AccountID) (posture.Access, error) {
	if err := CheckAccount(ctx, id); err != nil {
		return posture.Access{}, err
	}
	return s.Store.Access(ctx, org, id)
}

// ExternalID implements [posture.OnboardingStore].
func (s Onboarding) ExternalID(ctx context.Context, org posture.OrgID) (string, error) {
	if err := refuse(ctx); err != nil {
		return "", err
	}
	return s.Store.ExternalID(ctx, org)
}

// CheckExternalID implements [posture.OnboardingStore].
func (s Onboarding) CheckExternalID(ctx context.Context, org posture.OrgID, id string) error {
	if err := refuse(ctx); err != nil {
		return err
	}
	return s.Store.CheckExternalID(ctx, org, id)
}
