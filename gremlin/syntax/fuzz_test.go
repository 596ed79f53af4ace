package syntax

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzPrint checks that parsing the canonical text of a query yields the same tree.
func FuzzPrint(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text string, mutation bool) {
		o := Options{AllowMutation: mutation}
		q, err := Parse(text, o)
		if err != nil {
			return
		}
		// The canonical text may exceed the length limit.
		o.Length = 16 * DefaultLimits.Length
		second, err := Parse(q.String(), o)
		if err != nil {
			t.Fatalf("canonical text %s: %v", q, err)
		}
		if diff := cmp.Diff(q, second, sameTree...); diff != "" {
			t.Fatalf("canonical text %s has a different tree (-first +second):\n%s", q, diff)
		}
	})
}

// addSeeds starts the fuzzer from the queries of the scripts.
func addSeeds(f *testing.F) {
	f.Helper()
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
}
