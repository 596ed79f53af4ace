package secret

import (
	"context"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"vigil/internal/fault"
)

// create creates the first keyset. Of several processes that start together one
// wins, and the others use its keyset.
func (b *Box) create(ctx context.Context) error {
	b.loading.Lock()
	defer b.loading.Unlock()
	// XChaCha20-Poly1305 is safe with random nonces for any number of operations,
	// so that keys need not be rotated after a certain number.
	handle, err := keyset.NewHandle(aead.XChaCha20Poly1305KeyTemplate())
	if err != nil {
		return fmt.Errorf("make keyset: %w", err)
	}
	err = b.replace(ctx, Wrapped{RotatedAt: b.now()}, handle)
	if fault.Is(err, fault.Stale) {
		_, err = b.load(ctx)
	}
	return err
}

// replace stores handle as the generation after prev. The caller holds
// b.loading.
func (b *Box) replace(ctx context.Context, prev Wrapped, handle *keyset.Handle) error {
	master := b.masters[0]
	sealed, err := wrap(ctx, master, handle)
	if err != nil {
		return err
	}
	w := Wrapped{Generation: prev.Generation + 1, Master: master.Name(), Keyset: sealed, RotatedAt: prev.RotatedAt}
	at := b.now()
	if err := b.ring.Replace(ctx, w); err != nil {
		return fmt.Errorf("store keyset: %w", err)
	}
	_, err = b.adopt(w, handle, at)
	return err
}

// Rotate adds a new key and encrypts with it from now on. Values that were
// sealed with older keys can still be opened.
func (b *Box) Rotate(ctx context.Context) error {
	err := b.change(ctx, func(set *loadedKeyset) (Wrapped, *keyset.Handle, error) {
		m := keyset.NewManagerFromHandle(set.handle)
		id, err := m.Add(aead.XChaCha20Poly1305KeyTemplate())
		if err != nil {
			return Wrapped{}, nil, err
		}
		if err := m.SetPrimary(id); err != nil {
			return Wrapped{}, nil, err
		}
		w := set.wrapped
		w.RotatedAt = b.now()
		handle, err := m.Handle()
		return w, handle, err
	})
	if err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	return nil
}

// Rewrap encrypts the keyset with the current master key. To change the master
// key, first configure the old one as Options.Previous in every process.
func (b *Box) Rewrap(ctx context.Context) error {
	err := b.change(ctx, func(set *loadedKeyset) (Wrapped, *keyset.Handle, error) {
		return set.wrapped, set.handle, nil
	})
	if err != nil {
		return fmt.Errorf("change master key: %w", err)
	}
	return nil
}

// change replaces the keyset by the result of edit, which returns the record that
// the new one succeeds (with its RotatedAt) and the new keys.
func (b *Box) change(ctx context.Context, edit func(*loadedKeyset) (Wrapped, *keyset.Handle, error)) error {
	b.loading.Lock()
	defer b.loading.Unlock()
	set, err := b.load(ctx)
	if err != nil {
		return err
	}
	prev, handle, err := edit(set)
	if err != nil {
		return err
	}
	return b.replace(ctx, prev, handle)
}
