package auth_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/secret"
)

func TestDelayDoublesAfterTheFreeFailures(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{
		0: 0, 5: 0, 6: time.Second, 7: 2 * time.Second, 10: 16 * time.Second, 14: 256 * time.Second, 15: 5 * time.Minute, 1 << 30: 5 * time.Minute,
	} {
		if got := auth.Delay(failures, 5, 5*time.Minute); got != want {
			t.Errorf("after %d failures: %s, want %s", failures, got, want)
		}
	}
}

// TestValidTokenIsAcceptedWhileOthersAtTheAddressFail sends hundreds of invalid
// tokens from one address. The first 100 fail without a wait.
func TestValidTokenIsAcceptedWhileOthersAtTheAddressFail(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p := h.process(t)
		_, valid := p.org(t, "acme")
		var last time.Duration
		for i := range 300 {
			_, err := p.Exchange(t.Context(), secret.NewText("guess"), "192.0.2.1")
			f, _ := errors.AsType[*fault.Error](err)
			switch {
			case i < 100 && f.Kind != fault.Invalid:
				t.Fatalf("failure %d: %v", i, err)
			case i >= 100 && (f.Kind != fault.Limited || f.After < last || f.After == 0):
				t.Fatalf("failure %d: %v, wait %s after %s", i, err, f.After, last)
			}
			last = f.After
		}
		if last != 5*time.Minute {
			t.Errorf("after 300 failures the wait is %s, want the longest, 5 minutes", last)
		}
		if _, err := p.Exchange(t.Context(), valid, "192.0.2.1"); err != nil {
			t.Errorf("a good token from the same address: %v", err)
		}
		h.clock.pass(15 * time.Minute)
		_, err := p.Exchange(t.Context(), secret.NewText("guess"), "192.0.2.1")
		wantKind(t, "a bad token after the window", err, fault.Invalid)
	})
}

func TestOldestLoginNetworkIsEvictedFirst(t *testing.T) {
	t.Parallel()
	newestFirst := make([]auth.LoginNetwork, auth.MaxLoginNetworks)
	for i := range newestFirst {
		newestFirst[i] = auth.LoginNetwork{Account: fmt.Sprint(i), Network: "192.0.2.1"}
	}
	load := func(context.Context) ([]auth.LoginNetwork, error) { return newestFirst, nil }
	n := auth.NewLoginNetworks(load, time.Now)
	if _, err := n.Has(t.Context(), "new", "192.0.2.1"); err != nil { // loads, and fills the cache
		t.Fatal(err)
	}
	n.Add("new", "192.0.2.1")
	newest, oldest := newestFirst[0].Account, newestFirst[auth.MaxLoginNetworks-1].Account
	if !n.Any(newest) || n.Any(oldest) {
		t.Errorf("the cache has the newest network: %t, the oldest: %t; want only the newest", n.Any(newest), n.Any(oldest))
	}
}

func TestNetworksOfTokensAreSharedBetweenProcesses(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p, other := h.process(t), h.process(t)
		_, text := p.org(t, "acme")
		known := func(p *process, address string) bool { return p.KnownAccount(t.Context(), text, address) != "" }
		if known(p, "192.0.2.1") || known(other, "192.0.2.1") {
			t.Error("an unused token has a known network")
		}
		if _, err := p.Exchange(t.Context(), text, "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.clock.pass(time.Minute)
		if !known(p, "192.0.2.1") || !known(other, "192.0.2.1") || !known(p, "::ffff:192.0.2.1") {
			t.Error("the network of a used token is unknown")
		}
		if known(p, "192.0.2.2") || p.KnownAccount(t.Context(), secret.NewText("guess"), "192.0.2.1") != "" {
			t.Error("a token is known in a network where it was not used")
		}
	})
}
