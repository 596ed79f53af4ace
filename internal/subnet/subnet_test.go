package subnet_test

import (
	"testing"

	"vigil/internal/subnet"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7",
		"::ffff:192.0.2.7":     "192.0.2.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::":       "2001:db8:1:2::/64",
		"fe80::1%eth0":         "fe80::/64",
		"::1":                  "::/64",
		"":                     "",
		"@":                    "@", // a Unix socket
		"192.0.2.7:443":        "192.0.2.7:443",
		"host.example":         "host.example",
	} {
		if got := subnet.Of(address); got != want {
			t.Errorf("Of(%q) = %q, want %q", address, got, want)
		}
	}
}
