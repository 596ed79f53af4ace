package syntax

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParse holds the parser to its promises on any text: it never crashes, an
// error points into the text, and what is read is printed back as the same tree.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"language.txt", "errors.txt"} {
		data, err := os.ReadFile("testdata/script/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "g") {
				f.Add(strings.TrimSpace(line), false)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, mutation bool) {
		o := Options{AllowMutation: mutation}
		q, err := Parse(text, o)
		if err != nil {
			checkError(t, text, err.(*Error))
			return
		}
		// The canonical text may be longer than the limit for what people type.
		o.Length = 16 * DefaultLimits.Length
		again, err := Parse(q.String(), o)
		if err != nil {
			t.Fatalf("canonical text %s: %v", q, err)
		}
		if diff := cmp.Diff(q, again, sameTree...); diff != "" {
			t.Fatalf("canonical text %s is another tree (-first +second):\n%s", q, diff)
		}
		Connect(q.Steps, true)
	})
}

func checkError(t *testing.T, text string, e *Error) {
	t.Helper()
	if e.Message == "" {
		t.Error("an error without a message")
	}
	if e.Span.Pos.Line == 0 {
		if e.Limit != LimitLength {
			t.Errorf("%v: an error without a place", e)
		}
		return
	}
	from, to := int(e.Span.Pos.Offset), int(e.Span.End.Offset)
	if from > to || to > len(text) {
		t.Errorf("%v: %d to %d is not in a text of %d bytes", e, from, to, len(text))
	}
	if lines := int32(strings.Count(text[:from], "\n") + 1); lines != e.Span.Pos.Line {
		t.Errorf("%v: the place is in line %d", e, lines)
	}
	if excerpt := e.Excerpt(); !strings.Contains(excerpt, "^") {
		t.Errorf("%v: excerpt %q", e, excerpt)
	}
}
