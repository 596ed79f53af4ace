package gremlin_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"vigil/gremlin"
)

// TestProfileCutsBetweenCharacters formats texts with characters of several bytes: one that
// is too long for the column of 60 characters, and one that just fits.
func TestProfileCutsBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"has(n,€" + strings.Repeat("€", 80) + ")", "has(n,€" + strings.Repeat("€", 50) + "...   "},
		{"has(n," + strings.Repeat("é", 53) + ")", "has(n," + strings.Repeat("é", 53) + ")   "}, // fits by characters, not by bytes
	} {
		p := &gremlin.Profile{Steps: []gremlin.ProfiledStep{{Text: tt.text}}}
		got := p.String()
		if !utf8.ValidString(got) || !strings.Contains(got, "\n"+tt.want) {
			t.Errorf("%s is formatted as\n%s\nwant %s", tt.text, got, tt.want)
		}
	}
}
