package auth_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/auth"
	"vigil/internal/fault"
)

func edit(u auth.User, role auth.Role) auth.UserEdit {
	return auth.UserEdit{Name: u.Name, Email: u.Email, Role: role, Disabled: u.Disabled}
}

func TestChangesOfUsersRequireTheirVersion(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p, ctx := h.process(t), t.Context()
		admin, _ := p.org(t, "acme")
		u, err := p.AddUser(ctx, admin, auth.UserEdit{Name: " Zoë Q ", Email: "zoe@example.org", Role: auth.Viewer})
		if err != nil || u.Name != "Zoë Q" || u.Version != 1 {
			t.Fatalf("AddUser = %+v, %v", u, err)
		}
		h.clock.pass(time.Minute)
		changed, err := p.ChangeUser(ctx, admin, u.ID, 1, auth.UserEdit{Name: "Zoe", Role: auth.Analyst})
		if err != nil || changed.Version != 2 {
			t.Fatalf("ChangeUser = %+v, %v", changed, err)
		}
		got, err := p.User(ctx, admin, u.ID)
		want := u
		want.Name, want.Email, want.Role, want.Version = "Zoe", "", auth.Analyst, 2
		want.CreatedAt, want.UpdatedAt = want.CreatedAt.Truncate(time.Millisecond), h.clock.now().Truncate(time.Millisecond)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("User: %v (-want +got)\n%s", err, diff)
		}
		_, err = p.ChangeUser(ctx, admin, u.ID, 1, edit(u, auth.Viewer))
		wantKind(t, "stale change", err, fault.Stale)
		_, err = p.RemoveUser(ctx, admin, u.ID, 1)
		wantKind(t, "stale removal", err, fault.Stale)
		if deleted, err := p.RemoveUser(ctx, admin, u.ID, 2); err != nil || deleted.Name != "Zoe" {
			t.Errorf("RemoveUser = %+v, %v", deleted, err)
		}
		_, err = p.RemoveUser(ctx, admin, u.ID, 0)
		wantKind(t, "second removal", err, fault.NotFound)
		all, err := p.Users(ctx, admin)
		if err != nil || len(all) != 1 || all[0].ID != admin.User {
			t.Errorf("users left: %+v, %v", all, err)
		}
	})
}

func TestBadUsersAndTokensAreRefused(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).process(t)
	admin, _ := p.org(t, "acme")
	for name, e := range map[string]auth.UserEdit{
		"no name":                 {Role: auth.Viewer},
		"blank name":              {Name: " \t", Role: auth.Viewer},
		"long name":               {Name: strings.Repeat("x", 201), Role: auth.Viewer},
		"line break":              {Name: "a\nb", Role: auth.Viewer},
		"no role":                 {Name: "x"},
		"bad address":             {Name: "x", Role: auth.Viewer, Email: "nobody"},
		"name before the address": {Name: "x", Role: auth.Viewer, Email: "X <a@b.c>"},
	} {
		_, err := p.AddUser(t.Context(), admin, e)
		wantKind(t, name, err, fault.Invalid)
	}
	for name, e := range map[string]auth.TokenEdit{
		"no name":      {},
		"past expiry":  {Name: "x", ExpiresAt: time.Unix(1, 0)},
		"unknown user": {Name: "x", User: "nobody"},
	} {
		_, _, err := p.IssueToken(t.Context(), admin, e)
		wantKind(t, name, err, fault.Invalid)
	}
	_, err := p.AddUser(t.Context(), admin, auth.UserEdit{Name: "ADMIN", Role: auth.Viewer})
	wantKind(t, "same name in other case", err, fault.Conflict)
	_, _, err = p.CreateOrg(t.Context(), "ACME", "x")
	wantKind(t, "same organisation in other case", err, fault.Conflict)
	u, err := p.AddUser(t.Context(), admin, auth.UserEdit{Name: "x", Role: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.ChangeUser(t.Context(), admin, u.ID, 0, auth.UserEdit{Name: "Admin", Role: auth.Viewer})
	wantKind(t, "renamed to a taken name", err, fault.Conflict)
}

func TestCallersGrantNoMoreThanTheyHave(t *testing.T) {
	t.Parallel()
	p, ctx := onSQLite(t).process(t), t.Context()
	admin, _ := p.org(t, "acme")
	u, _, _ := p.user(t, admin, "ana", auth.Analyst)
	analyst := auth.Caller{Org: admin.Org, User: u.ID, Role: auth.Analyst}
	_, _, err := p.IssueToken(ctx, analyst, auth.TokenEdit{Name: "x", User: admin.User, Role: auth.Admin})
	wantKind(t, "analyst issues an admin's token", err, fault.Forbidden)
	token, _, err := p.IssueToken(ctx, analyst, auth.TokenEdit{Name: "x", User: admin.User})
	if err != nil || token.Role != auth.Analyst {
		t.Errorf("token without a requested role has %s, %v; want the issuer's", token.Role, err)
	}
	_, err = p.AddUser(ctx, analyst, auth.UserEdit{Name: "y", Role: auth.Admin})
	wantKind(t, "analyst adds an admin", err, fault.Forbidden)
	_, err = p.ChangeUser(ctx, analyst, admin.User, 0, auth.UserEdit{Name: "y", Role: auth.Viewer})
	wantKind(t, "analyst lowers an admin", err, fault.Forbidden)
	_, _, err = p.IssueToken(ctx, admin, auth.TokenEdit{Name: "x", User: u.ID, Role: auth.Admin})
	wantKind(t, "token with more rights than its user", err, fault.Invalid)
	// A token with role viewer grants only that role, even to an admin.
	low, text, err := p.IssueToken(ctx, admin, auth.TokenEdit{Name: "low", Role: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	caller, err := p.Identify(ctx, p.access(t, text), "")
	if err != nil || caller.Role != auth.Viewer || caller.Token != low.ID {
		t.Errorf("caller %+v, %v", caller, err)
	}
}

func TestLastAdminCannotBeRemoved(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p, ctx := h.process(t), t.Context()
		admin, _ := p.org(t, "acme")
		user, err := p.User(ctx, admin, admin.User)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.ChangeUser(ctx, admin, user.ID, 0, edit(user, auth.Analyst))
		wantKind(t, "demoted", err, fault.Conflict)
		_, err = p.ChangeUser(ctx, admin, user.ID, 0, auth.UserEdit{Name: user.Name, Role: auth.Admin, Disabled: true})
		wantKind(t, "disabled", err, fault.Conflict)
		_, err = p.RemoveUser(ctx, admin, user.ID, 0)
		wantKind(t, "removed", err, fault.Conflict)

		// Of two admins, one is demoted and the other is removed at the same time: only one of
		// the changes succeeds.
		for round := range 10 {
			other, _, _ := p.user(t, admin, fmt.Sprint("other", round), auth.Admin)
			var wg sync.WaitGroup
			errs := make([]error, 2)
			for i, u := range []auth.User{user, other} {
				wg.Go(func() {
					if (round+i)%2 == 0 {
						_, errs[i] = p.ChangeUser(ctx, admin, u.ID, 0, edit(u, auth.Viewer))
					} else {
						_, errs[i] = p.RemoveUser(ctx, admin, u.ID, 0)
					}
				})
			}
			wg.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("round %d: %v, want exactly one error", round, errs)
			}
			all, err := p.Users(ctx, admin)
			if err != nil {
				t.Fatal(err)
			}
			admins := 0
			for _, u := range all {
				if u.Role == auth.Admin {
					admins++
					user = u
				}
			}
			if admins != 1 {
				t.Fatalf("round %d: %d admins", round, admins)
			}
		}
	})
}

