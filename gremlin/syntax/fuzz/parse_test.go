// Package fuzz_test fuzzes the parser. It is a separate package because the
// fuzzer examines the coverage counters of all linked code after each execution:
// with few imports it is several times as fast.
package fuzz_test

import (
	"os"
	"strings"
	"testing"

	"vigil/gremlin/syntax"
)

// FuzzParse checks for any text that the parser does not crash and that errors
// have valid positions. It does little else, so that it runs many executions.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text string, mutation bool) {
		q, err := syntax.Parse(text, syntax.Options{AllowMutation: mutation})
		if err != nil {
			checkError(t, text, err.(*syntax.Error))
			return
		}
		syntax.Connect(q.Steps, true) // must not crash either
	})
}

// addSeeds adds the queries of the test scripts as seeds.
func addSeeds(f *testing.F) {
	f.Helper()
	for _, name := range []string{"language.txt", "errors.txt"} {
		data, err := os.ReadFile("../testdata/script/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "g") {
				f.Add(strings.TrimSpace(line), false)
			}
		}
	}
}

func checkError(t *testing.T, text string, e *syntax.Error) {
	t.Helper()
	if e.Message == "" {
		t.Error("an error without a message")
	}
	if e.Span.Pos.Line == 0 {
		if e.Limit != syntax.LimitLength {
			t.Errorf("%v: an error without a position", e)
		}
		return
	}
	from, to := int(e.Span.Pos.Offset), int(e.Span.End.Offset)
	if from > to || to > len(text) {
		t.Errorf("%v: %d to %d is not in a text of %d bytes", e, from, to, len(text))
	}
	if lines := int32(strings.Count(text[:from], "\n") + 1); lines != e.Span.Pos.Line {
		t.Errorf("%v: the position is in line %d", e, lines)
	}
	if excerpt := e.Excerpt(); !strings.Contains(excerpt, "^") {
		t.Errorf("%v: excerpt %q", e, excerpt)
	}
}
