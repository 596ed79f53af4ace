package onboard_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/onboard"
	"vigil/internal/posture/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

const org = posture.OrgID("org")

// fixture is a service over a real store, and a recorder of validation jobs.
type fixture struct {
	*onboard.Service
	mu        sync.Mutex
	validated []posture.AccountID
}

// Validate implements [store.Jobs].
func (f *fixture) Validate(tx *sqldb.Tx, _ posture.OrgID, id posture.AccountID) error {
	tx.AfterCommit(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.validated = append(f.validated, id)
	})
	return nil
}

// Collect implements [store.Jobs]. Onboarding starts no runs.
func (f *fixture) Collect(*sqldb.Tx, posture.OrgID, posture.Run) error { return nil }

// Judge, JudgeRule and Remove implement [store.Jobs].
func (f *fixture) Judge(*sqldb.Tx, posture.OrgID, posture.AccountID) error  { return nil }
func (f *fixture) JudgeRule(*sqldb.Tx, posture.OrgID, posture.RuleID) error { return nil }
func (f *fixture) Remove(*sqldb.Tx, posture.OrgID, posture.AccountID) error { return nil }

func newFixture(t *testing.T) *fixture {
	db := dbtest.Open(t, dbtest.SQLite(t))
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	h := new(fixture)
	n := 0
	h.Service = &onboard.Service{
		Store: store.New(db, secrettest.NewBox(t), h),
		Now:   func() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) },
		NewID: func() posture.CredentialID {
			n++
			return posture.CredentialID(fmt.Sprintf("credential-%d", n))
		},
	}
	return h
}

func account(action onboard.Action, id string, ps ...posture.Property) onboard.AccountChange {
	c := onboard.AccountChange{Action: action, Spec: posture.AccountSpec{
		Name: "account " + id, Properties: posture.Give(append([]posture.Property{posture.Text("accountId", id)}, ps...)),
	}}
	if action != onboard.Post {
		c.ID = posture.AccountID(id)
	}
	return c
}

func credential(ref string) onboard.CredentialChange {
	return onboard.CredentialChange{
		Action: onboard.Post, Ref: ref, Properties: []posture.Property{posture.Text("RoleArn", "arn:aws:iam::111111111111:role/vigil")},
	}
}

func aws(c onboard.Changes) onboard.Changes {
	c.Provider = posture.AWS
	return c
}

const root, member = "111111111111", "222222222222"

// organisation is a root account with a member, each linked to one credential.
func organisation() onboard.Changes {
	return aws(onboard.Changes{
		Accounts: []onboard.AccountChange{
			account(onboard.Post, member, posture.Text("RootCloudAccountId", root)),
			account(onboard.Post, root, posture.Flag("IsRoot", true)),
		},
		Credentials: []onboard.CredentialChange{credential("c")},
		Links:       []onboard.LinkChange{{Action: onboard.Post, Account: member, Ref: "c"}, {Action: onboard.Post, Account: root, Ref: "c"}},
	})
}

func TestAddOrganisationInOneCall(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	done, err := h.Apply(t.Context(), org, organisation())
	if err != nil {
		t.Fatal(err)
	}
	if done.Accounts[0].Root() != root || !done.Accounts[1].IsRoot() {
		t.Errorf("accounts %+v", done.Accounts)
	}
	if diff := cmp.Diff([]posture.AccountID{member, root}, h.validated); diff != "" {
		t.Errorf("validated (-want +got):\n%s", diff)
	}
}

func TestRootWithMembersCannotBeRemoved(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	if _, err := h.Apply(t.Context(), org, organisation()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]onboard.AccountChange{
		"remove the root": {Action: onboard.Delete, ID: root},
		"unset IsRoot":    account(onboard.Put, root),
	} {
		_, err := h.Apply(t.Context(), org, aws(onboard.Changes{Accounts: []onboard.AccountChange{c}}))
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v, want a conflict", name, err)
		}
	}
	_, err := h.Apply(t.Context(), org, aws(onboard.Changes{Accounts: []onboard.AccountChange{
		{Action: onboard.Delete, ID: root}, {Action: onboard.Delete, ID: member},
	}}))
	if err != nil {
		t.Errorf("root and member together: %v", err)
	}
}

