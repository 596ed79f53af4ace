// Package onboard adds, changes and removes cloud accounts, credentials and the
// links between them.
//
// There is one way to change them: a set of changes that is applied whole or not
// at all. Changing a single record is a set of one.
package onboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// MaxItems is how many accounts, credentials or links one set may change.
const MaxItems = 100

// Action says what to do with an item of a set.
type Action string

// The actions.
const (
	Post   Action = "post"
	Put    Action = "put"
	Delete Action = "delete"
)

// Actions lists them.
var Actions = []Action{Post, Put, Delete}

// Changes is a set of changes to the records of one provider.
type Changes struct {
	Provider    posture.Provider
	Credentials []CredentialChange
	Accounts    []AccountChange
	Links       []LinkChange
}

// A CredentialChange adds, changes or removes a credential.
type CredentialChange struct {
	Action     Action
	ID         posture.CredentialID // of Put and Delete
	Ref        string               // by which links of the same set may name a new one
	Properties []posture.Property
	IfMatch    string
}

// An AccountChange adds, changes or removes an account.
type AccountChange struct {
	Action  Action
	ID      posture.AccountID // of Put and Delete; optional with Post
	Spec    posture.AccountSpec
	IfMatch string
}

// A LinkChange adds or removes a link.
type LinkChange struct {
	Action     Action
	Account    posture.AccountID
	Credential posture.CredentialID
	Ref        string // instead of Credential: one added in the same set
	IfMatch    string
}

// Changed holds the records that a set of changes touched, each at the index of
// its item. A removed record is as it was.
type Changed struct {
	Credentials []posture.Credential
	Accounts    []posture.Account
	Links       []posture.Link
	Existed     []bool // whether a posted link was there already
}

// An ItemError blames one item of a set.
type ItemError struct {
	Array string // cloudAccountUpdates, credentialUpdates or relationshipUpdates
	Index int
	Err   error
}

func (e *ItemError) Error() string { return fmt.Sprintf("%s[%d]: %v", e.Array, e.Index, e.Err) }

// Unwrap returns the cause.
func (e *ItemError) Unwrap() error { return e.Err }

// Rejected is why nothing of a set was applied: every bad item.
type Rejected []*ItemError

func (r Rejected) Error() string {
	parts := make([]string, len(r))
	for i, e := range r {
		parts[i] = e.Error()
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the first bad item, so that a set of one fails as its item.
func (r Rejected) Unwrap() error { return r[0] }

// The arrays of a set, as callers know them.
const (
	accountItems    = "cloudAccountUpdates"
	credentialItems = "credentialUpdates"
	linkItems       = "relationshipUpdates"
)

// Service changes what an organisation has onboarded.
type Service struct {
	Store posture.OnboardingStore
	Now   func() time.Time
	NewID func() posture.CredentialID
}

// Apply applies a set of changes whole, or fails with Rejected and changes
// nothing. Credentials come first, then accounts, then links; what is to be
// removed goes last.
func (s *Service) Apply(ctx context.Context, org posture.OrgID, c Changes) (Changed, error) {
	if err := c.check(); err != nil {
		return Changed{}, err
	}
	var done Changed
	err := s.Store.Onboard(ctx, org, func(tx posture.OnboardingTx) error {
		set := &set{
			tx: tx, org: org, now: s.Now(), newID: s.NewID, changes: c,
			refs: map[string]posture.Credential{},
			done: Changed{
				Credentials: make([]posture.Credential, len(c.Credentials)),
				Accounts:    make([]posture.Account, len(c.Accounts)),
				Links:       make([]posture.Link, len(c.Links)),
				Existed:     make([]bool, len(c.Links)),
			},
		}
		err := set.apply()
		done = set.done
		return err
	})
	if err != nil {
		return Changed{}, err
	}
	return done, nil
}

// check refuses a set that is too large.
func (c Changes) check() error {
	var bad []fault.Detail
	for _, array := range []struct {
		name string
		n    int
	}{{accountItems, len(c.Accounts)}, {credentialItems, len(c.Credentials)}, {linkItems, len(c.Links)}} {
		if array.n > MaxItems {
			bad = append(bad, fault.Detail{Path: array.name, Message: fmt.Sprintf("has %d items; at most %d go in one call", array.n, MaxItems)})
		}
	}
	if len(bad) > 0 {
		return fault.Fields(bad...)
	}
	return nil
}

// set is a set of changes while it is being applied.
type set struct {
	tx      posture.OnboardingTx
	org     posture.OrgID
	now     time.Time
	newID   func() posture.CredentialID
	changes Changes
	refs    map[string]posture.Credential
	done    Changed
	bad     Rejected
}

// apply does the items in their order and goes on after a bad one, so that the
// caller hears of all of them. A fault that no item is to blame for ends it.
func (s *set) apply() error {
	steps := []func() error{
		func() error { return s.each(credentialItems, len(s.changes.Credentials), s.credential) },
		func() error { return s.each(accountItems, len(s.changes.Accounts), s.account) },
		func() error { return s.each(accountItems, len(s.changes.Accounts), s.root) },
		func() error { return s.each(linkItems, len(s.changes.Links), s.link) },
		func() error { return s.each(linkItems, len(s.changes.Links), s.unlink) },
		func() error { return s.removeAccounts(false) },
		func() error { return s.removeAccounts(true) },
		func() error { return s.each(credentialItems, len(s.changes.Credentials), s.removeCredential) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if len(s.bad) > 0 {
		slices.SortStableFunc(s.bad, func(a, b *ItemError) int { return a.Index - b.Index })
		return s.bad
	}
	return nil
}

// each runs f for every index and keeps the faults that an item is to blame for.
func (s *set) each(array string, n int, f func(i int) error) error {
	for i := range n {
		err := f(i)
		switch {
		case err == nil:
		case fault.Is(err, fault.Internal), fault.Is(err, fault.Unavailable):
			return err
		case !s.blamed(array, i):
			s.bad = append(s.bad, &ItemError{array, i, err})
		}
	}
	return nil
}

// blamed reports whether an item has been found bad already: what follows from
// that need not be said too.
func (s *set) blamed(array string, i int) bool {
	return slices.ContainsFunc(s.bad, func(e *ItemError) bool { return e.Array == array && e.Index == i })
}

// Cause returns the fault of a set of one.
func Cause(err error) error {
	if item, ok := errors.AsType[*ItemError](err); ok {
		return item.Err
	}
	return err
}
