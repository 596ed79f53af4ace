package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func accountRoundTrips(t *testing.T, f Fixture) {
	want := newAccount("111111111111")
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.AddAccount(want) })
	got, err := f.Store.Account(t.Context(), org, want.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "account", got, want)

	want.Environment, want.Owner, want.Tags, want.Name = nil, nil, nil, "renamed"
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.SaveAccount(want) })
	if got, err = f.Store.Account(t.Context(), org, want.ID); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "changed account", got, want)
}

func accountOfAnotherOrgDoesNotExist(t *testing.T, f Fixture) {
	a := newAccount("111111111111")
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.AddAccount(a) })
	_, err := f.Store.Account(t.Context(), other, a.ID)
	wantKind(t, "Account", err, fault.NotFound)
	_, unknown := f.Store.Account(t.Context(), other, "222222222222")
	if fmt.Sprint(err) == fmt.Sprint(unknown) {
		t.Error("the messages do not name the account")
	}
	page, total, err := f.Store.Accounts(t.Context(), other, posture.AccountFilter{}, posture.Page{})
	if err != nil || total != 0 || len(page) != 0 {
		t.Errorf("Accounts of another organisation = %v, %d, %v; want none", page, total, err)
	}
	err = f.Store.Onboard(t.Context(), other, func(tx posture.OnboardingTx) error {
		_, missing := tx.Account(a.ID)
		wantKind(t, "tx.Account", missing, fault.NotFound)
		wantKind(t, "tx.SaveAccount", tx.SaveAccount(a), fault.NotFound)
		return tx.AddAccount(a) // both organisations may have it
	})
	if err != nil {
		t.Error(err)
	}
}

func secondAccountConflicts(t *testing.T, f Fixture) {
	a := newAccount("111111111111")
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		if err := tx.AddAccount(a); err != nil {
			return err
		}
		wantKind(t, "AddAccount", tx.AddAccount(a), fault.Conflict)
		_, err := tx.Account(a.ID) // the transaction can continue
		return err
	})
}

func failedTransactionLeavesNothing(t *testing.T, f Fixture) {
	boom := errors.New("boom")
	err := f.Store.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error {
		return all(tx.AddAccount(newAccount("111111111111")), tx.SaveCredential(newCredential("c"), posture.Secrets{"k": "s"}), boom)
	})
	if !errors.Is(err, boom) {
		t.Errorf("Onboard = %v, want the error of the function that it called", err)
	}
	_, err = f.Store.Account(t.Context(), org, "111111111111")
	wantKind(t, "Account", err, fault.NotFound)
	_, err = f.Store.Credential(t.Context(), org, "c")
	wantKind(t, "Credential", err, fault.NotFound)
}

