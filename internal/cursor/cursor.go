// Package cursor makes continuation tokens: where a list was left off, in a
// form that callers can neither read nor alter.
//
// A token is good for one organisation and one query only. It survives a
// restart and works in every process, because the key is that of package
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

// maxToken bounds the text that is looked at. A token may carry a query with
// thousands of filter values.
const maxToken = 512 << 10

// Sealer encrypts. *secret.Box is one.
type Sealer interface {
	Seal(ctx context.Context, c secret.Cell, plain []byte) ([]byte, error)
	Open(ctx context.Context, c secret.Cell, sealed []byte) ([]byte, error)
}

// Cursors make and read tokens. They are safe for concurrent use.
type Cursors struct{ box Sealer }

// New returns cursors that are sealed by box.
func New(box Sealer) *Cursors { return &Cursors{box} }

// A Query is what a token belongs to.
type Query struct {
	Org    string
	Name   string // of the operation
	Filter string // everything that decides what is listed and in which order; see [Hash]
}

// Hash returns a short text that stands for all the given values.
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

// Seal returns a token for a place in the query's answer.
func (c *Cursors) Seal(ctx context.Context, q Query, place []byte) (string, error) {
	sealed, err := c.box.Seal(ctx, q.cell(), place)
	if err != nil {
		return "", fmt.Errorf("make continuation token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open returns the place a token stands for. It fails with fault.Invalid for
// one that was altered, made up, or made for another query or organisation.
func (c *Cursors) Open(ctx context.Context, q Query, token string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(token) > maxToken || base64.RawURLEncoding.EncodeToString(sealed) != token {
		return nil, invalid(errors.New("it is malformed"))
	}
	place, err := c.box.Open(ctx, q.cell(), sealed)
	if errors.Is(err, secret.ErrOpen) {
		return nil, invalid(err)
	}
	if err != nil {
		return nil, fmt.Errorf("read continuation token: %w", err)
	}
	return place, nil
}

func invalid(cause error) error {
	return fault.Wrap(fault.Invalid, cause, "the continuation token is not one that this query gave out")
}
