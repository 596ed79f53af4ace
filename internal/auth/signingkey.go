package auth

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"vigil/internal/secret"
)

// algorithm is the signature algorithm, the only one accepted.
const algorithm = jose.EdDSA

// A SigningKey is a stored key pair of a realm.
type SigningKey struct {
	Realm     string // the server whose tokens it signs: "posture", "desktop"
	Number    int64  // 1, 2, 3 … in the realm
	ID        string // the kid header of tokens
	Public    []byte // Ed25519
	Sealed    []byte // the encrypted private key
	CreatedAt time.Time
	ActiveAt  time.Time // published earlier, signs from this time
}

// KeyStore stores signing keys. Any number of processes share it. Methods are
// safe for concurrent use.
type KeyStore interface {
	// SigningKeys returns the keys of a realm by number.
	SigningKeys(ctx context.Context, realm string) ([]SigningKey, error)

	// AddSigningKey stores a key. It fails with fault.Stale if the number is taken
	// because another process was faster. requested says that the key is the change
	// that a caller asked for, so that the audit record of the change is committed with it.
	AddSigningKey(ctx context.Context, k SigningKey, requested bool) error

	// DropSigningKeys removes the keys of a realm with numbers below the given one.
	DropSigningKeys(ctx context.Context, realm string, below int64) error
}

// Sealer encrypts and decrypts private keys. *secret.Box implements it.
type Sealer interface {
	Seal(ctx context.Context, c secret.Cell, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, c secret.Cell, sealed []byte) ([]byte, error)
}

// SigningKeyTable is the table of signing keys. Its name is part of what a private key is
// sealed with; see [secret.Cell].
const SigningKeyTable = "auth_signing_key"

// cell returns the database cell that the private key is sealed for. It must match the
// column that authdb.SealedColumns lists for resealing.
func (k SigningKey) cell() secret.Cell {
	return secret.Cell{Table: SigningKeyTable, Row: k.ID, Field: "sealed"}
}

// newSigningKey generates a key pair.
func newSigningKey(ctx context.Context, box Sealer, realm string, number int64, created, active time.Time) (SigningKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return SigningKey{}, fmt.Errorf("make signing key: %w", err)
	}
	thumbprint, err := (&jose.JSONWebKey{Key: public}).Thumbprint(crypto.SHA256)
	if err != nil {
		return SigningKey{}, fmt.Errorf("name signing key: %w", err)
	}
	k := SigningKey{
		Realm: realm, Number: number, ID: base64.RawURLEncoding.EncodeToString(thumbprint),
		Public: public, CreatedAt: created, ActiveAt: active,
	}
	if k.Sealed, err = box.Seal(ctx, k.cell(), private.Seed()); err != nil {
		return SigningKey{}, err
	}
	return k, nil
}

// signer decrypts the private key.
func (k SigningKey) signer(ctx context.Context, box Sealer) (ed25519.PrivateKey, error) {
	seed, err := box.Open(ctx, k.cell(), k.Sealed)
	if err != nil {
		return nil, fmt.Errorf("open signing key %s: %w", k.ID, err)
	}
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("signing key %s has %d bytes", k.ID, len(seed))
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// jwk returns the public key as a JSON web key.
func (k SigningKey) jwk() jose.JSONWebKey {
	return jose.JSONWebKey{Key: ed25519.PublicKey(k.Public), KeyID: k.ID, Algorithm: string(algorithm), Use: "sig"}
}
