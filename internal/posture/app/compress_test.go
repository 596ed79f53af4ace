package app_test

import (
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestRulesAreCompressedIfAccepted reads the longest response of the console's first
// load.
func TestRulesAreCompressedIfAccepted(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	c, _, _ := newOrg(t, in, serve(t, a), "org")
	// The header is set explicitly, so that the client does not decompress.
	plain := c.want(200, "GET", "/v1/rules", nil, "Accept-Encoding", "identity")
	packed := c.want(200, "GET", "/v1/rules", nil, "Accept-Encoding", "gzip")
	if packed.header.Get("Content-Encoding") != "gzip" || len(packed.text)*4 > len(plain.text) {
		t.Fatalf("encoding %q, %d of %d bytes", packed.header.Get("Content-Encoding"), len(packed.text), len(plain.text))
	}
	r, err := gzip.NewReader(strings.NewReader(packed.text))
	if err != nil {
		t.Fatal(err)
	}
	var rules []json.RawMessage
	if err := json.NewDecoder(r).Decode(&rules); err != nil || len(rules) == 0 {
		t.Errorf("%d rules, %v", len(rules), err)
	}
	t.Logf("%d rules, %d bytes, %d compressed", len(rules), len(plain.text), len(packed.text))
}
