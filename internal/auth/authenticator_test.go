package auth_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/secret"
)

// part decodes one part of a JWT.
func part(t *testing.T, token string, i int) map[string]any {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[i])
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestExchangeReturnsTokensWithIdentityAndLifetime(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p := h.process(t)
		admin, text := p.org(t, "acme")
		g, err := p.Exchange(t.Context(), text, "192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		if g.ValidFor != 1799*time.Second || g.Scope != "openid viewer analyst admin" {
			t.Errorf("the response promises %s with the scope %q, want 1799 seconds with all roles", g.ValidFor, g.Scope)
		}
		access, id := g.AccessToken.Reveal(), g.IDToken.Reveal()
		if got := part(t, access, 0); got["typ"] != "at+jwt" || got["alg"] != "EdDSA" || got["kid"] == "" {
			t.Errorf("header %v, want an access token signed with EdDSA and a key id", got)
		}
		now := float64(h.clock.now().Unix())
		claims := part(t, access, 1)
		if claims["jti"] == part(t, id, 1)["jti"] {
			t.Error("two tokens share an id")
		}
		delete(claims, "jti")
		want := map[string]any{
			"iss": issuer, "aud": "posture", "sub": string(admin.User), "org": string(admin.Org),
			"roles": []any{"admin"}, "sid": string(admin.Token), "iat": now, "nbf": now, "exp": now + 1800,
		}
		if diff := cmp.Diff(want, claims); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
		caller, err := p.Identify(t.Context(), access, "192.0.2.1")
		if diff := cmp.Diff(admin, caller); err != nil || diff != "" {
			t.Errorf("Identify: %v\n%s", err, diff)
		}
		_, err = p.Identify(t.Context(), id, "")
		wantKind(t, "id_token as access token", err, fault.Unauthenticated)
		// The access token is valid for the time that the response promises, and at most a second longer.
		h.clock.pass(1799 * time.Second)
		if _, err := p.Identify(t.Context(), access, ""); err != nil {
			t.Errorf("after 1799 s: %v", err)
		}
		h.clock.pass(time.Second)
		_, err = p.Identify(t.Context(), access, "")
		wantKind(t, "after 1800 s", err, fault.Unauthenticated)
	})
}

func TestInvalidAPITokensFailWithTheSameMessage(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p := h.process(t)
		ctx := t.Context()
		admin, _ := p.org(t, "acme")
		other, otherText := p.org(t, "other")
		_, revoked, revokedText := p.user(t, admin, "revoked", auth.Viewer)
		u, _, disabledText := p.user(t, admin, "disabled", auth.Viewer)
		deleted, _, goneText := p.user(t, admin, "gone", auth.Viewer)
		_, expiredText, err := p.IssueToken(ctx, admin, auth.TokenEdit{Name: "short", ExpiresAt: h.clock.now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]secret.Text{"short": expiredText, "revoked": revokedText, "other": otherText} {
			if _, err := p.Exchange(ctx, text, ""); err != nil {
				t.Fatalf("%s fails before the change: %v", name, err)
			}
		}
		_, disableErr := p.ChangeUser(ctx, admin, u.ID, 0, auth.UserEdit{Name: u.Name, Role: u.Role, Disabled: true})
		_, revokeErr := p.RevokeToken(ctx, admin, revoked.ID)
		_, removeErr := p.RemoveUser(ctx, admin, deleted.ID, 0)
		if err := errors.Join(disableErr, revokeErr, removeErr, p.SetOrgDisabled(ctx, other.Org, true)); err != nil {
			t.Fatal(err)
		}
		h.clock.pass(time.Hour)
		for name, text := range map[string]secret.Text{
			"expired": expiredText, "revoked": revokedText, "disabled user": disabledText, "removed user": goneText,
			"disabled organisation": otherText, "unknown": secret.NewText("vgl_" + strings.Repeat("0", 49)),
			"malformed": secret.NewText("no-such-token"), "empty": {},
		} {
			_, err := p.Exchange(ctx, text, "")
			wantKind(t, name, err, fault.Invalid)
			// The message is for the client; err.Error has the cause too, for the log.
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Message != "the API token is not valid" || len(f.Details) > 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestRevocationTakesEffectAtOnce covers the process that makes the change and
// another that detects it.
func TestRevocationTakesEffectAtOnce(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, p *process, admin auth.Caller, u auth.User, token auth.Token) error{
		"token revoked": func(t *testing.T, p *process, admin auth.Caller, _ auth.User, token auth.Token) error {
			_, err := p.RevokeToken(t.Context(), admin, token.ID)
			return err
		},
		"user disabled": func(t *testing.T, p *process, admin auth.Caller, u auth.User, _ auth.Token) error {
			_, err := p.ChangeUser(t.Context(), admin, u.ID, 0, auth.UserEdit{Name: u.Name, Role: u.Role, Disabled: true})
			return err
		},
		"user removed": func(t *testing.T, p *process, admin auth.Caller, u auth.User, _ auth.Token) error {
			_, err := p.RemoveUser(t.Context(), admin, u.ID, 0)
			return err
		},
		"organisation disabled": func(t *testing.T, p *process, admin auth.Caller, _ auth.User, _ auth.Token) error {
			return p.SetOrgDisabled(t.Context(), admin.Org, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBothDatabases(t, func(t *testing.T, h *fixture) {
				first, second := h.process(t), h.process(t)
				admin, _ := first.org(t, "acme")
				u, token, text := first.user(t, admin, "ana", auth.Analyst)
				access := first.access(t, text)
				for _, p := range []*process{first, second} {
					if c, err := p.Identify(t.Context(), access, ""); err != nil || c.Role != auth.Analyst {
						t.Fatalf("before the change: %+v, %v; want an analyst", c, err)
					}
				}
				if err := change(t, first, admin, u, token); err != nil {
					t.Fatal(err)
				}
				_, err := first.Identify(t.Context(), access, "")
				wantKind(t, "same process, no time passed", err, fault.Unauthenticated)
				h.clock.pass(time.Second)
				_, err = second.Identify(t.Context(), access, "")
				wantKind(t, "other process, one second later", err, fault.Unauthenticated)
			})
		})
	}
}

func TestChangedRoleAppliesToAccessTokens(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		first, second := h.process(t), h.process(t)
		admin, _ := first.org(t, "acme")
		u, _, text := first.user(t, admin, "ana", auth.Analyst)
		access := first.access(t, text)
		for _, step := range []struct {
			to                         auth.Role
			withOldToken, withNewToken auth.Role
			description                string
		}{
			{auth.Viewer, auth.Viewer, auth.Viewer, "lowered"},
			// The API token was issued for an analyst and never grants more.
			{auth.Admin, auth.Analyst, auth.Analyst, "raised"},
		} {
			if _, err := second.Identify(t.Context(), access, ""); err != nil {
				t.Fatal(err)
			}
			if _, err := first.ChangeUser(t.Context(), admin, u.ID, 0, auth.UserEdit{Name: u.Name, Role: step.to}); err != nil {
				t.Fatal(err)
			}
			h.clock.pass(time.Second)
			for name, p := range map[string]*process{"here": first, "there": second} {
				if c, err := p.Identify(t.Context(), access, ""); err != nil || c.Role != step.withOldToken {
					t.Errorf("%s %s: old token gives %s, %v; want %s", step.description, name, c.Role, err, step.withOldToken)
				}
				if c, err := p.Identify(t.Context(), first.access(t, text), ""); err != nil || c.Role != step.withNewToken {
					t.Errorf("%s %s: new token gives %s, %v; want %s", step.description, name, c.Role, err, step.withNewToken)
				}
			}
		}
		if _, err := first.ChangeUser(t.Context(), admin, u.ID, 0, auth.UserEdit{Name: u.Name, Role: auth.Viewer}); err != nil {
			t.Fatal(err)
		}
		viewerAccess := first.access(t, text)
		if _, err := first.ChangeUser(t.Context(), admin, u.ID, 0, auth.UserEdit{Name: u.Name, Role: auth.Admin}); err != nil {
			t.Fatal(err)
		}
		if c, err := first.Identify(t.Context(), viewerAccess, ""); err != nil || c.Role != auth.Viewer {
			t.Errorf("a token signed for a viewer gives %s, %v; want viewer", c.Role, err)
		}
	})
}

