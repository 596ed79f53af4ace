// Package saml simulates a SAML identity provider: it serves signed metadata
// over HTTPS, which can be expired, tampered with or of another type.
package saml

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"

	"vigil/internal/sim/site"
)

// Fault is a fault of the metadata. Use Provider.Site to simulate a provider that is down
// or has a bad TLS certificate.
type Fault int

// The faults of a provider.
const (
	Healthy        Fault = iota
	Expired              // the metadata were valid until yesterday
	EndingSoon           // the metadata are valid for another week
	Tampered             // the metadata were changed after signing
	NoProvider           // the metadata describe a service provider, not an identity provider
	Nonsense             // the content is not XML
	SigningExpired       // the signing certificate has expired
)

// Options configure a provider.
type Options struct {
	EntityID    string
	Certificate tls.Certificate // of the site
	Now         func() time.Time
}

// Provider is one simulated identity provider. It is safe for concurrent use.
type Provider struct {
	*site.Site
	entity  string
	now     func() time.Time
	key     *rsa.PrivateKey
	signing *x509.Certificate
	expired *x509.Certificate // of the same key, expired

	mu    sync.Mutex
	fault Fault
}

// signingKey is the key of all providers of a process. Tests start many providers, and
// generating a key takes longer than most tests.
var signingKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// New returns a provider.
func New(o Options) (*Provider, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Provider{entity: o.EntityID, now: o.Now}
	var err error
	if p.key, err = signingKey(); err != nil {
		return nil, err
	}
	if p.signing, err = p.certify(o.Now().Add(-time.Hour), o.Now().AddDate(2, 0, 0)); err != nil {
		return nil, err
	}
	if p.expired, err = p.certify(o.Now().AddDate(-2, 0, 0), o.Now().Add(-time.Hour)); err != nil {
		return nil, err
	}
	p.Site = site.New(o.Certificate, http.HandlerFunc(p.serve))
	return p, nil
}

func (p *Provider) certify(from, to time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: p.entity},
		NotBefore: from, NotAfter: to, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, p.key.Public(), p.key)
	if err != nil {
		return nil, fmt.Errorf("make signing certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// MetadataURL returns the address of the metadata.
func (p *Provider) MetadataURL() string { return p.URL() + "/metadata" }

// SignerPEM returns the certificate of the metadata's signer.
func (p *Provider) SignerPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.signing.Raw})
}

// Break sets the provider's fault; Healthy removes it.
func (p *Provider) Break(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

func (p *Provider) currentFault() Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/metadata" {
		http.NotFound(w, r)
		return
	}
	text, err := p.metadata(p.currentFault())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/samlmetadata+xml")
	_, _ = w.Write(text) // fails only if the client has disconnected
}

// metadata returns the signed metadata.
func (p *Provider) metadata(f Fault) ([]byte, error) {
	if f == Nonsense {
		return []byte("<html>under maintenance"), nil
	}
	root := p.describe(f)
	context, err := dsig.NewSigningContext(p.key, [][]byte{p.signing.Raw})
	if err != nil {
		return nil, err
	}
	context.Hash = crypto.SHA256
	context.IdAttribute = "ID"
	context.Canonicalizer = dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
	signed, err := context.SignEnveloped(root)
	if err != nil {
		return nil, fmt.Errorf("sign metadata: %w", err)
	}
	if f == Tampered {
		signed.CreateAttr("entityID", "https://evil.example/idp")
	}
	// The schema requires the signature as the first child.
	signature := signed.RemoveChildAt(len(signed.Child) - 1)
	signed.InsertChildAt(0, signature)
	doc := etree.NewDocument()
	doc.SetRoot(signed)
	return doc.WriteToBytes()
}

func (p *Provider) describe(f Fault) *etree.Element {
	until := p.now().AddDate(0, 3, 0)
	switch f {
	case Expired:
		until = p.now().AddDate(0, 0, -1)
	case EndingSoon:
		until = p.now().AddDate(0, 0, 7)
	}
	root := etree.NewElement("md:EntityDescriptor")
	root.CreateAttr("xmlns:md", "urn:oasis:names:tc:SAML:2.0:metadata")
	root.CreateAttr("xmlns:ds", "http://www.w3.org/2000/09/xmldsig#")
	root.CreateAttr("ID", "_"+rand.Text())
	root.CreateAttr("entityID", p.entity)
	root.CreateAttr("validUntil", until.UTC().Format(time.RFC3339))
	role := "md:IDPSSODescriptor"
	if f == NoProvider {
		role = "md:SPSSODescriptor"
	}
	idp := root.CreateElement(role)
	idp.CreateAttr("protocolSupportEnumeration", "urn:oasis:names:tc:SAML:2.0:protocol")
	key := idp.CreateElement("md:KeyDescriptor")
	key.CreateAttr("use", "signing")
	certificate := p.signing
	if f == SigningExpired {
		certificate = p.expired
	}
	key.CreateElement("ds:KeyInfo").CreateElement("ds:X509Data").CreateElement("ds:X509Certificate").
		SetText(base64.StdEncoding.EncodeToString(certificate.Raw))
	service := idp.CreateElement("md:SingleSignOnService")
	service.CreateAttr("Binding", "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect")
	service.CreateAttr("Location", p.entity+"/sso")
	return root
}
