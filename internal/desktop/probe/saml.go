package probe

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/russellhaering/goxmldsig/etreeutils"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// saml returns the target of a SAML authenticator.
func (f TargetFactory) saml(a desktop.SAMLAuthenticator) Target {
	server := &web{address: a.MetadataURL, trust: a.Trust, now: f.Now}
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindSAMLAuthenticator, ID: a.ID, Name: a.Label}, Spec: a, Close: server.close,
		Probe: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			status, body, certificate, err := server.get(ctx, a.MetadataURL, nil)
			if err == nil && status != http.StatusOK {
				err = brokenMetadata(fmt.Sprintf("are answered with status %d", status), nil)
			}
			if err != nil {
				return nil, certificate, err
			}
			reading, err := readMetadata(body, a.SignerFile, f.Now())
			return reading, certificate, err
		},
	}
}

// readMetadata parses the metadata of an identity provider. With a signer file,
// it uses only the part that an accepted signer has signed.
func readMetadata(text []byte, signerFile string, now time.Time) (desktop.SAMLReading, error) {
	signed := signerFile != ""
	if signed {
		var err error
		if text, err = verifyMetadata(text, signerFile, now); err != nil {
			return desktop.SAMLReading{}, err
		}
	}
	entity, ends, err := decodeMetadata(text)
	if err != nil {
		return desktop.SAMLReading{}, err
	}
	reading := desktop.SAMLReading{EntityID: entity.EntityID, Signed: signed}
	for _, validUntil := range ends {
		end, err := time.Parse(time.RFC3339, validUntil)
		if err != nil {
			return desktop.SAMLReading{}, brokenMetadata("have a malformed validUntil", err)
		}
		if reading.ValidUntil.IsZero() || end.Before(reading.ValidUntil) {
			reading.ValidUntil = end
		}
	}
	reading.Signing = signingCertificate(entity, now)
	return reading, nil
}

// verifyMetadata returns the part of the metadata that is covered by a signature of
// an accepted signer. Nothing else may be used.
func verifyMetadata(text []byte, signerFile string, now time.Time) ([]byte, error) {
	signers, err := certificatesIn(signerFile)
	if err != nil {
		return nil, &desktop.Failure{Cause: desktop.Untrusted, Reason: "the certificates of the accepted signers cannot be read", Err: err}
	}
	doc := etree.NewDocument()
	doc.ReadSettings.ValidateInput = true
	if err := doc.ReadFromBytes(text); err != nil || doc.Root() == nil {
		return nil, brokenMetadata("are not XML", err)
	}
	validation := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: signers})
	validation.Clock = dsig.NewFakeClockAt(now)
	element, err := validation.Validate(doc.Root())
	if err != nil {
		return nil, &desktop.Failure{Cause: desktop.Untrusted, Reason: "the metadata are not signed by an accepted signer: " + err.Error(), Err: err}
	}
	scope, err := etreeutils.NSBuildParentContext(element)
	if err != nil {
		return nil, brokenMetadata("have unresolvable namespaces", err)
	}
	detached, err := etreeutils.NSDetatch(scope, element)
	if err != nil {
		return nil, brokenMetadata("have unresolvable namespaces", err)
	}
	out := etree.NewDocument()
	out.SetRoot(detached)
	return out.WriteToBytes()
}

func certificatesIn(file string) ([]*x509.Certificate, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("parse signer: %w", err)
		}
		out = append(out, cert)
	}
	if len(out) == 0 {
		return nil, errors.New("the file contains no certificate")
	}
	return out, nil
}

// entity is the part of the metadata that is used.
type entity struct {
	XMLName    xml.Name
	EntityID   string     `xml:"entityID,attr"`
	ValidUntil string     `xml:"validUntil,attr"`
	Providers  []provider `xml:"urn:oasis:names:tc:SAML:2.0:metadata IDPSSODescriptor"`
	Entities   []entity   `xml:"urn:oasis:names:tc:SAML:2.0:metadata EntityDescriptor"`
}

type provider struct {
	Keys []struct {
		Use          string   `xml:"use,attr"`
		Certificates []string `xml:"http://www.w3.org/2000/09/xmldsig# KeyInfo>X509Data>X509Certificate"`
	} `xml:"urn:oasis:names:tc:SAML:2.0:metadata KeyDescriptor"`
}

// decodeMetadata returns the identity provider in metadata: the root entity, or
// the first one in a list. ends are the validUntil attributes that apply to it, its own
// and that of the list.
func decodeMetadata(text []byte) (idp entity, ends []string, err error) {
	var root entity
	if err := xml.NewDecoder(bytes.NewReader(text)).Decode(&root); err != nil {
		return entity{}, nil, brokenMetadata("are not XML", err)
	}
	for _, e := range append([]entity{root}, root.Entities...) {
		if len(e.Providers) > 0 && e.EntityID != "" {
			ends = []string{root.ValidUntil, e.ValidUntil}
			return e, slices.DeleteFunc(ends, func(end string) bool { return end == "" }), nil
		}
	}
	return entity{}, nil, brokenMetadata("contain no identity provider", nil)
}

// signingCertificate returns the currently valid signing certificate that expires last. If
// none is valid, it returns the one that expires last, or nil if there is no certificate.
func signingCertificate(e entity, now time.Time) *desktop.Certificate {
	var best *desktop.Certificate
	for _, p := range e.Providers {
		for _, key := range p.Keys {
			if key.Use == "encryption" {
				continue
			}
			for _, text := range key.Certificates {
				raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
				if err != nil {
					continue
				}
				cert, err := x509.ParseCertificate(raw)
				if err != nil {
					continue
				}
				c := reach.Describe(cert)
				c.Valid = !now.Before(cert.NotBefore) && now.Before(cert.NotAfter)
				if best == nil || c.Valid && !best.Valid || c.Valid == best.Valid && c.ValidTo > best.ValidTo {
					best = &c
				}
			}
		}
	}
	return best
}

func brokenMetadata(reason string, err error) error {
	return &desktop.Failure{Cause: desktop.Broken, Reason: "its metadata " + reason, Err: err}
}
