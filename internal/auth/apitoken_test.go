package auth

import (
	"regexp"
	"strings"
	"testing"

	"vigil/internal/secret"
)

func TestTokenTextIsRecognisableAndUnique(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^vgl_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	for range 1000 {
		text := newTokenText()
		if s := text.Reveal(); !form.MatchString(s) || seen[s] {
			t.Fatalf("token text %q, want a new one of the form %s", s, form)
		}
		seen[text.Reveal()] = true
		if _, ok := hashToken(text); !ok {
			t.Fatal("a new token is malformed")
		}
		if hint := hintOf(text); len(hint) != 10 || !strings.HasPrefix(text.Reveal(), hint) {
			t.Fatalf("hint %q, want the first ten characters", hint)
		}
	}
}

func TestMistypedTokenFailsTheChecksum(t *testing.T) {
	t.Parallel()
	valid := newTokenText().Reveal()
	for i := range valid {
		bad := []byte(valid)
		bad[i] = 'a'
		if valid[i] == 'a' {
			bad[i] = 'b'
		}
		if _, ok := hashToken(secret.NewText(string(bad))); ok {
			t.Errorf("accepted with character %d changed", i)
		}
	}
	for _, bad := range []string{"", "vgl_", valid[1:], valid + "0", strings.ToUpper(valid), " " + valid} {
		if _, ok := hashToken(secret.NewText(bad)); ok {
			t.Errorf("accepted %q", bad)
		}
	}
}

func FuzzHashToken(f *testing.F) {
	f.Add("")
	f.Add("vgl_")
	f.Add(newTokenText().Reveal())
	f.Fuzz(func(t *testing.T, s string) {
		_, ok := hashToken(secret.NewText(s))
		if ok && (len(s) != tokenLength || checksum(s[:tokenLength-sumDigits]) != s[tokenLength-sumDigits:]) {
			t.Errorf("accepted %q", s)
		}
	})
}

func TestRolesIncludeThoseBelow(t *testing.T) {
	t.Parallel()
	order := []Role{NoRole, Viewer, Analyst, Admin}
	for i, held := range order {
		for j, need := range order {
			if got := held.Includes(need); got != (i >= j) {
				t.Errorf("%s.Includes(%s) = %t", held, need, got)
			}
		}
	}
	if Role(9).Includes(Viewer) {
		t.Error("an unknown role includes viewer")
	}
	for _, s := range []string{"viewer", "ANALYST", "Admin"} {
		if r, err := ParseRole(s); err != nil || !strings.EqualFold(r.String(), s) {
			t.Errorf("ParseRole(%q) = %s, %v", s, r, err)
		}
	}
	for _, s := range []string{"", "none", "root", "admin "} {
		if r, err := ParseRole(s); err == nil || r != NoRole {
			t.Errorf("ParseRole(%q) = %s, %v", s, r, err)
		}
	}
}
