package storetest

import (
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func secretsAreOnlyInAccess(t *testing.T, f Fixture) {
	a, c := newAccount("111111111111"), newCredential("c")
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		return all(tx.AddAccount(a), tx.SaveCredential(c, posture.Secrets{"key": "s3cret"}))
	})
	_, err := f.Store.Access(t.Context(), org, a.ID)
	wantKind(t, "Access without a link", err, fault.NotFound)

	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.AddLink(newLink(a.ID, c.ID, begin)) })
	got, err := f.Store.Access(t.Context(), org, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "access", got, posture.Access{Org: org, Account: a, Credential: c, Secrets: posture.Secrets{"key": "s3cret"}})
	_, err = f.Store.Access(t.Context(), other, a.ID)
	wantKind(t, "Access from another organisation", err, fault.NotFound)
}

func secretsAreReplaced(t *testing.T, f Fixture) {
	c := newCredential("c")
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		return all(tx.SaveCredential(c, posture.Secrets{"key": "old"}), tx.SaveCredential(c, posture.Secrets{"key": "new"}))
	})
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		got, secrets, err := tx.Credential(c.ID)
		wantSame(t, "credential", got, c)
		wantSame(t, "secrets", secrets, posture.Secrets{"key": "new"})
		return err
	})
}

func linksGoWithAccountOrCredential(t *testing.T, f Fixture) {
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		return all(
			tx.AddAccount(newAccount("a")), tx.AddAccount(newAccount("b")),
			tx.SaveCredential(newCredential("x"), nil), tx.SaveCredential(newCredential("y"), posture.Secrets{"key": "s"}),
			tx.AddLink(newLink("a", "x", begin)), tx.AddLink(newLink("b", "x", begin)), tx.AddLink(newLink("b", "y", begin)),
		)
	})
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.RemoveCredential("y") })
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.RemoveAccount("a") })
	links, err := f.Store.Links(t.Context(), org, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "links", links, []posture.Link{newLink("b", "x", begin)})
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		_, _, err := tx.Credential("y")
		wantKind(t, "Credential", err, fault.NotFound)
		_, err = tx.Link("b", "y")
		wantKind(t, "Link", err, fault.NotFound)
		byAccount, err1 := tx.LinksOfAccount("b")
		byCredential, err2 := tx.LinksOfCredential("x")
		// b and x have only the link to each other left.
		wantSame(t, "links of the account and of the credential", byAccount, byCredential)
		return all(err1, err2, tx.RemoveLink("b", "x"))
	})
	links, err = f.Store.Links(t.Context(), org, []posture.AccountID{"b"})
	if err != nil || len(links) != 0 {
		t.Errorf("Links = %v, %v; want none after the last was removed", links, err)
	}
}

func newestLinkGivesAccess(t *testing.T, f Fixture) {
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		return all(
			tx.AddAccount(newAccount("a")), tx.SaveCredential(newCredential("new"), nil), tx.SaveCredential(newCredential("old"), nil),
			tx.AddLink(newLink("a", "new", begin.Add(time.Hour))), tx.AddLink(newLink("a", "old", begin)),
		)
	})
	got, err := f.Store.Access(t.Context(), org, "a")
	if err != nil || got.Credential.ID != "new" {
		t.Errorf("Access = %s, %v, want the newer credential", got.Credential.ID, err)
	}
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		same, err := tx.CredentialOf("a")
		wantSame(t, "CredentialOf", same, got.Credential)
		_, missing := tx.CredentialOf("b")
		wantKind(t, "CredentialOf an account without a credential", missing, fault.NotFound)
		return err
	})
	creds, total, err := f.Store.Credentials(t.Context(), org, []posture.Provider{posture.AWS}, posture.Page{After: "new", Size: 5})
	if err != nil || total != 2 || len(creds) != 1 || creds[0].ID != "old" {
		t.Errorf("Credentials after \"new\" = %v of %d, %v; want \"old\" of 2", creds, total, err)
	}
}

func externalIDsHaveOneOwner(t *testing.T, f Fixture) {
	ctx := t.Context()
	first, err := f.Store.ExternalID(ctx, org)
	if err != nil || len(first) < 16 { // it must be hard to guess
		t.Fatalf("issued: %q, %v; want at least 16 characters", first, err)
	}
	second, err := f.Store.ExternalID(ctx, org)
	if err != nil || second != first {
		t.Errorf("issued again: %q, %v; want %q", second, err, first)
	}
	foreign, err := f.Store.ExternalID(ctx, other)
	if err != nil || foreign == first {
		t.Errorf("issued for another organisation: %q, %v; want one of its own", foreign, err)
	}
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		return all(tx.ClaimExternalID(first), tx.ClaimExternalID("self-made"), tx.ClaimExternalID("self-made"))
	})
	for _, id := range []string{first, "self-made"} {
		err := f.Store.Onboard(ctx, other, func(tx posture.OnboardingTx) error { return tx.ClaimExternalID(id) })
		wantKind(t, "ClaimExternalID of another's "+id, err, fault.Conflict)
		wantKind(t, "CheckExternalID of another's "+id, f.Store.CheckExternalID(ctx, other, id), fault.Conflict)
		if err := f.Store.CheckExternalID(ctx, org, id); err != nil {
			t.Errorf("CheckExternalID of one's own %s: %v", id, err)
		}
	}
	if err := f.Store.CheckExternalID(ctx, other, "nobody's"); err != nil {
		t.Errorf("CheckExternalID of an unclaimed id: %v", err)
	}
}
