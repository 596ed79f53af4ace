package pki_test

import (
	"crypto/x509"
	"regexp"
	"testing"
	"time"

	"vigil/internal/sim/pki"
)

func TestLeafVerifiesOnlyWithItsAuthority(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ca, err := pki.New("Test CA", pki.Around(now, time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(pki.Around(now, time.Hour), "127.0.0.1", "dc1.corp.example")
	if err != nil {
		t.Fatal(err)
	}
	selfSigned, err := pki.SelfSigned(pki.Around(now, time.Hour), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	expired, err := ca.Leaf(pki.Around(now, -time.Minute), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		cert *x509.Certificate
		host string
		want bool
	}{
		{"by address", leaf.Leaf, "127.0.0.1", true},
		{"by name", leaf.Leaf, "dc1.corp.example", true},
		{"another name", leaf.Leaf, "dc2.corp.example", false},
		{"self-signed", selfSigned.Leaf, "127.0.0.1", false},
		{"expired", expired.Leaf, "127.0.0.1", false},
	} {
		_, err := tt.cert.Verify(x509.VerifyOptions{Roots: ca.Pool(), DNSName: tt.host, CurrentTime: now})
		if got := err == nil; got != tt.want {
			t.Errorf("%s: verified: %v (%v), want %v", tt.name, got, err, tt.want)
		}
	}
	if got := pki.Thumbprint(leaf.Leaf); !regexp.MustCompile(`^([0-9A-F]{2}:){31}[0-9A-F]{2}$`).MatchString(got) {
		t.Errorf("thumbprint %q is not 32 bytes in hexadecimal digits, separated by colons", got)
	}
}
