package saml_test

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"crypto/x509"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"

	"vigil/internal/sim/pki"
	"vigil/internal/sim/saml"
)

func TestMetadataAreSignedUnlessTamperedWith(t *testing.T) {
	t.Parallel()
	validity := pki.Around(time.Now(), time.Hour)
	ca, err := pki.New("Test CA", validity)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(validity, "localhost")
	if err != nil {
		t.Fatal(err)
	}
	p, err := saml.New(saml.Options{EntityID: "https://idp.example", Certificate: leaf})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool()}, DisableKeepAlives: true}}
	for _, tt := range []struct {
		fault    saml.Fault
		verifies bool
		contains string
	}{
		{saml.Healthy, true, "IDPSSODescriptor"},
		{saml.Expired, true, "IDPSSODescriptor"},
		{saml.NoProvider, true, "SPSSODescriptor"},
		{saml.Tampered, false, "evil.example"},
		{saml.Nonsense, false, "maintenance"},
	} {
		p.Break(tt.fault)
		res, err := client.Get(p.MetadataURL())
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !strings.Contains(string(text), tt.contains) {
			t.Errorf("fault %d: %.200q, %v; want %q in the metadata", tt.fault, text, err, tt.contains)
		}
		if got := hasValidSignature(t, text, p.SignerPEM()); got != tt.verifies {
			t.Errorf("fault %d: signature verifies: %v, want %v", tt.fault, got, tt.verifies)
		}
	}
}

func hasValidSignature(t *testing.T, text, signer []byte) bool {
	t.Helper()
	block, _ := pem.Decode(signer)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	doc := etree.NewDocument()
	if doc.ReadFromBytes(text) != nil || doc.Root() == nil {
		return false
	}
	_, err = dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{cert}}).Validate(doc.Root())
	return err == nil
}
