package auth_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/auth/authdb"
	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

// plainSealer is a sealer that does not encrypt, for tests without a database.
type plainSealer struct{}

func (plainSealer) Seal(_ context.Context, _ secret.Cell, b []byte) ([]byte, error) { return b, nil }
func (plainSealer) Open(_ context.Context, _ secret.Cell, b []byte) ([]byte, error) { return b, nil }

// memoryKeyStore is an in-memory key store that fails when down is set.
type memoryKeyStore struct {
	mu   sync.Mutex
	keys []auth.SigningKey
	down error
}

func (o *memoryKeyStore) SigningKeys(context.Context, string) ([]auth.SigningKey, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]auth.SigningKey(nil), o.keys...), o.down
}

func (o *memoryKeyStore) AddSigningKey(_ context.Context, k auth.SigningKey, _ bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keys = append(o.keys, k)
	return o.down
}

func (o *memoryKeyStore) DropSigningKeys(context.Context, string, int64) error { return o.down }

func kids(t *testing.T, k *auth.Keys) []string {
	t.Helper()
	set, err := k.Published(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, key := range set.Keys {
		if !key.IsPublic() || key.Use != "sig" || key.Algorithm != "EdDSA" {
			t.Errorf("published %+v", key)
		}
		ids = append(ids, key.KeyID)
	}
	data, err := json.Marshal(set)
	if err != nil || strings.Contains(string(data), `"d"`) {
		t.Errorf("published %s, %v", data, err)
	}
	return ids
}

func kid(t *testing.T, token string) string {
	t.Helper()
	return part(t, token, 0)["kid"].(string)
}

func TestRotatedKeyIsPublishedFirstAndEndsNoSession(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		first, second := h.process(t), h.process(t)
		_, text := first.org(t, "acme")
		before := first.access(t, text)
		if err := first.keys.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.clock.pass(6 * time.Second) // a process caches the keys for 5 seconds
		published := kids(t, second.keys)
		if len(published) != 2 || published[0] != kid(t, before) {
			t.Fatalf("the other process publishes %v", published)
		}
		if got := kid(t, first.access(t, text)); got != published[0] {
			t.Errorf("signs with %s before its lead time has passed", got)
		}
		h.clock.pass(10 * time.Minute)
		after := first.access(t, text)
		if got := kid(t, after); got != published[1] {
			t.Errorf("signs with %s, want the new key", got)
		}
		for name, p := range map[string]*process{"here": first, "there": second} {
			for _, token := range []string{before, after} {
				if _, err := p.Identify(t.Context(), token, ""); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		// The old key is removed once every token that it signed has expired.
		h.clock.pass(32 * time.Minute)
		if err := second.keys.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.clock.pass(6 * time.Second)
		if got := kids(t, first.keys); len(got) != 1 || got[0] != published[1] {
			t.Errorf("published in the end: %v", got)
		}
	})
}

// TestOldKeyIsRefusedAfterTheOverlap checks that the old key is refused when its last
// token has expired, even if Maintain was not called and the key is still stored.
func TestOldKeyIsRefusedAfterTheOverlap(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	p := h.process(t)
	old := kids(t, p.keys)[0]
	private := realKey(t, h, old)
	if err := p.keys.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.clock.pass(10*time.Minute + 31*time.Minute + time.Second) // Lead, then MaxLife and Leeway
	_, text := p.org(t, "acme")
	valid := p.access(t, text)
	header := with(part(t, valid, 0), object{"kid": old})
	token := forge(header, part(t, valid, 1), func(in []byte) []byte { return ed25519.Sign(private, in) })
	_, err := p.Identify(t.Context(), token, "")
	wantKind(t, "old key", err, fault.Unauthenticated)
}

func TestKeysRotateAutomatically(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	p := h.process(t)
	p.TokenLife = 365 * 24 * time.Hour
	seen := map[string]bool{}
	_, text := p.org(t, "acme")
	for range 200 {
		if err := p.keys.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen[kid(t, p.access(t, text))] = true
		h.clock.pass(24 * time.Hour)
	}
	if len(seen) != 3 {
		t.Errorf("%d keys signed in 200 days, want 3", len(seen))
	}
	if n := len(kids(t, p.keys)); n > 2 {
		t.Errorf("%d keys are published, want at most 2", n)
	}
}

func TestReplacedKeyIsInvalidAtOnce(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		first, second := h.process(t), h.process(t)
		_, text := first.org(t, "acme")
		leaked := first.access(t, text)
		if err := first.keys.Replace(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := first.Identify(t.Context(), leaked, "")
		wantKind(t, "same process", err, fault.Unauthenticated)
		h.clock.pass(5 * time.Second)
		_, err = second.Identify(t.Context(), leaked, "")
		wantKind(t, "other process", err, fault.Unauthenticated)
		if _, err := second.Identify(t.Context(), first.access(t, text), ""); err != nil {
			t.Errorf("new token: %v", err)
		}
	})
}

