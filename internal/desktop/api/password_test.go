package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"vigil/internal/desktop/api"
	"vigil/internal/fault"
)

func TestPasswordsAreDecodedFromStringsAndArrays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"secret"`:            "secret",
		`["secret"]`:          "secret",
		`["s","e","cret"]`:    "secret",
		`["se","","cret"]`:    "secret",
		`["\ud83d","\ude00"]`: "😀",
		`["a\u0301"]`:         "a\u0301",
		`[]`:                  "",
		`""`:                  "",
		`["\"","\\","\n"]`:    "\"\\\n",
		`["\ufffd"]`:          "\ufffd",
		`["\\u0041"]`:         `\u0041`,
	} {
		var p api.Password
		if err := p.UnmarshalJSON([]byte(text)); err != nil || p.Reveal() != want {
			t.Errorf("%s: %q, %v, want %q", text, p.Reveal(), err, want)
		}
	}
}

func TestInvalidPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	for text, path := range map[string]string{
		`7`: "", `null`: "", `{}`: "", `true`: "", `["\ud83d"]`: "", `"\ude00"`: "",
		`["a",7]`: "[1]", `[null]`: "[0]", `["a","b",["c"]]`: "[2]",
	} {
		var p api.Password
		err := p.UnmarshalJSON([]byte(text))
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want a fault of kind Invalid", text, err)
			continue
		}
		if details := fault.Details(err); path != "" && (len(details) != 1 || details[0].Path != path) {
			t.Errorf("%s: %v, want an error at %s", text, details, path)
		}
	}
}

func TestPasswordsAreNotPrinted(t *testing.T) {
	t.Parallel()
	var p api.Password
	if err := json.Unmarshal([]byte(`["hush"]`), &p); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(struct{ P api.Password }{p})
	if err != nil {
		t.Fatal(err)
	}
	for _, printed := range []string{fmt.Sprint(p), fmt.Sprintf("%#v %+v %s %q", p, p, p, p), string(encoded)} {
		if strings.Contains(printed, "hush") {
			t.Errorf("printed: %s", printed)
		}
	}
}

// FuzzPassword checks that the array form gives the same password as the plain
// string, however the string is split.
func FuzzPassword(f *testing.F) {
	f.Add("secret", uint8(3))
	f.Add("😀\"\\\n", uint8(1))
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		if !utf8.ValidString(s) || s == "" || strings.ContainsRune(s, utf8.RuneError) {
			t.Skip()
		}
		var parts []string
		for i, r := range s {
			if i == 0 || int(size) > 0 && i%int(size) == 0 {
				parts = append(parts, "")
			}
			parts[len(parts)-1] += string(r)
		}
		text, err := json.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		var p api.Password
		if err := p.UnmarshalJSON(text); err != nil || p.Reveal() != s {
			t.Errorf("%s: %q, %v; want %q", text, p.Reveal(), err, s)
		}
	})
}
