package probe

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"

	"vigil/internal/desktop"
	"vigil/internal/sim/flakylistener"
)

// signer signs metadata.
type signer struct {
	key  *rsa.PrivateKey
	cert []byte
}

// GetKeyPair implements dsig.X509KeyStore.
func (s signer) GetKeyPair() (*rsa.PrivateKey, []byte, error) { return s.key, s.cert, nil }

func newSigner(t *testing.T, remaining time.Duration) signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"},
		NotBefore: time.Now().Add(-400 * 24 * time.Hour), NotAfter: time.Now().Add(remaining),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return signer{key, cert}
}

func (s signer) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "signer.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.cert}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// metadata returns the metadata of an identity provider.
func metadata(until time.Time, certificates ...[]byte) string {
	var keys strings.Builder
	for _, c := range certificates {
		fmt.Fprintf(&keys, `<KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>
			%s</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`, base64.StdEncoding.EncodeToString(c))
	}
	return fmt.Sprintf(`<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" ID="_1" entityID="https://idp.example" validUntil="%s">`+
		`<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">%s</IDPSSODescriptor></EntityDescriptor>`,
		until.UTC().Format(time.RFC3339), keys.String())
}

func (s signer) sign(t *testing.T, text string) string {
	t.Helper()
	doc := etree.NewDocument()
	if err := doc.ReadFromString(text); err != nil {
		t.Fatal(err)
	}
	ctx := dsig.NewDefaultSigningContext(s)
	ctx.Hash = crypto.SHA256
	signed, err := ctx.SignEnveloped(doc.Root())
	if err != nil {
		t.Fatal(err)
	}
	out := etree.NewDocument()
	out.SetRoot(signed)
	written, err := out.WriteToString()
	if err != nil {
		t.Fatal(err)
	}
	return written
}

func TestSAMLAuthenticatorProbe(t *testing.T) {
	t.Parallel()
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	f := newFixture(t)
	lasting, ending, ended := newSigner(t, year), newSigner(t, 10*day), newSigner(t, -day)
	far := time.Now().Add(year)
	var body atomic.Value
	var code atomic.Int32
	s := f.server(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(code.Load()))
		_, _ = w.Write([]byte(body.Load().(string)))
	})
	inv := desktop.Inventory{
		ConnectionServers:  []desktop.ConnectionServer{{ID: "c1", Name: "cs1", Self: true, URL: s.url, Trust: f.trust()}},
		SAMLAuthenticators: []desktop.SAMLAuthenticator{{ID: "s", Label: "idp", MetadataURL: s.url, Trust: f.trust()}},
	}
	f.configure(inv)
	status := func(what string, want desktop.SAMLStatus) {
		t.Helper()
		m := first[desktop.SAMLAuthenticatorMonitor](f, desktop.KindSAMLAuthenticator)
		requireStatus(t, what, m.Servers[0].Status, want, m.Freshness, desktop.SAMLOK)
	}
	serve := func(status int, text string) {
		code.Store(int32(status))
		body.Store(text)
		f.probe(2)
	}
	status("before the first probe", desktop.SAMLUnknown)
	serve(200, metadata(far, ended.cert, lasting.cert))
	status("no problems", desktop.SAMLOK)
	serve(200, metadata(far, ending.cert))
	status("its certificate expires soon", desktop.SAMLWarn)
	serve(200, metadata(far, ended.cert))
	status("its certificate has expired", desktop.SAMLError)
	serve(200, metadata(time.Now().Add(10*day), lasting.cert))
	status("its metadata expire soon", desktop.SAMLWarn)
	serve(200, metadata(time.Now().Add(-day), lasting.cert))
	status("its metadata have expired", desktop.SAMLError)
	for name, text := range map[string]string{
		"no XML": "hello", "no provider": `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="x"/>`, "empty": "",
	} {
		serve(200, text)
		status(name, desktop.SAMLError)
		serve(200, metadata(far, lasting.cert))
		status("recovered after "+name, desktop.SAMLOK)
	}
	serve(404, metadata(far, lasting.cert))
	status("its metadata are missing", desktop.SAMLError)

	inv.SAMLAuthenticators[0].SignerFile = lasting.file(t)
	f.configure(inv)
	serve(200, lasting.sign(t, metadata(far, lasting.cert)))
	status("signed by an accepted signer", desktop.SAMLOK)
	serve(200, metadata(far, lasting.cert))
	status("not signed", desktop.SAMLError)
	serve(200, ending.sign(t, metadata(far, lasting.cert)))
	status("signed by another signer", desktop.SAMLError)
	serve(200, strings.Replace(lasting.sign(t, metadata(far, lasting.cert)), "https://idp.example", "https://evil.example", 1))
	status("changed after it was signed", desktop.SAMLError)
	serve(200, lasting.sign(t, metadata(far, lasting.cert)))
	status("recovered", desktop.SAMLOK)

	s.listener.Set(flakylistener.Down)
	f.probe(2)
	status("it is down", desktop.SAMLError)
	s.listener.Set(flakylistener.Up)
	inv.SAMLAuthenticators[0].Trust = desktop.Trust{Thumbprint: first[desktop.SAMLAuthenticatorMonitor](f, desktop.KindSAMLAuthenticator).Certificates()[0].Certificate.Thumbprint}
	f.configure(inv)
	f.probe(1)
	status("its TLS certificate is accepted by thumbprint only", desktop.SAMLWarn)
}

