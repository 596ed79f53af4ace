package httpapi_test

import (
	"testing"

	"vigil/internal/httpapi"
)

func TestIfMatchAllowsAnyVersionOnlyForAsterisk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		header   string
		allows   bool // the version v1
		versions string
	}{
		{`*`, true, "*"},
		{`"v1"`, true, "v1"},
		{`v1`, true, "v1"},
		{`W/"v1"`, true, "v1"},
		{`"v0", "v1"`, true, "v0,v1"},
		{`"v2"`, false, "v2"},
		{`""`, false, `""`},
		{`"*"`, false, `"*"`},
		{`W/""`, false, `""`},
		{`"v0", ""`, false, `v0,""`},
	} {
		var m httpapi.Match
		if err := m.UnmarshalText([]byte(tt.header)); err != nil {
			t.Fatal(err)
		}
		if got := m.Allows("v1"); got != tt.allows || !m.Sent() {
			t.Errorf("If-Match: %s allows %t, want %t", tt.header, got, tt.allows)
		}
		if got := m.Versions(); got != tt.versions {
			t.Errorf("If-Match: %s gives %q, want %q", tt.header, got, tt.versions)
		}
	}
	if m := (httpapi.Match{}); !m.Allows("v1") || m.Versions() != "" || m.Sent() {
		t.Error("a missing header counts as a version")
	}
}
