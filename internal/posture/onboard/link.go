package onboard

import (
	"vigil/internal/fault"
	"vigil/internal/posture"
)

// link adds the link of the i-th item. An existing link stays unchanged.
func (s *set) link(i int) error {
	c := s.changes.Links[i]
	switch c.Action {
	case Delete:
		return nil
	case Put:
		return fault.Field("action", "must be post or delete")
	}
	cred, err := s.linkedCredential(c)
	if err != nil {
		return err
	}
	account, err := s.find(c.Account)
	if err != nil {
		return err
	}
	old, err := s.tx.Link(account.ID, cred.ID)
	if err == nil {
		s.done.Links[i], s.done.Existed[i] = old, true
		return nil
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	l := posture.NewLink(account, cred, s.now)
	s.done.Links[i] = l
	if err := s.tx.AddLink(l); err != nil {
		return err
	}
	return s.tx.Validate(account.ID)
}

// linkedCredential returns the credential of a link, which names it by id or by its ref
// in the same set.
func (s *set) linkedCredential(c LinkChange) (posture.Credential, error) {
	switch {
	case c.Ref != "" && c.Credential != "":
		return posture.Credential{}, fault.Field("credentialRef", "must not be given beside credentialId")
	case c.Ref == "":
		cred, _, err := s.findCredential(c.Credential)
		return cred, err
	}
	cred, ok := s.refs[c.Ref]
	if !ok {
		return cred, fault.Field("credentialRef", "is not the ref of a credential that this call creates")
	}
	return cred, nil
}

// unlink removes the link of the i-th item.
func (s *set) unlink(i int) error {
	c := s.changes.Links[i]
	if c.Action != Delete {
		return nil
	}
	l, err := s.tx.Link(c.Account, c.Credential)
	if fault.Is(err, fault.NotFound) || err == nil && l.Provider != s.changes.Provider {
		return fault.New(fault.NotFound, "the link of cloud account %q and credential %q was not found", c.Account, c.Credential)
	}
	if err != nil {
		return err
	}
	s.done.Links[i] = l
	if err := l.CheckVersion(c.IfMatch); err != nil {
		return err
	}
	if err := s.tx.RemoveLink(l.Account, l.Credential); err != nil {
		return err
	}
	return s.checkUnlinked(l.Account)
}

// checkUnlinked makes an account a draft if it has no links left, and otherwise enqueues its
// validation with a remaining credential.
func (s *set) checkUnlinked(id posture.AccountID) error {
	links, err := s.tx.LinksOfAccount(id)
	if err != nil {
		return err
	}
	if len(links) > 0 {
		return s.tx.Validate(id)
	}
	a, err := s.tx.Account(id)
	if err != nil {
		return err
	}
	return s.tx.SaveAccount(a.WithStatus(posture.AccountDraft, "", s.now))
}