func TestOnlySignedMetadataAreUsed(t *testing.T) {
	t.Parallel()
	s := newSigner(t, 100*time.Hour)
	valid := s.sign(t, metadata(time.Now().Add(time.Hour), s.cert))
	// An attacker puts the signed provider into a list, beside another one.
	wrapped := `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">` +
		strings.Replace(metadata(time.Now().Add(time.Hour)), "https://idp.example", "https://evil.example", 1) + valid + `</EntitiesDescriptor>`
	if r, err := readMetadata([]byte(wrapped), s.file(t), time.Now()); err == nil && r.EntityID != "https://idp.example" {
		t.Errorf("readMetadata = %+v, though only https://idp.example is signed", r)
	}
	if r, err := readMetadata([]byte(valid), s.file(t), time.Now()); err != nil || !r.Signed {
		t.Errorf("readMetadata = %+v %v", r, err)
	}
}

func TestMetadataAreValidUntilTheEarliestEnd(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name         string
		list, entity string // validUntil of the list and of the entity in it
		want         time.Time
	}{
		{"the list ends first", now.Add(day).Format(time.RFC3339), now.Add(9 * day).Format(time.RFC3339), now.Add(day)},
		{"the entity ends first", now.Add(9 * day).Format(time.RFC3339), now.Add(day).Format(time.RFC3339), now.Add(day)},
		{"only the list ends", now.Add(day).Format(time.RFC3339), "", now.Add(day)},
		{"nothing ends", "", "", time.Time{}},
	} {
		text := fmt.Sprintf(`<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" validUntil="%s">`+
			`<EntityDescriptor entityID="https://idp.example" validUntil="%s"><IDPSSODescriptor/></EntityDescriptor></EntitiesDescriptor>`, tt.list, tt.entity)
		r, err := readMetadata([]byte(text), "", now)
		if err != nil || !r.ValidUntil.Equal(tt.want) {
			t.Errorf("%s: valid until %s, want %s (%v)", tt.name, r.ValidUntil, tt.want, err)
		}
	}
	text := `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" validUntil="soon">` + metadata(now) + `</EntitiesDescriptor>`
	if r, err := readMetadata([]byte(text), "", now); err == nil {
		t.Errorf("metadata with the malformed validUntil \"soon\" were accepted: %+v", r)
	}
}

func FuzzReadMetadata(f *testing.F) {
	f.Add(metadata(time.Unix(0, 0)))
	f.Add(`<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"><EntityDescriptor/></EntitiesDescriptor>`)
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := readMetadata([]byte(text), "", time.Unix(0, 0)); err == nil && r.EntityID == "" {
			t.Error("a provider without an entity id was accepted")
		}
	})
}
