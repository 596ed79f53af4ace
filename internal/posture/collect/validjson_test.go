package collect

import (
	"strings"
	"testing"
)

func TestDeepAnswersAreNotShallow(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for text, want := range map[string]bool{
		`{"a":[1,{"b":"]]]]"}]}`: true, strings.Repeat("[]", 1000): true,
		deep: false, strings.Repeat("{", 1<<20): false,
		// Brackets in a string do not count.
		`"` + strings.Repeat("[", 1000) + `\""`: true,
		// Invalid, but shallow.
		"": true, `{"a":1`: true,
	} {
		if got := isShallow([]byte(text)); got != want {
			t.Errorf("isShallow(%.30q) = %v, want %v", text, got, want)
		}
	}
}

func TestMalformedAnswersAreInvalid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`{"a":[1,{"b":"]"}]}`: true, "{}": true, `{"a":1`: false, "": false, "<html>": false, strings.Repeat("[", 1<<20): false} {
		if got := ValidAnswer([]byte(text)); got != want {
			t.Errorf("ValidAnswer(%.30q) = %v, want %v", text, got, want)
		}
	}
}
