package audit

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"vigil/internal/secret"
)

// Sealer encrypts and decrypts signing keys. *secret.Box implements it.
type Sealer interface {
	Seal(ctx context.Context, c secret.Cell, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, c secret.Cell, sealed []byte) ([]byte, error)
}

// KeyTable is the table name in the cells of sealed keys.
const KeyTable = "audit_key"

func (k Key) cell() secret.Cell {
	return secret.Cell{Table: KeyTable, Row: k.ID, Field: "sealed"}
}

// signer is a decrypted key.
type signer struct {
	id      string
	private ed25519.PrivateKey
}

// newKey generates a signing key.
func newKey(ctx context.Context, box Sealer, now time.Time) (Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed)
	k := Key{ID: uuid.NewString(), CreatedAt: now}
	var err error
	k.Sealed, err = box.Seal(ctx, k.cell(), seed)
	return k, err
}

// open decrypts the key. The public key is derived from it: one read from the
// database could have been replaced.
func (k Key) open(ctx context.Context, box Sealer) (signer, error) {
	seed, err := box.Open(ctx, k.cell(), k.Sealed)
	if err != nil {
		return signer{}, fmt.Errorf("open audit key %s: %w", k.ID, err)
	}
	if len(seed) != ed25519.SeedSize {
		return signer{}, fmt.Errorf("audit key %s has %d bytes", k.ID, len(seed))
	}
	return signer{k.ID, ed25519.NewKeyFromSeed(seed)}, nil
}

// Domain separation: a signature of one kind is not valid as the other.
const (
	aboutHead   = "vigil/audit/head/1"
	aboutAnchor = "vigil/audit/anchor/1"
)

func statement(purpose string, h Head) []byte {
	out := append([]byte(purpose), 0)
	out = binary.BigEndian.AppendUint64(out, uint64(h.Number))
	return append(out, h.Hash...)
}

func (s signer) sign(purpose string, h Head) []byte {
	return ed25519.Sign(s.private, statement(purpose, h))
}

func (s signer) verifies(purpose string, h Head, signature []byte) bool {
	return ed25519.Verify(s.private.Public().(ed25519.PublicKey), statement(purpose, h), signature)
}

// link returns the hash of an entry.
func link(prev []byte, number int64, body []byte) []byte {
	h := sha256.New()
	h.Write([]byte("vigil/audit/record/1\x00"))
	_ = binary.Write(h, binary.BigEndian, int64(len(prev)))
	h.Write(prev)
	_ = binary.Write(h, binary.BigEndian, number)
	h.Write(body)
	return h.Sum(nil)
}

// extend returns entries for records that follow head, the last one signed.
func extend(head Head, records []Record, s signer) ([]Entry, error) {
	if len(records) == 0 {
		return nil, errors.New("no records")
	}
	entries := make([]Entry, len(records))
	for i, r := range records {
		r.Number = head.Number + 1
		body, err := r.encode()
		if err != nil {
			return nil, err
		}
		entries[i] = Entry{Record: r, Body: body, Prev: head.Hash, Hash: link(head.Hash, r.Number, body)}
		head = Head{r.Number, entries[i].Hash}
	}
	last := &entries[len(entries)-1]
	last.Key, last.Signature = s.id, s.sign(aboutHead, head)
	return entries, nil
}
