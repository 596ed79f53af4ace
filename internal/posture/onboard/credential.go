package onboard

import (
	"fmt"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func credentialNotFound(id posture.CredentialID) error {
	return fault.New(fault.NotFound, "credential %q was not found", id)
}

// credential adds or changes the credential of the i-th item.
func (s *set) credential(i int) error {
	c := s.changes.Credentials[i]
	switch c.Action {
	case Post:
		return s.addCredential(i, c)
	case Put:
		return s.changeCredential(i, c)
	}
	return nil
}

func (s *set) addCredential(i int, c CredentialChange) error {
	cred, secrets, err := posture.NewCredential(s.newID(), s.changes.Provider, c.Properties, s.now)
	if err != nil {
		return err
	}
	if err := s.claimExternalID(cred, c.Properties); err != nil {
		return err
	}
	if c.Ref != "" {
		if _, exists := s.refs[c.Ref]; exists {
			return fault.Field("ref", "is given twice")
		}
		s.refs[c.Ref] = cred
	}
	s.done.Credentials[i] = cred
	return s.tx.SaveCredential(cred, secrets)
}

// claimExternalID reserves the external id of a credential. It fails if the id belongs
// to another organisation, because the credential would give access to that
// organisation's role.
func (s *set) claimExternalID(c posture.Credential, properties []posture.Property) error {
	id := c.Property(posture.PropExternalID)
	if id == "" {
		return nil
	}
	err := s.tx.ClaimExternalID(id)
	if fault.Is(err, fault.Conflict) {
		return fault.Field(fmt.Sprintf("properties[%d].stringV", posture.ExternalIDProperty(properties)), "(%s) %s", posture.PropExternalID, ForeignExternalID)
	}
	return err
}

// ForeignExternalID is the error message for an external id of another organisation.
const ForeignExternalID = "cannot be used by this organisation; use the one that is issued for it (GET /v1/cloud-credentials/aws-external-id)"

func (s *set) changeCredential(i int, c CredentialChange) error {
	old, stored, err := s.findCredential(c.ID)
	if err != nil {
		return err
	}
	if err := old.CheckVersion(c.IfMatch); err != nil {
		return err
	}
	cred, secrets, err := old.Changed(c.Properties, stored, s.now)
	if err != nil {
		return err
	}
	if err := s.claimExternalID(cred, c.Properties); err != nil {
		return err
	}
	s.done.Credentials[i] = cred
	if err := s.tx.SaveCredential(cred, secrets); err != nil {
		return err
	}
	links, err := s.tx.LinksOfCredential(cred.ID)
	if err != nil {
		return err
	}
	for _, l := range links { // revalidate the accounts: they may have become readable or unreadable
		if err := s.tx.Validate(l.Account); err != nil {
			return err
		}
	}
	return nil
}

// findCredential returns a credential. It must be of the provider of the set.
func (s *set) findCredential(id posture.CredentialID) (posture.Credential, posture.Secrets, error) {
	if id == "" {
		return posture.Credential{}, nil, fault.Field("credentialId", "is required")
	}
	c, secrets, err := s.tx.Credential(id)
	if fault.Is(err, fault.NotFound) || err == nil && c.Provider != s.changes.Provider {
		return c, nil, credentialNotFound(id)
	}
	return c, secrets, err
}

// removeCredential removes the credential of the i-th item. Accounts without another
// credential become drafts.
func (s *set) removeCredential(i int) error {
	c := s.changes.Credentials[i]
	if c.Action != Delete {
		return nil
	}
	cred, _, err := s.findCredential(c.ID)
	if err != nil {
		return err
	}
	s.done.Credentials[i] = cred
	if err := cred.CheckVersion(c.IfMatch); err != nil {
		return err
	}
	links, err := s.tx.LinksOfCredential(cred.ID)
	if err != nil {
		return err
	}
	if err := s.tx.RemoveCredential(cred.ID); err != nil {
		return err
	}
	for _, l := range links {
		if err := s.checkUnlinked(l.Account); err != nil {
			return err
		}
	}
	return nil
}
