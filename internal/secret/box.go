package secret

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"vigil/internal/fault"
)

// MaxAge limits how long a process encrypts with a keyset that another process
// has replaced.
const MaxAge = time.Minute

// ErrOpen means that a value was not sealed for the cell it was read from, was
// altered, or was sealed with a key that the keyset does not have.
var ErrOpen = errors.New("the sealed value cannot be decrypted")

// Options configure a Box.
type Options struct {
	Master   Master           // encrypts the keyset; required
	Previous []Master         // may decrypt the keyset while the master key is being changed
	Now      func() time.Time // time.Now if nil
}

// Box seals (encrypts) and opens (decrypts) values. It is safe for concurrent
// use.
type Box struct {
	ring    Keyring
	masters []Master
	now     func() time.Time

	loading sync.Mutex // held while the keyset is read or replaced
	current atomic.Pointer[loadedKeyset]
}

// loadedKeyset is an immutable keyset in memory.
type loadedKeyset struct {
	wrapped  Wrapped
	handle   *keyset.Handle
	cipher   tink.AEAD
	primary  uint32
	loadedAt time.Time
}

// NewBox loads the keyset. It creates the first one if there is none.
func NewBox(ctx context.Context, ring Keyring, o Options) (*Box, error) {
	if o.Master == nil {
		return nil, errors.New("open secrets: no master key")
	}
	b := &Box{ring: ring, masters: append([]Master{o.Master}, o.Previous...), now: o.Now}
	if b.now == nil {
		b.now = time.Now
	}
	_, err := b.refresh(ctx, 0)
	if fault.Is(err, fault.NotFound) {
		err = b.create(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open secrets: %w", err)
	}
	return b, nil
}

// Seal encrypts plaintext for the cell.
func (b *Box) Seal(ctx context.Context, c Cell, plaintext []byte) ([]byte, error) {
	set, err := b.refresh(ctx, MaxAge)
	if err != nil {
		return nil, fmt.Errorf("seal %s.%s: %w", c.Table, c.Field, err)
	}
	sealed, err := set.cipher.Encrypt(plaintext, c.associatedData())
	if err != nil {
		return nil, fmt.Errorf("seal %s.%s: %w", c.Table, c.Field, err)
	}
	return sealed, nil
}

// Open decrypts a value that was sealed for the cell. It fails with [ErrOpen]
// for anything else.
func (b *Box) Open(ctx context.Context, c Cell, sealed []byte) ([]byte, error) {
	set := b.current.Load()
	if id, ok := keyID(sealed); ok && !set.has(id) {
		// Another process may have added the key since the keyset was loaded. Values of
		// unknown keys cause at most one read of the keyring per second.
		fresh, err := b.refresh(ctx, time.Second)
		if err != nil {
			return nil, fmt.Errorf("open %s.%s: %w", c.Table, c.Field, err)
		}
		set = fresh
	}
	plaintext, err := set.cipher.Decrypt(sealed, c.associatedData())
	if err != nil {
		return nil, fmt.Errorf("open %s.%s: %w", c.Table, c.Field, ErrOpen)
	}
	return plaintext, nil
}

// Reseal encrypts a sealed value again if it was sealed with another key than the primary. It
// returns the value to store, and whether it differs from the given one.
func (b *Box) Reseal(ctx context.Context, c Cell, sealed []byte) ([]byte, bool, error) {
	set, err := b.refresh(ctx, MaxAge)
	if err != nil {
		return nil, false, fmt.Errorf("reseal %s.%s: %w", c.Table, c.Field, err)
	}
	if id, ok := keyID(sealed); ok && id == set.primary {
		return sealed, false, nil
	}
	plaintext, err := b.Open(ctx, c, sealed)
	if err != nil {
		return nil, false, err
	}
	fresh, err := b.Seal(ctx, c, plaintext)
	return fresh, err == nil, err
}

// keyID returns the key id in Tink's prefix of a ciphertext.
func keyID(sealed []byte) (uint32, bool) {
	const tinkPrefix = 1 // first byte of the prefix; the key id follows
	if len(sealed) < 5 || sealed[0] != tinkPrefix {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:5]), true
}

func (l *loadedKeyset) has(id uint32) bool {
	for i := range l.handle.Len() {
		if e, err := l.handle.Entry(i); err == nil && e.KeyID() == id {
			return true
		}
	}
	return false
}

// refresh returns a keyset that is at most maxAge old.
func (b *Box) refresh(ctx context.Context, maxAge time.Duration) (*loadedKeyset, error) {
	if set := b.current.Load(); set != nil && b.now().Sub(set.loadedAt) < maxAge {
		return set, nil
	}
	b.loading.Lock()
	defer b.loading.Unlock()
	if set := b.current.Load(); set != nil && b.now().Sub(set.loadedAt) < maxAge {
		return set, nil
	}
	return b.load(ctx)
}

// load reads the keyset from the keyring. The caller holds b.loading.
func (b *Box) load(ctx context.Context) (*loadedKeyset, error) {
	at := b.now()
	w, err := b.ring.Keyset(ctx)
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	if old := b.current.Load(); old != nil && old.wrapped.Generation == w.Generation {
		// The keyset is unchanged. Unwrapping it again might be a call to a key
		// management service.
		updated := *old
		updated.loadedAt = at
		b.current.Store(&updated)
		return &updated, nil
	}
	handle, err := b.unwrap(ctx, w)
	if err != nil {
		return nil, err
	}
	return b.adopt(w, handle, at)
}

func (b *Box) adopt(w Wrapped, handle *keyset.Handle, at time.Time) (*loadedKeyset, error) {
	cipher, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("use keyset: %w", err)
	}
	primary, err := handle.Primary()
	if err != nil {
		return nil, fmt.Errorf("use keyset: %w", err)
	}
	set := &loadedKeyset{wrapped: w, handle: handle, cipher: cipher, primary: primary.KeyID(), loadedAt: at}
	b.current.Store(set)
	return set, nil
}

// wrapping is the associated data of every wrapped keyset.
var wrapping = []byte("vigil/keyset/1")

func (b *Box) unwrap(ctx context.Context, w Wrapped) (*keyset.Handle, error) {
	for _, m := range b.masters {
		if m.Name() != w.Master {
			continue
		}
		handle, err := keyset.ReadWithContext(ctx, keyset.NewBinaryReader(bytes.NewReader(w.Keyset)), m, wrapping)
		if err != nil {
			return nil, fmt.Errorf("unwrap keyset with master key %s: %w", w.Master, err)
		}
		return handle, nil
	}
	return nil, fmt.Errorf("the keyset is encrypted with master key %s, but the configured one is %s", w.Master, b.masters[0].Name())
}

func wrap(ctx context.Context, m Master, handle *keyset.Handle) ([]byte, error) {
	var out bytes.Buffer
	if err := handle.WriteWithContext(ctx, keyset.NewBinaryWriter(&out), m, wrapping); err != nil {
		return nil, fmt.Errorf("wrap keyset with master key %s: %w", m.Name(), err)
	}
	return out.Bytes(), nil
}
