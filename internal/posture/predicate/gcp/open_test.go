package gcp_test

import (
	"testing"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
)

func TestAdmits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		networks []string
		want     predicate.Truth
	}{
		{"none", nil, predicate.No},
		{"an office", []string{"203.0.113.0/24"}, predicate.No},
		{"an address without a length", []string{"203.0.113.7"}, predicate.No},
		{"private networks", []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"}, predicate.No},
		{"everybody", []string{"0.0.0.0/0"}, predicate.Yes},
		{"everybody over IPv6", []string{"::/0"}, predicate.Yes},
		{"two halves", []string{"0.0.0.0/1", "128.0.0.0/1"}, predicate.Yes},
		{"an unsupported network", []string{"office"}, predicate.Unknown},
		{"everybody and an unsupported network", []string{"office", "0.0.0.0/0"}, predicate.Yes},
	} {
		if got := gcp.Admits(c.networks); got.Truth != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, got.Truth, got.Why, c.want)
		}
	}
}
