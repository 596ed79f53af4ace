package change_test

import (
	"encoding/json"
	"strings"
	"testing"

	"vigil/internal/posture/stream/change"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct {
		names []change.Name
		want  string
	}{
		{nil, ""},
		{[]change.Name{"", " \x00", "second"}, "second"},
		{[]change.Name{"first", "second"}, "first"},
		{[]change.Name{"a\nb\xff\u202ec"}, "abc"},
		{[]change.Name{change.Name(strings.Repeat("ü", 400))}, strings.Repeat("ü", 300)},
	} {
		if got := change.Printable(c.names...); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

func TestNamesThatAreNoTextsAreIgnored(t *testing.T) {
	var e struct{ A, B, C change.Name }
	if err := json.Unmarshal([]byte(`{"A": 1, "B": {"x": []}, "C": "me"}`), &e); err != nil || e.A != "" || e.B != "" || e.C != "me" {
		t.Errorf("decoded %+v, %v; want only C", e, err)
	}
}