func TestOnlyOneOfConcurrentChangesSucceeds(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p, ctx := h.process(t), t.Context()
		admin, _ := p.org(t, "acme")
		u, _, _ := p.user(t, admin, "ana", auth.Viewer)
		var wg sync.WaitGroup
		won := make(chan string, 16)
		for i := range 16 {
			wg.Go(func() {
				e := auth.UserEdit{Name: fmt.Sprint("ana", i), Role: auth.Viewer}
				switch _, err := p.ChangeUser(ctx, admin, u.ID, u.Version, e); {
				case err == nil:
					won <- e.Name
				case !fault.Is(err, fault.Stale):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("%d writers won", len(won))
		}
		if got, err := p.User(ctx, admin, u.ID); err != nil || got.Name != <-won {
			t.Errorf("stored %+v, %v", got, err)
		}
	})
}

func TestOrganisationsDoNotSeeEachOther(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p, ctx := h.process(t), t.Context()
		ownCaller, _ := p.org(t, "mine")
		foreign, _ := p.org(t, "theirs")
		u, token, _ := p.user(t, foreign, "ana", auth.Viewer)
		requireSameError := func(what string, foreignErr, unknownErr error) {
			t.Helper()
			if foreignErr == nil || unknownErr == nil || foreignErr.Error() != unknownErr.Error() || fault.KindOf(foreignErr) != fault.KindOf(unknownErr) {
				t.Errorf("%s: %v, and for an unknown id %v", what, foreignErr, unknownErr)
			}
		}
		_, a := p.User(ctx, ownCaller, u.ID)
		_, b := p.User(ctx, ownCaller, "nobody")
		requireSameError("read user", a, b)
		_, a = p.ChangeUser(ctx, ownCaller, u.ID, 0, edit(u, auth.Admin))
		_, b = p.ChangeUser(ctx, ownCaller, "nobody", 0, edit(u, auth.Admin))
		requireSameError("change user", a, b)
		_, a = p.RemoveUser(ctx, ownCaller, u.ID, 0)
		_, b = p.RemoveUser(ctx, ownCaller, "nobody", 0)
		requireSameError("remove user", a, b)
		_, a = p.RevokeToken(ctx, ownCaller, token.ID)
		_, b = p.RevokeToken(ctx, ownCaller, "nobody")
		requireSameError("revoke token", a, b)
		_, _, a = p.IssueToken(ctx, ownCaller, auth.TokenEdit{Name: "x", User: u.ID})
		_, _, b = p.IssueToken(ctx, ownCaller, auth.TokenEdit{Name: "x", User: "nobody"})
		requireSameError("issue token", a, b)
		users, err := p.Users(ctx, ownCaller)
		if err != nil || len(users) != 1 {
			t.Errorf("users %+v, %v", users, err)
		}
		tokens, err := p.Tokens(ctx, ownCaller)
		if err != nil || len(tokens) != 1 {
			t.Errorf("tokens %+v, %v", tokens, err)
		}
		if got, err := p.User(ctx, foreign, u.ID); err != nil || got.Role != auth.Viewer {
			t.Errorf("their user afterwards: %+v, %v", got, err)
		}
	})
}
