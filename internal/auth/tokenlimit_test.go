package auth_test

import (
	"slices"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/fault"
)

func TestTokenLimitsAreChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		scopes, addresses []string
		want              auth.TokenLimits
		bad               bool
	}{
		{nil, nil, auth.TokenLimits{}, false},
		{[]string{"Rules", "findings", "rules"}, nil, auth.TokenLimits{Scopes: "findings,rules"}, false},
		{nil, []string{"192.0.2.7", " 10.1.2.3/8", "::ffff:192.0.2.7", "2001:db8::1/32"}, auth.TokenLimits{Addresses: "10.0.0.0/8,192.0.2.7/32,2001:db8::/32"}, false},
		{[]string{"everything"}, nil, auth.TokenLimits{}, true},
		{[]string{""}, nil, auth.TokenLimits{}, true},
		{nil, []string{"example.com"}, auth.TokenLimits{}, true},
		{nil, []string{"10.0.0.0/33"}, auth.TokenLimits{}, true},
		{nil, []string{"fe80::1%eth0"}, auth.TokenLimits{}, true},
		{nil, slices.Repeat([]string{"192.0.2.7"}, 50), auth.TokenLimits{Addresses: "192.0.2.7/32"}, false},
		{nil, slices.Repeat([]string{"192.0.2.7"}, 51), auth.TokenLimits{}, true},
	} {
		got, err := auth.NewTokenLimits(tt.scopes, tt.addresses)
		if got != tt.want || (err != nil) != tt.bad || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%v %v: %+v, %v; want %+v", tt.scopes, tt.addresses, got, err, tt.want)
		}
	}
}

func TestTokensAreLimitedToTheirAddresses(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p := h.process(t)
		admin, _ := p.org(t, "acme")
		limits, err := auth.NewTokenLimits(nil, []string{"192.0.2.0/24"})
		if err != nil {
			t.Fatal(err)
		}
		_, text, err := p.IssueToken(t.Context(), admin, auth.TokenEdit{Name: "office", Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Exchange(t.Context(), text, "198.51.100.1")
		wantKind(t, "exchange from another address", err, fault.Invalid)
		g, err := p.Exchange(t.Context(), text, "192.0.2.9")
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Identify(t.Context(), g.AccessToken.Reveal(), "198.51.100.1")
		wantKind(t, "the access token from another address", err, fault.Unauthenticated)
		caller, err := p.Identify(t.Context(), g.AccessToken.Reveal(), "::ffff:192.0.2.10")
		if err != nil || caller.Limits != limits {
			t.Errorf("from the allowed address: %+v, %v; want the limits %+v", caller, err, limits)
		}
	})
}

func TestLimitedTokensCannotCreateLessLimitedOnes(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).process(t)
	admin, _ := p.org(t, "acme")
	limits := func(scopes, addresses []string) auth.TokenLimits {
		l, err := auth.NewTokenLimits(scopes, addresses)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	admin.Limits = limits([]string{"administration", "findings"}, []string{"10.0.0.0/8"})
	for _, tt := range []struct {
		limits auth.TokenLimits
		ok     bool
	}{
		{auth.TokenLimits{}, false},
		{limits([]string{"findings"}, nil), false},
		{limits(nil, []string{"10.1.0.0/16"}), false},
		{limits([]string{"rules"}, []string{"10.1.0.0/16"}), false},
		{limits([]string{"findings"}, []string{"10.1.0.0/16", "192.0.2.1"}), false},
		{limits([]string{"findings"}, []string{"0.0.0.0/0"}), false},
		{limits([]string{"findings"}, []string{"10.1.0.0/16"}), true},
		{admin.Limits, true},
	} {
		_, _, err := p.IssueToken(t.Context(), admin, auth.TokenEdit{Name: "x", Limits: tt.limits})
		if (err == nil) != tt.ok || err != nil && !fault.Is(err, fault.Forbidden) {
			t.Errorf("limits %+v: %v, want them accepted: %t", tt.limits, err, tt.ok)
		}
	}
}

func TestTokensExpireAfterTheConfiguredLifetime(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	p := h.process(t)
	admin, _ := p.org(t, "acme")
	for lifetime, want := range map[time.Duration]time.Duration{0: 90 * 24 * time.Hour, time.Hour: time.Hour} {
		p.TokenLife = lifetime
		token, text, err := p.IssueToken(t.Context(), admin, auth.TokenEdit{Name: "x"})
		if err != nil || !token.ExpiresAt.Equal(h.clock.now().Add(want)) {
			t.Errorf("lifetime %s: expires %s, %v; want %s from now", lifetime, token.ExpiresAt, err, want)
		}
		h.clock.pass(want)
		_, err = p.Exchange(t.Context(), text, "192.0.2.1")
		wantKind(t, "exchange after expiry", err, fault.Invalid)
	}
}