func TestInvalidItemsAreAllReportedAndNothingChanges(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, err := h.Apply(t.Context(), org, aws(onboard.Changes{
		Accounts: []onboard.AccountChange{
			account(onboard.Post, root),
			account(onboard.Post, "short"),
			account(onboard.Post, root),  // a duplicate of the first
			account(onboard.Put, member), // not onboarded
			{Action: onboard.Delete, ID: member},
			{Action: onboard.Put},
			account(onboard.Post, "333333333333", posture.Text("RootCloudAccountId", root)), // not a root account
		},
		Credentials: []onboard.CredentialChange{credential("a"), credential("a"), {Action: onboard.Delete, ID: "none"}},
		Links: []onboard.LinkChange{
			{Action: onboard.Post, Account: root, Ref: "b"},
			{Action: onboard.Post, Account: root, Ref: "a", Credential: "x"},
			{Action: onboard.Put, Account: root, Ref: "a"},
			{Action: onboard.Delete, Account: root, Credential: "none"},
		},
	}))
	rejected, ok := errors.AsType[onboard.Rejected](err)
	if !ok {
		t.Fatalf("Apply = %v, want onboard.Rejected", err)
	}
	got := map[string]bool{}
	for _, item := range rejected {
		got[fmt.Sprintf("%s[%d]", item.Array, item.Index)] = true
	}
	want := map[string]bool{
		"cloudAccountUpdates[1]": true, "cloudAccountUpdates[2]": true, "cloudAccountUpdates[3]": true, "cloudAccountUpdates[4]": true,
		"cloudAccountUpdates[5]": true, "cloudAccountUpdates[6]": true, "credentialUpdates[1]": true, "credentialUpdates[2]": true,
		"relationshipUpdates[0]": true, "relationshipUpdates[1]": true, "relationshipUpdates[2]": true, "relationshipUpdates[3]": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rejected items (-want +got):\n%s", diff)
	}
	if _, total, err := h.Store.Accounts(t.Context(), org, posture.AccountFilter{}, posture.Page{}); err != nil || total != 0 {
		t.Errorf("%d accounts were added (%v)", total, err)
	}
}

func TestTooManyItems(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	c := aws(onboard.Changes{})
	for i := range onboard.MaxItems + 1 {
		c.Accounts = append(c.Accounts, account(onboard.Post, fmt.Sprintf("%012d", i)))
	}
	_, err := h.Apply(t.Context(), org, c)
	if d := fault.Details(err); len(d) != 1 || d[0].Path != "cloudAccountUpdates" {
		t.Errorf("Apply = %v, want one detail about cloudAccountUpdates", err)
	}
}

// TestConcurrentChangesHaveOneWinner has many writers change the same version of an
// account.
func TestConcurrentChangesHaveOneWinner(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		h := new(fixture)
		h.Service = &onboard.Service{Store: store.New(db, secrettest.NewBox(t), h), Now: time.Now}
		done, err := h.Apply(t.Context(), org, aws(onboard.Changes{Accounts: []onboard.AccountChange{account(onboard.Post, root)}}))
		if err != nil {
			t.Fatal(err)
		}
		tag := done.Accounts[0].ETag
		for round := range 10 {
			tag = race(t, h, tag, round)
		}
	})
}

