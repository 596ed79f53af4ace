// Package secrettest provides an in-memory keyring and a box with it, for tests
// of packages that seal values.
package secrettest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"sync"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/secret"
)

// Keyring is an in-memory keyring with bookmarks.
type Keyring struct {
	mu    sync.Mutex
	set   secret.Wrapped
	marks map[string]mark
}

type mark struct {
	generation int64
	bookmark   string
	done       bool
}

// NewKeyring returns an empty keyring.
func NewKeyring() *Keyring { return &Keyring{marks: map[string]mark{}} }

// Keyset implements [secret.Keyring].
func (k *Keyring) Keyset(context.Context) (secret.Wrapped, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set.Generation == 0 {
		return secret.Wrapped{}, fault.New(fault.NotFound, "no keyset")
	}
	return k.set, nil
}

// Replace implements [secret.Keyring].
func (k *Keyring) Replace(_ context.Context, w secret.Wrapped) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w.Generation != k.set.Generation+1 {
		return fault.New(fault.Stale, "keyset generation %d is not the next", w.Generation)
	}
	k.set = w
	return nil
}

// Bookmark implements [secret.Bookmarks].
func (k *Keyring) Bookmark(_ context.Context, column string, generation int64) (string, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m := k.marks[column]; m.generation == generation {
		return m.bookmark, m.done, nil
	}
	return "", false, nil
}

// SetBookmark implements [secret.Bookmarks].
func (k *Keyring) SetBookmark(_ context.Context, column string, generation int64, bookmark string, done bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.marks[column] = mark{generation, bookmark, done}
	return nil
}

// Master returns a new master key.
func Master(t testing.TB) secret.Master {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	m, err := secret.ParseMaster(secret.NewText(base64.StdEncoding.EncodeToString(key)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// NewBox returns a box with its own keyring and master key.
func NewBox(t testing.TB) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(t.Context(), NewKeyring(), secret.Options{Master: Master(t)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
