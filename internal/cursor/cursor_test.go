package cursor_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"vigil/internal/cursor"
	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/secret/secrettest"
)

var query = cursor.Query{Org: "o1", Name: "findings", Filter: "f1"}

func seal(t testing.TB, c *cursor.Cursors, q cursor.Query, position string) string {
	t.Helper()
	token, err := c.Seal(t.Context(), q, []byte(position))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTokenIsValidForItsQueryOnly(t *testing.T) {
	t.Parallel()
	c := cursor.New(secrettest.NewBox(t))
	token := seal(t, c, query, "row 17")
	if sealed, err := base64.RawURLEncoding.DecodeString(token); err != nil || bytes.Contains(sealed, []byte("row 17")) {
		t.Errorf("token %s can be read: %q, %v", token, sealed, err)
	}
	for _, tt := range []struct {
		name string
		q    cursor.Query
		ok   bool
	}{
		{"same query", query, true},
		{"other organisation", cursor.Query{Org: "o2", Name: "findings", Filter: "f1"}, false},
		{"other operation", cursor.Query{Org: "o1", Name: "entities", Filter: "f1"}, false},
		{"other filter", cursor.Query{Org: "o1", Name: "findings", Filter: "f2"}, false},
		{"operation and filter swapped", cursor.Query{Org: "o1", Name: "f1", Filter: "findings"}, false},
	} {
		got, err := c.Open(t.Context(), tt.q, token)
		if tt.ok && (err != nil || string(got) != "row 17") || !tt.ok && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: Open = %q, %v; want the position: %t", tt.name, got, err, tt.ok)
		}
	}
}

func TestTokenSurvivesARestartAndARotation(t *testing.T) {
	t.Parallel()
	ring, master := secrettest.NewKeyring(), secrettest.Master(t)
	start := func() *secret.Box {
		box, err := secret.NewBox(t.Context(), ring, secret.Options{Master: master})
		if err != nil {
			t.Fatal(err)
		}
		return box
	}
	first := start()
	token := seal(t, cursor.New(first), query, "x")
	if err := first.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := cursor.New(start()).Open(t.Context(), query, token); err != nil || string(got) != "x" {
		t.Errorf("after a restart: %q, %v", got, err)
	}
}

func TestAlteredTokenIsInvalid(t *testing.T) {
	t.Parallel()
	c := cursor.New(secrettest.NewBox(t))
	token := seal(t, c, query, "x")
	bad := []string{"", "abc", token + "A", token[1:], " " + token, token + "\n", token + "=", strings.Repeat("A", 1<<20)}
	for i := range token {
		for _, b := range []string{"A", "B"} {
			if alt := token[:i] + b + token[i+1:]; alt != token {
				bad = append(bad, alt)
			}
		}
	}
	for _, b := range bad {
		if _, err := c.Open(t.Context(), query, b); !fault.Is(err, fault.Invalid) {
			t.Errorf("Open(%.60q) = %v, want Invalid", b, err)
		}
	}
}

// broken is a sealer that fails like an unavailable store.
type broken struct{ cursor.Sealer }

func (broken) Open(context.Context, secret.Cell, []byte) ([]byte, error) {
	return nil, fault.New(fault.Unavailable, "down")
}

func TestOutageIsUnavailable(t *testing.T) {
	t.Parallel()
	if _, err := cursor.New(broken{}).Open(t.Context(), query, "AAAA"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Open = %v, want Unavailable", err)
	}
}

func TestHashDistinguishesFilters(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, values := range [][]any{
		nil, {""}, {"", ""}, {"a", "b"}, {"ab"}, {[]string{"a", "b"}}, {map[string]any{"a": 1}}, {map[string]any{"a": "1"}},
	} {
		h, err := cursor.Hash(values...)
		if err != nil || seen[h] {
			t.Errorf("Hash(%v) = %s, %v", values, h, err)
		}
		seen[h] = true
	}
	a, _ := cursor.Hash(map[string]int{"x": 1, "y": 2})
	b, _ := cursor.Hash(map[string]int{"y": 2, "x": 1})
	if a != b {
		t.Error("the order of a map matters")
	}
}

func FuzzOpen(f *testing.F) {
	c := cursor.New(secrettest.NewBox(f))
	valid := seal(f, c, query, "place")
	f.Add(valid)
	f.Add("")
	f.Add("AQAAAAA")
	f.Fuzz(func(t *testing.T, token string) {
		got, err := c.Open(t.Context(), query, token)
		if (err == nil) != (token == valid) || err == nil && !bytes.Equal(got, []byte("place")) {
			t.Errorf("Open(%q) = %q, %v", token, got, err)
		}
	})
}
