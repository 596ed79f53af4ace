package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"vigil/internal/audit"
	"vigil/internal/auth"
	"vigil/internal/fault"
)

// keyPrefix tells a key from an access token, and those who scan for secrets
// what they found.
const keyPrefix = "vigil_mon_"

// Key lets a monitoring system read.
type Key struct {
	ID         string
	Name       string
	Hash       []byte // SHA-256 of the text, which is shown once and never kept
	Hint       string // its first characters, to tell keys apart
	CreatedBy  string
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never, for keys of older versions
	LastUsedAt time.Time // zero: never; exact to a minute

	LastAddress string           // that it was last used from
	Limits      auth.TokenLimits // of which only the addresses count
}

// DefaultKeyLife is how long a key is good for unless told otherwise.
const DefaultKeyLife = 90 * 24 * time.Hour

// NewKey makes a key and returns its text, once. A zero time stands for the
// gate's KeyLife.
func (g *Gate) NewKey(ctx context.Context, by, name string, expires time.Time, limits auth.TokenLimits) (Key, string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "" || utf8.RuneCountInString(name) > 100:
		return Key{}, "", fault.Field("name", "must have 1 to 100 characters")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return Key{}, "", fault.Field("name", "must be printable")
	case !expires.IsZero() && !expires.After(g.Now()):
		return Key{}, "", fault.Field("expires_at", "must be in the future")
	}
	if expires.IsZero() {
		expires = g.Now().Add(g.KeyLife)
	}
	text := keyPrefix + rand.Text()
	sum := sha256.Sum256([]byte(text))
	k := Key{
		ID: uuid.NewString(), Name: name, Hash: sum[:], Hint: text[:len(keyPrefix)+4],
		CreatedBy: by, CreatedAt: g.Now(), ExpiresAt: expires, Limits: limits,
	}
	audit.Note(ctx, "key", k.ID)
	if err := g.Store.AddKey(ctx, k); err != nil {
		return Key{}, "", err
	}
	return k, text, nil
}

// DeleteKey makes a key worthless at once.
func (g *Gate) DeleteKey(ctx context.Context, id string) error {
	if err := g.Store.DeleteKey(ctx, id); err != nil {
		return err
	}
	g.seen.end(id)
	return nil
}

func (g *Gate) identifyKey(ctx context.Context, hash []byte, source string, now time.Time) (known, error) {
	k, err := g.Store.KeyByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) || err == nil && !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) {
		return known{}, errToken(nil)
	}
	if err != nil {
		return known{}, err
	}
	if !k.Limits.AllowsAddress(source) {
		return known{}, errToken(errors.New("the key must not be used from this address"))
	}
	if now.Sub(k.LastUsedAt) >= time.Minute {
		if err := g.Store.UseKey(ctx, k.ID, now, source); err != nil && !fault.Is(err, fault.NotFound) {
			return known{}, err
		}
	}
	return known{caller: Caller{ID: k.ID, Name: k.Name, Role: Monitor}, expires: k.ExpiresAt, limits: k.Limits}, nil
}
