// Package cursor creates continuation tokens: the position in a list, encrypted
// so that callers can neither read nor alter it.
//
// A token is valid for one organisation and one query. It survives restarts and
// works in every process, because it is encrypted with the keys of package
// secret.
package cursor

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"vigil/internal/fault"
	"vigil/internal/secret"
)

// maxToken limits the length of tokens. A token may contain a query with
// thousands of filter values.
const maxToken = 512 << 10

// Sealer encrypts and decrypts. *secret.Box implements it.
type Sealer interface {
	Seal(ctx context.Context, c secret.Cell, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, c secret.Cell, sealed []byte) ([]byte, error)
}

// Cursors creates and opens tokens. It is safe for concurrent use.
type Cursors struct{ box Sealer }

// New returns cursors that are encrypted by box.
func New(box Sealer) *Cursors { return &Cursors{box} }

// A Query identifies what a token belongs to.
type Query struct {
	Org    string
	Name   string // of the operation
	Filter string // everything that determines the elements and their order; see [Hash]
}

// Hash returns a short hash of the given values.
func Hash(values ...any) (string, error) {
	data, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("hash filter: %w", err)
	}
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

func (q Query) cell() secret.Cell {
	return secret.Cell{Org: q.Org, Table: "cursor", Row: q.Filter, Field: q.Name}
}

// Seal returns a token for a position in the query's result.
func (c *Cursors) Seal(ctx context.Context, q Query, position []byte) (string, error) {
	sealed, err := c.box.Seal(ctx, q.cell(), position)
	if err != nil {
		return "", fmt.Errorf("make continuation token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open returns the position in a token. It fails with fault.Invalid for a token
// that was altered, forged, or created for another query or organisation.
func (c *Cursors) Open(ctx context.Context, q Query, token string) ([]byte, error) {
	// Decoding ignores line breaks and unused bits. Only the token as it was created is valid, so it is encoded again and compared.
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(token) > maxToken || base64.RawURLEncoding.EncodeToString(sealed) != token {
		return nil, invalid(errors.New("it is malformed"))
	}
	position, err := c.box.Open(ctx, q.cell(), sealed)
	if errors.Is(err, secret.ErrOpen) {
		return nil, invalid(err)
	}
	if err != nil {
		return nil, fmt.Errorf("read continuation token: %w", err)
	}
	return position, nil
}

func invalid(cause error) error {
	return fault.Wrap(fault.Invalid, cause, "the continuation token does not belong to this query")
}
