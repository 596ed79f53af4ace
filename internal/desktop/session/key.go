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

// keyPrefix distinguishes keys from access tokens, and lets secret scanners
// detect them.
const keyPrefix = "vigil_mon_"

// Key grants a monitoring system read access.
type Key struct {
	ID         string
	Name       string
	Hash       []byte // SHA-256 of the text, which is shown once and not stored
	Hint       string // the first characters of the text, to distinguish keys
	CreatedBy  string
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero for never, in keys of older versions
	LastUsedAt time.Time // zero for never; with a precision of a minute

	LastAddress string           // of the last use
	Limits      auth.TokenLimits // only the addresses are used
}

// DefaultKeyLife is the default lifetime of a key.
const DefaultKeyLife = 90 * 24 * time.Hour

// NewKey creates a key and returns its text, which is not stored. If expires is
// zero, the key expires after KeyLife.
func (a *Authenticator) NewKey(ctx context.Context, creator, name string, expires time.Time, limits auth.TokenLimits) (Key, string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "" || utf8.RuneCountInString(name) > 100:
		return Key{}, "", fault.Field("name", "must have 1 to 100 characters")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return Key{}, "", fault.Field("name", "must be printable")
	case !expires.IsZero() && !expires.After(a.Now()):
		return Key{}, "", fault.Field("expires_at", "must be in the future")
	}
	if expires.IsZero() {
		expires = a.Now().Add(a.KeyLife)
	}
	text := keyPrefix + rand.Text()
	sum := sha256.Sum256([]byte(text))
	k := Key{
		ID: uuid.NewString(), Name: name, Hash: sum[:], Hint: text[:len(keyPrefix)+4],
		CreatedBy: creator, CreatedAt: a.Now(), ExpiresAt: expires, Limits: limits,
	}
	audit.Note(ctx, "key", k.ID)
	if err := a.Store.AddKey(ctx, k); err != nil {
		return Key{}, "", err
	}
	return k, text, nil
}

// DeleteKey deletes a key with immediate effect.
func (a *Authenticator) DeleteKey(ctx context.Context, id string) error {
	if err := a.Store.DeleteKey(ctx, id); err != nil {
		return err
	}
	a.validated.end(id)
	return nil
}

func (a *Authenticator) identifyKey(ctx context.Context, hash []byte, source string, now time.Time) (validatedToken, error) {
	k, err := a.Store.KeyByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) || err == nil && !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) {
		return validatedToken{}, errToken(nil)
	}
	if err != nil {
		return validatedToken{}, err
	}
	if !k.Limits.AllowsAddress(source) {
		return validatedToken{}, errToken(errors.New("the key is not allowed from this address"))
	}
	if now.Sub(k.LastUsedAt) >= time.Minute {
		if err := a.Store.UseKey(ctx, k.ID, now, source); err != nil && !fault.Is(err, fault.NotFound) {
			return validatedToken{}, err
		}
	}
	return validatedToken{caller: Caller{ID: k.ID, Name: k.Name, Role: Monitor}, expires: k.ExpiresAt, limits: k.Limits}, nil
}
