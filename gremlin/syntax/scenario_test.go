package syntax

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/gremlin/internal/tinkerpop/tinkerpoptest"
)

func TestScenarioRoundTrip(t *testing.T) {
	t.Parallel()
	read := 0
	for _, s := range tinkerpoptest.Scenarios(t) {
		if s.Setup != "" {
			checkRoundTrip(t, s.ID+" setup", s.Setup, Options{AllowMutation: true})
		}
		if s.LeftOut != "" {
			continue
		}
		if _, err := Parse(s.Gremlin, Options{}); err != nil && err.(*Error).Kind == Forbidden {
			continue
		}
		checkRoundTrip(t, s.ID, s.Gremlin, Options{})
		read++
	}
	if read < 1700 {
		t.Errorf("only %d scenarios are parsed", read)
	}
}

// checkRoundTrip checks that a text is parsed, and that its canonical text
// yields the same tree and is its own canonical text.
func checkRoundTrip(t *testing.T, name, text string, o Options) {
	t.Helper()
	q, err := Parse(text, o)
	if err != nil {
		t.Errorf("%s: %v\n%s\n%s", name, err, text, err.(*Error).Excerpt())
		return
	}
	second, err := Parse(q.String(), o)
	if err != nil {
		t.Errorf("%s: canonical text %s: %v", name, q, err)
		return
	}
	if diff := cmp.Diff(q, second, sameTree...); diff != "" {
		t.Errorf("%s: canonical text %s has a different tree (-first +second):\n%s", name, q, diff)
	}
	if q.String() != second.String() {
		t.Errorf("%s: canonical text changes: %s, then %s", name, q, second)
	}
}