func TestLastUseOfTokensIsRecordedOncePerMinute(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p := h.process(t)
		admin, text := p.org(t, "acme")
		last := func() (time.Time, string) {
			t.Helper()
			if err := p.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			all, err := p.Tokens(t.Context(), admin)
			if err != nil || len(all) != 1 {
				t.Fatalf("%d tokens, %v", len(all), err)
			}
			return all[0].LastUsedAt, all[0].LastAddress
		}
		if at, _ := last(); !at.IsZero() {
			t.Errorf("used at %s before any use", at)
		}
		access := p.access(t, text)
		first := h.clock.now()
		// The exchange above was not written yet, so that the first Identify replaces it as the last use.
		// The other two follow within a minute and are not recorded.
		for i := range 3 {
			if _, err := p.Identify(t.Context(), access, fmt.Sprint("192.0.2.", i)); err != nil {
				t.Fatal(err)
			}
			if at, addr := last(); !at.Equal(first) || addr != "192.0.2.0" {
				t.Errorf("use %d: recorded %s from %s, want %s from 192.0.2.0", i, at, addr, first)
			}
			h.clock.pass(20 * time.Second)
		}
		if _, err := p.Identify(t.Context(), access, "192.0.2.9"); err != nil {
			t.Fatal(err)
		}
		if at, addr := last(); !at.Equal(first.Add(time.Minute)) || addr != "192.0.2.9" {
			t.Errorf("after a minute: recorded %s from %s, want %s from 192.0.2.9", at, addr, first.Add(time.Minute))
		}
	})
}

func TestUsersAreSeenWhenTheirTokensAreUsed(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p := h.process(t)
		admin, text := p.org(t, "acme")
		other, err := p.AddUser(t.Context(), admin, auth.UserEdit{Name: "other", Role: auth.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Identify(t.Context(), p.access(t, text), ""); err != nil {
			t.Fatal(err)
		}
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		users, err := p.Users(t.Context(), admin)
		if err != nil || len(users) != 2 {
			t.Fatalf("%d users, %v", len(users), err)
		}
		for _, listed := range users {
			want := time.Time{}
			if listed.ID != other.ID {
				want = h.clock.now()
			}
			one, err := p.User(t.Context(), admin, listed.ID)
			if err != nil || !listed.LastSeenAt.Equal(want) || !one.LastSeenAt.Equal(want) {
				t.Errorf("%s was last seen at %s in the list of users, at %s in the single user, %v; want %s", listed.Name, listed.LastSeenAt, one.LastSeenAt, err, want)
			}
		}
	})
}

func TestTokensExpireByDefault(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	p := h.process(t)
	_, text := p.org(t, "acme")
	h.clock.pass(auth.DefaultTokenLife - time.Minute)
	if _, err := p.Exchange(t.Context(), text, ""); err != nil {
		t.Errorf("shortly before it expires: %v", err)
	}
	h.clock.pass(time.Minute)
	_, err := p.Exchange(t.Context(), text, "")
	wantKind(t, "after it expired", err, fault.Invalid)
}
