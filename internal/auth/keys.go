package auth

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"vigil/internal/fault"
)

// Leeway is the clock difference between two machines that is tolerated.
const Leeway = time.Minute

const (
	// keysAge is the maximum age of the cached keys, and keysStale their maximum
	// age while reading from the store fails.
	keysAge   = 5 * time.Second
	keysStale = time.Minute
)

// KeyOptions configure the tokens of one server.
type KeyOptions struct {
	Realm   string        // identifies the keys in the store; required
	Issuer  string        // the iss claim of tokens; required
	MaxLife time.Duration // maximum lifetime of a token; 30 minutes if zero
	Every   time.Duration // rotation interval; 90 days if zero
	Lead    time.Duration // how long a key is published before it signs; 10 minutes if zero
	Now     func() time.Time
}

// Keys sign and verify JSON web tokens. Several processes with the same store
// and realm accept each other's tokens. Keys is safe for concurrent use.
//
// A new key is published before it signs, and an old key verifies until the
// last token that it may have signed has expired, so that a rotation ends no
// session.
type Keys struct {
	KeyOptions
	store KeyStore
	box   Sealer

	loading sync.Mutex
	current atomic.Pointer[keyView]
}

// keyView is an immutable snapshot of the stored keys.
type keyView struct {
	keys     []SigningKey // by number
	loadedAt time.Time
	signing  *signingKey
}

// signingKey is a decrypted private key.
type signingKey struct {
	id      string
	private ed25519.PrivateKey
}

// NewKeys returns the keys of one server. Call [Keys.Maintain] before the first
// use, and regularly afterwards, or run [Keys.Run].
func NewKeys(store KeyStore, box Sealer, o KeyOptions) *Keys {
	o.MaxLife = cmp.Or(o.MaxLife, 30*time.Minute)
	o.Every = cmp.Or(o.Every, 90*24*time.Hour)
	o.Lead = cmp.Or(o.Lead, 10*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Keys{KeyOptions: o, store: store, box: box}
}

// view returns a snapshot of the stored keys that is at most maxAge old.
func (k *Keys) view(ctx context.Context, maxAge time.Duration) (*keyView, error) {
	if v := k.current.Load(); v != nil && k.Now().Sub(v.loadedAt) < maxAge {
		return v, nil
	}
	k.loading.Lock()
	defer k.loading.Unlock()
	old := k.current.Load()
	if old != nil && k.Now().Sub(old.loadedAt) < maxAge {
		return old, nil
	}
	v, err := k.load(ctx)
	if err != nil && old != nil && k.Now().Sub(old.loadedAt) < keysStale {
		return old, nil
	}
	return v, err
}

// load reads the keys from the store. The caller holds k.loading.
func (k *Keys) load(ctx context.Context) (*keyView, error) {
	at := k.Now()
	keys, err := k.store.SigningKeys(ctx, k.Realm)
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	v := &keyView{keys: keys, loadedAt: at}
	if old := k.current.Load(); old != nil {
		v.signing = old.signing
	}
	active, ok := v.active(at)
	if ok && (v.signing == nil || v.signing.id != active.ID) {
		private, err := active.signer(ctx, k.box)
		if err != nil {
			return nil, err
		}
		v.signing = &signingKey{active.ID, private}
	}
	if !ok {
		v.signing = nil
	}
	k.current.Store(v)
	return v, nil
}

// active returns the newest key that may sign now, or the oldest key if none may
// sign yet. It returns false if there is no key.
func (v *keyView) active(now time.Time) (SigningKey, bool) {
	for i := len(v.keys) - 1; i >= 0; i-- {
		if i == 0 || !v.keys[i].ActiveAt.After(now) {
			return v.keys[i], true
		}
	}
	return SigningKey{}, false
}

// find returns the key with an id, unless every token that it may have signed
// has expired.
func (k *Keys) find(v *keyView, id string, now time.Time) (SigningKey, bool) {
	for i, key := range v.keys {
		if key.ID == id {
			return key, i == len(v.keys)-1 || now.Before(k.retires(v.keys[i+1]))
		}
	}
	return SigningKey{}, false
}

// retires returns when the predecessor of a key is no longer needed for
// verification.
func (k *Keys) retires(next SigningKey) time.Time {
	return next.ActiveAt.Add(k.MaxLife + Leeway)
}

// Published returns the public keys for verification, including those that will
// sign soon.
func (k *Keys) Published(ctx context.Context) (jose.JSONWebKeySet, error) {
	v, err := k.view(ctx, keysAge)
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, key := range v.keys {
		if _, ok := k.find(v, key.ID, k.Now()); ok {
			set.Keys = append(set.Keys, key.jwk())
		}
	}
	return set, nil
}

// Maintain creates the first key, adds the next one when it is due, and removes
// keys that are no longer needed.
func (k *Keys) Maintain(ctx context.Context) error {
	if err := k.maintain(ctx); err != nil {
		return fmt.Errorf("maintain signing keys: %w", err)
	}
	return nil
}

func (k *Keys) maintain(ctx context.Context) error {
	v, err := k.view(ctx, 0)
	if err != nil {
		return err
	}
	now := k.Now()
	if n := len(v.keys); n == 0 {
		return k.add(ctx, 1, now, false)
	} else if last := v.keys[n-1]; now.Sub(last.ActiveAt) >= k.Every-k.Lead {
		return k.add(ctx, last.Number+1, now.Add(k.Lead), false)
	}
	// Find the newest key whose predecessor is no longer needed, and remove all older keys.
	for i := len(v.keys) - 1; i > 0; i-- {
		if now.After(k.retires(v.keys[i])) {
			return k.store.DropSigningKeys(ctx, k.Realm, v.keys[i].Number)
		}
	}
	return nil
}

// Rotate adds a key now. It is published at once and signs after the lead time;
// existing tokens stay valid.
func (k *Keys) Rotate(ctx context.Context) error {
	v, err := k.view(ctx, 0)
	if err == nil {
		err = k.add(ctx, v.next(), k.Now().Add(k.Lead), true)
	}
	if err != nil {
		return fmt.Errorf("rotate signing key: %w", err)
	}
	return nil
}

// Replace adds a key that signs at once and removes all others, for use when a
// key has leaked. All existing tokens become invalid, within seconds in other
// processes.
func (k *Keys) Replace(ctx context.Context) error {
	v, err := k.view(ctx, 0)
	if err == nil {
		err = k.add(ctx, v.next(), k.Now(), true)
	}
	if err == nil {
		// v was read before the key was added: v.next() is the number of the new key.
		err = k.store.DropSigningKeys(ctx, k.Realm, v.next())
	}
	if err == nil {
		_, err = k.view(ctx, 0)
	}
	if err != nil {
		return fmt.Errorf("replace signing key: %w", err)
	}
	return nil
}

func (v *keyView) next() int64 {
	if len(v.keys) == 0 {
		return 1
	}
	return v.keys[len(v.keys)-1].Number + 1
}

// add stores a new key. It also succeeds if another process stored a key with the
// same number concurrently. requested is passed to the store.
func (k *Keys) add(ctx context.Context, number int64, active time.Time, requested bool) error {
	key, err := newSigningKey(ctx, k.box, k.Realm, number, k.Now(), active)
	if err != nil {
		return err
	}
	if err := k.store.AddSigningKey(ctx, key, requested); err != nil && !fault.Is(err, fault.Stale) {
		return err
	}
	_, err = k.view(ctx, 0)
	return err
}

// Run maintains the keys until ctx is done.
func (k *Keys) Run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := k.Maintain(ctx); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "maintain signing keys", "realm", k.Realm, "error", err)
		}
	}
}