func TestProcessesThatStartTogetherAgreeOnOneKey(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		var wg sync.WaitGroup
		var all [6]*auth.Keys
		for i := range all {
			all[i] = auth.NewKeys(authdb.NewStore(h.db), h.box, auth.KeyOptions{Realm: "r", Issuer: issuer, Now: h.clock.now})
			wg.Go(func() {
				if err := all[i].Maintain(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, k := range all {
			if got := kids(t, k); len(got) != 1 || got[0] != kids(t, all[0])[0] {
				t.Errorf("a process publishes the keys %v, want one key, the same in all processes", got)
			}
		}
	})
}

func TestKeysSurviveAShortOutageOfTheStore(t *testing.T) {
	t.Parallel()
	c, store := newClock(), &memoryKeyStore{}
	keys := auth.NewKeys(store, plainSealer{}, auth.KeyOptions{Realm: "r", Issuer: "i", Now: c.now})
	sign := func() (string, error) {
		return keys.Sign(t.Context(), auth.PlainType, auth.Claims{Audience: "a", Subject: "s", ExpiresAt: c.now().Add(time.Minute)})
	}
	if _, err := sign(); err != nil {
		t.Fatal(err)
	}
	store.mu.Lock()
	store.down = fault.New(fault.Unavailable, "down")
	store.mu.Unlock()
	c.pass(30 * time.Second)
	if _, err := sign(); err != nil {
		t.Errorf("after 30 s: %v", err)
	}
	c.pass(time.Minute)
	_, err := sign()
	wantKind(t, "after 90 s", err, fault.Unavailable)
	_, err = keys.Verify(t.Context(), "x.y.z", auth.Want{})
	wantKind(t, "garbage needs no store", err, fault.Unauthenticated)
}

func TestSignRefusesInvalidClaims(t *testing.T) {
	t.Parallel()
	c := newClock()
	keys := auth.NewKeys(&memoryKeyStore{}, plainSealer{}, auth.KeyOptions{Realm: "r", Issuer: "i", Now: c.now})
	for name, claims := range map[string]auth.Claims{
		"no expiry":         {Subject: "s"},
		"already expired":   {Subject: "s", ExpiresAt: c.now()},
		"lifetime too long": {Subject: "s", ExpiresAt: c.now().Add(31 * time.Minute)},
		"extra claim exp":   {Subject: "s", ExpiresAt: c.now().Add(time.Minute), Extra: map[string]any{"exp": 1}},
	} {
		if _, err := keys.Sign(t.Context(), auth.PlainType, claims); err == nil {
			t.Errorf("%s: the claims were signed, want an error", name)
		}
	}
}

func TestRotationUnderLoadFailsNoRequest(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p, q := h.process(t), h.process(t)
		_, text := p.org(t, "acme")
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 25 {
					g, err := p.Exchange(t.Context(), text, "")
					if err == nil {
						_, err = q.Identify(t.Context(), g.AccessToken.Reveal(), "")
					}
					if err != nil {
						t.Error(fmt.Errorf("worker %d, round %d: %w", w, i, err))
					}
				}
			})
		}
		wg.Go(func() {
			for range 5 {
				if err := q.keys.Rotate(t.Context()); err != nil {
					t.Error(err)
				}
				h.clock.pass(5 * time.Minute) // 25 in all: no token expires
			}
		})
		wg.Wait()
	})
}

// TestSwappedPrivateKeysDoNotSign models an attacker with write access to the
// database who swaps two sealed keys.
func TestSwappedPrivateKeysDoNotSign(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, h *fixture) {
		p := h.process(t)
		_, text := p.org(t, "acme")
		if err := p.keys.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := h.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`
				UPDATE auth_signing_key
				SET sealed = (SELECT o.sealed FROM auth_signing_key o WHERE o.number <> auth_signing_key.number)`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		fresh := auth.NewKeys(authdb.NewStore(h.db), h.box, auth.KeyOptions{Realm: "posture", Issuer: issuer, Now: h.clock.now})
		gate := auth.NewAuthenticator(p.Registry, fresh, auth.AuthenticatorOptions{Audience: "posture"})
		if _, err := gate.Exchange(t.Context(), text, ""); !errors.Is(err, secret.ErrOpen) {
			t.Errorf("Exchange = %v, want ErrOpen", err)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	keys := auth.NewKeys(&memoryKeyStore{}, plainSealer{}, auth.KeyOptions{Realm: "r", Issuer: "i"})
	token, err := keys.Sign(b.Context(), auth.AccessType, auth.Claims{
		Audience: "a", Subject: "s", Org: "o", Roles: []string{"admin"}, Session: "t", ExpiresAt: time.Now().Add(20 * time.Minute),
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := keys.Verify(b.Context(), token, auth.Want{Type: auth.AccessType, Audience: "a"}); err != nil {
			b.Fatal(err)
		}
	}
}
