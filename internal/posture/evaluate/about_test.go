package evaluate

import "testing"

func TestSplitAbout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{ // a query to its part before the mark, and the query to run
		"g.V().has('a', 1)":                              {"", "g.V().has('a', 1)"},
		"g.V().has('a', 1).as('about').has('b')":         {"g.V().has('a', 1)", "g.V().has('a', 1)            .has('b')"},
		"g.V().has('a', 1)\n  .as('about')\n  .has('b')": {"g.V().has('a', 1)", "g.V().has('a', 1)\n              \n  .has('b')"},
		// A mark that where() refers to stays.
		"g.V().as('about').out().where(eq('about'))": {"g.V()", "g.V().as('about').out().where(eq('about'))"},
		// Marks in nested traversals and marks with other names do not split the query.
		"g.V().where(__.as('about').out())": {"", "g.V().where(__.as('about').out())"},
		"g.V().as('x').has('b')":            {"", "g.V().as('x').has('b')"},
	} {
		about, run, err := splitAt(aboutMark, text)
		if err != nil || about != want[0] || run != want[1] {
			t.Errorf("%s: got %q and %q, %v; want %q and %q", text, about, run, err, want[0], want[1])
		}
	}
	if _, _, err := splitAt(aboutMark, "g.V("); err == nil {
		t.Error("a malformed query is not refused")
	}
}