func filtersAndTotals(t *testing.T, f Fixture) {
	dev, training := "Dev", "Übung"
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		return all(
			tx.AddAccount(newAccount("a")),
			tx.AddAccount(newAccount("b", func(a *posture.Account) {
				a.Provider, a.Status.Value, a.Rollup.Value, a.Environment = posture.GCP, posture.AccountActive, posture.RollupHealthy, &dev
			})),
			tx.AddAccount(newAccount("d", func(a *posture.Account) {
				a.Provider, a.Environment, a.Status.Value = posture.Azure, &training, posture.AccountActive
			})),
			tx.AddAccount(newAccount("C", func(a *posture.Account) {
				a.Stream.Value, a.Environment, a.Tags = posture.StreamConnected, nil, map[string]string{"Team": "Red"}
			})),
		)
	})
	for _, tt := range []struct {
		name   string
		filter posture.AccountFilter
		want   []string
	}{
		{"none", posture.AccountFilter{}, []string{"C", "a", "b", "d"}},
		{"provider", posture.AccountFilter{Providers: []posture.Provider{posture.GCP}}, []string{"b"}},
		{"status", posture.AccountFilter{Statuses: []posture.AccountStatus{posture.AccountDraft}}, []string{"C", "a"}},
		{"rollup", posture.AccountFilter{Rollups: []posture.RollupStatus{posture.RollupHealthy}}, []string{"b"}},
		{"stream", posture.AccountFilter{Streams: []posture.StreamStatus{posture.StreamConnected}}, []string{"C"}},
		{"ids without case", posture.AccountFilter{IDs: []string{"A", "c"}}, []string{"C", "a"}},
		{"environment without case", posture.AccountFilter{Environments: []string{"DEV"}}, []string{"b"}},
		{"environment that is not ASCII", posture.AccountFilter{Environments: []string{"Übung"}}, []string{"d"}},
		{"tag without case", posture.AccountFilter{Tags: map[string][]string{"TEAM": {"red", "green"}}}, []string{"C"}},
		{"combined", posture.AccountFilter{Providers: []posture.Provider{posture.AWS}, IDs: []string{"a", "b"}}, []string{"a"}},
		{"nothing matches", posture.AccountFilter{IDs: []string{"x"}}, nil},
	} {
		page, total, err := f.Store.Accounts(t.Context(), org, tt.filter, posture.Page{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range page {
			got = append(got, string(a.ID))
		}
		wantSame(t, tt.name, got, tt.want)
		if total != len(tt.want) {
			t.Errorf("%s: total %d, want %d", tt.name, total, len(tt.want))
		}
	}
}

func pagesCoverAllOnce(t *testing.T, f Fixture) {
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		for i := range 25 {
			// 7 and 25 have no common factor: every id once, not in order.
			if err := tx.AddAccount(newAccount(posture.AccountID(fmt.Sprintf("%012d", i*7%25)))); err != nil {
				return err
			}
		}
		return nil
	})
	for _, filter := range []posture.AccountFilter{{}, {Tags: map[string][]string{"team": {"blue"}}}} {
		var seen []posture.AccountID
		for page := (posture.Page{Size: 4}); ; {
			got, total, err := f.Store.Accounts(t.Context(), org, filter, page)
			if err != nil || total != 25 {
				t.Fatalf("Accounts: total %d, %v; want 25", total, err)
			}
			if len(got) == 0 {
				break
			}
			for _, a := range got {
				seen = append(seen, a.ID)
			}
			page.After = string(seen[len(seen)-1])
		}
		for i, id := range seen {
			if want := posture.AccountID(fmt.Sprintf("%012d", i)); id != want {
				t.Fatalf("the %d-th is %s, want %s", i, id, want)
			}
		}
		if len(seen) != 25 {
			t.Errorf("%d accounts seen, want 25", len(seen))
		}
	}
}

func membersAreCounted(t *testing.T, f Fixture) {
	member := func(id posture.AccountID) posture.Account {
		return newAccount(id, func(a *posture.Account) {
			a.Properties = append(a.Properties, posture.Text("RootCloudAccountId", "111111111111"))
		})
	}
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		return all(tx.AddAccount(newAccount("111111111111")), tx.AddAccount(member("222222222222")), tx.AddAccount(member("333333333333")))
	})
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		n, err := tx.Members("111111111111")
		if n != 2 {
			t.Errorf("Members = %d, want 2", n)
		}
		return err
	})
}

func validationCommitsWithItsChange(t *testing.T, f Fixture) {
	boom := errors.New("boom")
	_ = f.Store.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error {
		return all(tx.Validate("111111111111"), boom)
	})
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.Validate("222222222222") })
	wantSame(t, "jobs of committed transactions", f.Enqueued(), []string{"222222222222"})
}

// concurrentWritersSeeEachOther appends to an account's name concurrently: a lost
// update would make it too short.
func concurrentWritersSeeEachOther(t *testing.T, f Fixture) {
	a := newAccount("111111111111", func(a *posture.Account) { a.Name = "" })
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.AddAccount(a) })
	const writers = 16
	var wait sync.WaitGroup
	for range writers {
		wait.Go(func() {
			err := f.Store.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error {
				a, err := tx.Account("111111111111")
				if err != nil {
					return err
				}
				a.Name += "x"
				return tx.SaveAccount(a)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got, err := f.Store.Account(t.Context(), org, "111111111111")
	if err != nil || len(got.Name) != writers {
		t.Errorf("%d of %d changes were stored (%v)", len(got.Name), writers, err)
	}
}

func unicodeTextRoundTrips(t *testing.T, f Fixture) {
	a := newAccount("111111111111", func(a *posture.Account) {
		a.Name = `Ωmega "quoted" \ 'single' 🛡 ` + "\u2028\t%_"
		a.Tags = map[string]string{`k"ey`: "v\nalue", "": "empty"}
		a.Created = begin.Add(123 * time.Millisecond)
	})
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.AddAccount(a) })
	got, err := f.Store.Account(t.Context(), org, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "account", got, a)
}
