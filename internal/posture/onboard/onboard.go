// Package onboard adds, changes and removes cloud accounts, credentials and the
// links between them.
//
// All changes are made by a set of changes, which is applied completely or not at all.
// A change of a single record is a set with one item.
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

// MaxItems limits the accounts, credentials and links in one set.
const MaxItems = 100

// Action is the operation of an item.
type Action string

// The actions.
const (
	Post   Action = "post"
	Put    Action = "put"
	Delete Action = "delete"
)

// Actions lists the actions.
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
	ID         posture.CredentialID // with Put and Delete
	Ref        string               // name of a new credential for links in the same set
	Properties []posture.Property
	IfMatch    string
}

// An AccountChange adds, changes or removes an account.
type AccountChange struct {
	Action  Action
	ID      posture.AccountID // with Put and Delete; optional with Post
	Spec    posture.AccountSpec
	IfMatch string
}

// A LinkChange adds or removes a link.
type LinkChange struct {
	Action     Action
	Account    posture.AccountID
	Credential posture.CredentialID
	Ref        string // instead of Credential: the ref of a credential in the same set
	IfMatch    string
}

// Changed holds the records that a set changed, by the index of their items. A removed
// record has its last values.
type Changed struct {
	Credentials []posture.Credential
	Accounts    []posture.Account
	Links       []posture.Link
	Existed     []bool // whether a posted link existed already
}

// An ItemError is the error of one item.
type ItemError struct {
	Array string // cloudAccountUpdates, credentialUpdates or relationshipUpdates
	Index int
	Err   error
}

func (e *ItemError) Error() string { return fmt.Sprintf("%s[%d]: %v", e.Array, e.Index, e.Err) }

// Unwrap returns the cause.
func (e *ItemError) Unwrap() error { return e.Err }

// Rejected holds the errors of all invalid items. Nothing of the set was applied.
type Rejected []*ItemError

func (r Rejected) Error() string {
	parts := make([]string, len(r))
	for i, e := range r {
		parts[i] = e.Error()
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the first error, so that the kind of a set with one item is that of
// its item.
func (r Rejected) Unwrap() error { return r[0] }

// The names of the arrays in the API.
const (
	accountItems    = "cloudAccountUpdates"
	credentialItems = "credentialUpdates"
	linkItems       = "relationshipUpdates"
)

// Service changes the accounts, credentials and links of organisations.
type Service struct {
	Store posture.OnboardingStore
	Now   func() time.Time
	NewID func() posture.CredentialID

	MaxAccounts int // of one organisation; 0 is no limit
}

// Apply applies a set of changes, or fails with Rejected and changes nothing. It
// processes credentials, then accounts, then links; deletions come last.
func (s *Service) Apply(ctx context.Context, org posture.OrgID, c Changes) (Changed, error) {
	if err := c.check(); err != nil {
		return Changed{}, err
	}
	var done Changed
	err := s.Store.Onboard(ctx, org, func(tx posture.OnboardingTx) error {
		set := &set{
			tx: tx, org: org, now: s.Now(), newID: s.NewID, changes: c, maxAccounts: s.MaxAccounts,
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

// check fails if a set has too many items.
func (c Changes) check() error {
	var bad []fault.Detail
	for _, array := range []struct {
		name string
		n    int
	}{{accountItems, len(c.Accounts)}, {credentialItems, len(c.Credentials)}, {linkItems, len(c.Links)}} {
		if array.n > MaxItems {
			bad = append(bad, fault.Detail{Path: array.name, Message: fmt.Sprintf("has %d items; one call takes at most %d", array.n, MaxItems)})
		}
	}
	if len(bad) > 0 {
		return fault.Fields(bad...)
	}
	return nil
}

// set is the state of a set of changes while it is applied.
type set struct {
	tx      posture.OnboardingTx
	org     posture.OrgID
	now     time.Time
	newID   func() posture.CredentialID
	changes Changes
	refs    map[string]posture.Credential
	done    Changed
	bad     Rejected

	maxAccounts int
}

// apply processes all items and continues after an invalid one, so that the caller gets
// all errors. Errors that no item caused end it.
func (s *set) apply() error {
	steps := []func() error{
		func() error { return s.each(credentialItems, len(s.changes.Credentials), s.credential) },
		func() error { return s.each(accountItems, len(s.changes.Accounts), s.account) },
		func() error { return s.each(accountItems, len(s.changes.Accounts), s.root) },
		func() error { return s.each(linkItems, len(s.changes.Links), s.link) },
		func() error { return s.each(linkItems, len(s.changes.Links), s.unlink) },
		s.removeMembers, // before their roots, so that one call can remove a whole organisation
		s.removeRoots,
		s.checkQuota,
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

// each calls f for every index and collects the errors that items caused.
func (s *set) each(array string, n int, f func(i int) error) error {
	for i := range n {
		err := f(i)
		switch {
		case err == nil:
		case fault.Is(err, fault.Internal), fault.Is(err, fault.Unavailable):
			return err
		case !s.isRejected(array, i):
			s.bad = append(s.bad, &ItemError{array, i, err})
		}
	}
	return nil
}

// isRejected reports whether an item has an error already. Its follow-up errors are not
// reported.
func (s *set) isRejected(array string, i int) bool {
	return slices.ContainsFunc(s.bad, func(e *ItemError) bool { return e.Array == array && e.Index == i })
}

// Cause returns the error of a set with one item.
func Cause(err error) error {
	if item, ok := errors.AsType[*ItemError](err); ok {
		return item.Err
	}
	return err
}