// race runs 64 writers that change the account if it has the ETag tag, and returns the
// ETag of the winner.
func race(t *testing.T, h *fixture, tag string, round int) string {
	var (
		mu      sync.Mutex
		winners []string
		wait    sync.WaitGroup
	)
	for range 64 {
		wait.Go(func() {
			c := account(onboard.Put, root)
			c.IfMatch = tag
			done, err := h.Apply(t.Context(), org, aws(onboard.Changes{Accounts: []onboard.AccountChange{c}}))
			switch {
			case err == nil:
				mu.Lock()
				defer mu.Unlock()
				winners = append(winners, done.Accounts[0].ETag)
			case !fault.Is(err, fault.Stale):
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(winners) != 1 {
		t.Fatalf("round %d: %d writers changed the same version, want 1", round, len(winners))
	}
	return winners[0]
}

func TestValidationSetsTheStatus(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	cloud := new(memcloud.Cloud)
	v := &onboard.Validator{Store: h.Store, Cloud: cloud, Now: h.Now}
	status := func() posture.AccountStatus {
		a, err := h.Store.Account(t.Context(), org, root)
		if err != nil {
			t.Fatal(err)
		}
		return a.Status.Value
	}
	apply := func(c onboard.Changes) onboard.Changed {
		t.Helper()
		done, err := h.Apply(t.Context(), org, aws(c))
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	validate := func(want posture.AccountStatus) {
		t.Helper()
		if _, err := v.Validate(t.Context(), org, root); err != nil {
			t.Fatal(err)
		}
		if got := status(); got != want {
			t.Errorf("status %s, want %s", got, want)
		}
	}
	apply(onboard.Changes{Accounts: []onboard.AccountChange{account(onboard.Post, root)}})
	validate(posture.AccountDraft) // without a link, validation does nothing
	done := apply(onboard.Changes{
		Credentials: []onboard.CredentialChange{credential("c")},
		Links:       []onboard.LinkChange{{Action: onboard.Post, Account: root, Ref: "c"}},
	})
	validate(posture.AccountValidationFailed) // the cloud does not have the account yet
	cloud.Add(root, memcloud.Account{Properties: map[string]string{"RoleArn": "arn:aws:iam::111111111111:role/vigil"}})
	validate(posture.AccountActive)
	cloud.Add(root, memcloud.Account{Denied: map[string]string{"RoleArn": "arn:aws:iam::111111111111:role/vigil"}})
	validate(posture.AccountDenyAccess)

	h.validated = nil
	put := credential("")
	put.Action, put.ID = onboard.Put, done.Credentials[0].ID
	apply(onboard.Changes{Credentials: []onboard.CredentialChange{put}})
	if diff := cmp.Diff([]posture.AccountID{root}, h.validated); diff != "" {
		t.Errorf("validated after a change of the credential (-want +got):\n%s", diff)
	}
	apply(onboard.Changes{Credentials: []onboard.CredentialChange{{Action: onboard.Delete, ID: put.ID}}})
	if got := status(); got != posture.AccountDraft {
		t.Errorf("without a link the status is %s, want %s", got, posture.AccountDraft)
	}
}

// cloudDuring is a cloud that calls its function during in each validation.
type cloudDuring struct {
	memcloud.Cloud
	during func()
}

func (c *cloudDuring) Validate(ctx context.Context, a posture.Access) (posture.AccountStatus, string, error) {
	c.during()
	return c.Cloud.Validate(ctx, a)
}

// TestValidationsOfReplacedCredentialsAreIgnored changes or removes an account, its link
// or its credential while the cloud refuses to validate them. That result must not be recorded.
func TestValidationsOfReplacedCredentialsAreIgnored(t *testing.T) {
	t.Parallel()
	put := credential("")
	put.Action, put.ID = onboard.Put, "credential-1"
	links := []onboard.LinkChange{{Action: onboard.Post, Account: root, Ref: "c"}}
	for name, tt := range map[string]struct {
		during onboard.Changes
		want   posture.AccountStatus
	}{
		"nothing":                {want: posture.AccountValidationFailed},
		"another link":           {during: onboard.Changes{Credentials: []onboard.CredentialChange{credential("c")}, Links: links}, want: posture.AccountDraft},
		"a changed credential":   {during: onboard.Changes{Credentials: []onboard.CredentialChange{put}}, want: posture.AccountDraft},
		"the end of its link":    {during: onboard.Changes{Links: []onboard.LinkChange{{Action: onboard.Delete, Account: root, Credential: "credential-1"}}}, want: posture.AccountDraft},
		"the end of the account": {during: onboard.Changes{Accounts: []onboard.AccountChange{account(onboard.Delete, root)}}}, // then there is no status
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			now := h.Now()
			h.Now = func() time.Time { now = now.Add(time.Second); return now } // later links are newer: the newest decides which credential is used
			apply := func(c onboard.Changes) {
				if _, err := h.Apply(t.Context(), org, aws(c)); err != nil {
					t.Error(err)
				}
			}
			apply(onboard.Changes{Accounts: []onboard.AccountChange{account(onboard.Post, root)}, Credentials: []onboard.CredentialChange{credential("c")}, Links: links})
			v := &onboard.Validator{Store: h.Store, Cloud: &cloudDuring{during: func() { apply(tt.during) }}, Now: h.Now}
			if _, err := v.Validate(t.Context(), org, root); err != nil {
				t.Fatal(err)
			}
			a, err := h.Store.Account(t.Context(), org, root)
			if err != nil && !fault.Is(err, fault.NotFound) || a.Status.Value != tt.want {
				t.Errorf("the status of the account is %q, %v; want %q", a.Status.Value, err, tt.want)
			}
		})
	}
}

// TestQuotaOfAccounts adds accounts up to the quota and beyond, and replaces one.
func TestQuotaOfAccounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.MaxAccounts = 2
	apply := func(changes ...onboard.AccountChange) error {
		_, err := f.Apply(t.Context(), org, onboard.Changes{Provider: posture.AWS, Accounts: changes})
		return err
	}
	const a, b, c = "111111111111", "222222222222", "333333333333"
	err := apply(account(onboard.Post, a), account(onboard.Post, b), account(onboard.Post, c))
	rejected, ok := errors.AsType[onboard.Rejected](err)
	if !ok || len(rejected) != 1 || rejected[0].Index != 2 || !fault.Is(err, fault.Conflict) {
		t.Fatalf("three accounts: %v, want that the third is rejected", err)
	}
	for _, tt := range []struct {
		name    string
		changes []onboard.AccountChange
		refused bool
	}{
		{"two accounts", []onboard.AccountChange{account(onboard.Post, a), account(onboard.Post, b)}, false},
		{"one more", []onboard.AccountChange{account(onboard.Post, c)}, true},
		{"a change", []onboard.AccountChange{account(onboard.Put, a)}, false},
		{"one more instead of another", []onboard.AccountChange{account(onboard.Post, c), account(onboard.Delete, a)}, false},
	} {
		if err := apply(tt.changes...); fault.Is(err, fault.Conflict) != tt.refused || !tt.refused && err != nil {
			t.Errorf("%s: %v, want it refused: %t", tt.name, err, tt.refused)
		}
	}
}
