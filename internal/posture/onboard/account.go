package onboard

import (
	"fmt"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func accountNotFound(id posture.AccountID) error {
	return fault.New(fault.NotFound, "cloud account %q was not found", id)
}

// account adds or changes the account of the i-th item.
func (s *set) account(i int) error {
	c := s.changes.Accounts[i]
	var (
		a   posture.Account
		err error
	)
	switch c.Action {
	case Post:
		a, err = s.addAccount(c)
	case Put:
		a, err = s.changeAccount(c)
	default:
		return nil
	}
	s.done.Accounts[i] = a
	return err
}

func (s *set) addAccount(c AccountChange) (posture.Account, error) {
	a, err := posture.NewAccount(s.org, s.changes.Provider, c.Spec, s.now)
	if err != nil {
		return a, err
	}
	if c.ID != "" && c.ID != a.ID {
		return a, fault.Field("cloudAccountId", "must be %q, the id its properties name, or left out", a.ID)
	}
	if err := s.tx.AddAccount(a); err != nil {
		if fault.Is(err, fault.Conflict) {
			return a, fault.New(fault.Conflict, "cloud account %q exists already", a.ID)
		}
		return a, err
	}
	return a, nil
}

// checkQuota rejects the last added accounts if the organisation has too many with them.
func (s *set) checkQuota() error {
	if s.maxAccounts == 0 {
		return nil
	}
	n, err := s.tx.CountAccounts()
	for i := len(s.changes.Accounts) - 1; i >= 0 && err == nil && n > s.maxAccounts; i-- {
		if s.changes.Accounts[i].Action == Post && !s.isRejected(accountItems, i) {
			s.bad = append(s.bad, &ItemError{accountItems, i, fault.New(fault.Conflict, "your organisation may not have more than %d cloud accounts", s.maxAccounts)})
			n--
		}
	}
	return err
}

func (s *set) changeAccount(c AccountChange) (posture.Account, error) {
	old, err := s.find(c.ID)
	if err != nil {
		return old, err
	}
	if err := old.CheckVersion(c.IfMatch); err != nil {
		return old, err
	}
	a, err := old.Changed(s.org, c.Spec, s.now)
	if err != nil {
		return a, err
	}
	if old.IsRoot() && !a.IsRoot() {
		if err := s.checkNoMembers(a.ID); err != nil {
			return a, err
		}
	}
	return a, s.tx.SaveAccount(a)
}

// find returns an account. It must be of the provider of the set.
func (s *set) find(id posture.AccountID) (posture.Account, error) {
	if id == "" {
		return posture.Account{}, fault.Field("cloudAccountId", "is required")
	}
	a, err := s.tx.Account(id)
	if fault.Is(err, fault.NotFound) || err == nil && a.Provider != s.changes.Provider {
		return a, accountNotFound(id)
	}
	return a, err
}

// root checks that the root account that the i-th item names exists. It runs after all
// accounts of the set were written, because the set may add the root.
func (s *set) root(i int) error {
	a := s.done.Accounts[i]
	if a.Root() == "" || s.isRejected(accountItems, i) {
		return nil
	}
	root, err := s.tx.Account(a.Root())
	if fault.Is(err, fault.NotFound) || err == nil && !root.IsRoot() {
		index := posture.RootProperty(s.changes.Accounts[i].Spec.Properties.Value)
		return fault.Field(fmt.Sprintf("properties[%d].stringV", index), "must name an onboarded root account (one with IsRoot)")
	}
	return err
}

func (s *set) removeMembers() error {
	return s.removeAccounts(func(a posture.Account) bool { return !a.IsRoot() })
}

func (s *set) removeRoots() error { return s.removeAccounts(posture.Account.IsRoot) }

// removeAccounts removes those accounts of delete items that are selected.
func (s *set) removeAccounts(selected func(posture.Account) bool) error {
	return s.each(accountItems, len(s.changes.Accounts), func(i int) error {
		c := s.changes.Accounts[i]
		if c.Action != Delete {
			return nil
		}
		a, err := s.find(c.ID)
		if fault.Is(err, fault.NotFound) && s.done.Accounts[i].ID == c.ID {
			return nil // removed in the pass over members
		}
		if err != nil || !selected(a) {
			return err
		}
		s.done.Accounts[i] = a
		if err := a.CheckVersion(c.IfMatch); err != nil {
			return err
		}
		if err := s.checkNoMembers(a.ID); err != nil {
			return err
		}
		return s.tx.RemoveAccount(a.ID)
	})
}

// checkNoMembers fails with fault.Conflict if other accounts name id as their root.
func (s *set) checkNoMembers(id posture.AccountID) error {
	n, err := s.tx.Members(id)
	if err == nil && n > 0 {
		return fault.New(fault.Conflict, "cloud account %q is the root of %d others; remove them first", id, n)
	}
	return err
}
