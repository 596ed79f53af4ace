package syntax

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scenario is the part of a conformance scenario that concerns the text.
type scenario struct {
	ID      string
	Gremlin string
	Setup   *string
}

// scenarios reads the conformance data, or skips the test where it is absent.
func scenarios(t *testing.T) []scenario {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var f *os.File
	for ; f == nil; dir = filepath.Dir(dir) {
		f, _ = os.Open(filepath.Join(dir, "shared", "gremlin", "scenarios.jsonl"))
		if f == nil && dir == filepath.Dir(dir) {
			t.Skip("no conformance data beside the checkout")
		}
	}
	defer f.Close()
	var all []scenario
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s scenario
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if len(all) < 100 {
		t.Fatalf("only %d scenarios", len(all))
	}
	return all
}

func TestEveryScenarioIsReadAndPrintedBack(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios(t) {
		checkRoundTrip(t, s.ID, s.Gremlin, Options{})
		if s.Setup != nil {
			checkRoundTrip(t, s.ID+" setup", *s.Setup, Options{AllowMutation: true})
		}
	}
}

// checkRoundTrip checks that a text is read, and that its canonical text is read
// as the same tree and is its own canonical text.
func checkRoundTrip(t *testing.T, name, text string, o Options) {
	t.Helper()
	q, err := Parse(text, o)
	if err != nil {
		t.Errorf("%s: %v\n%s\n%s", name, err, text, err.(*Error).Excerpt())
		return
	}
	again, err := Parse(q.String(), o)
	if err != nil {
		t.Errorf("%s: canonical text %s: %v", name, q, err)
		return
	}
	if diff := cmp.Diff(q, again, sameTree...); diff != "" {
		t.Errorf("%s: canonical text %s is another tree (-first +second):\n%s", name, q, diff)
	}
	if q.String() != again.String() {
		t.Errorf("%s: canonical text changes: %s, then %s", name, q, again)
	}
}
