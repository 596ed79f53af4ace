package reach

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"time"

	"vigil/internal/desktop"
)

// PeerCertificate records the certificate that an endpoint presented, even if it was not
// accepted. It is safe for concurrent use.
type PeerCertificate struct {
	mu          sync.Mutex
	certificate *desktop.Certificate
	err         error
}

// Certificate returns the last certificate, or nil.
func (p *PeerCertificate) Certificate() *desktop.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.certificate
}

// Err returns why the last certificate was not accepted, for libraries that hide the
// cause of a failed handshake.
func (p *PeerCertificate) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// ClearErr clears the error and keeps the certificate. Without it, the error of an earlier
// connection would explain the failure of a later one that presents no certificate.
func (p *PeerCertificate) ClearErr() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = nil
}

func (p *PeerCertificate) set(c *desktop.Certificate, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.certificate, p.err = c, err
}

// TLS returns a configuration that verifies the server by t and the host name,
// and records its certificate in peerCert.
func TLS(t desktop.Trust, host string, now func() time.Time, peerCert *PeerCertificate) (*tls.Config, error) {
	roots, err := rootsOf(t)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: host,
		// VerifyConnection below verifies the certificate, so that an unverified one is
		// still recorded, and may be accepted by its thumbprint.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			name := host
			if name == "" {
				name = state.ServerName
			}
			c, err := verify(t, roots, name, now(), state.PeerCertificates)
			peerCert.set(c, err)
			return err
		},
	}, nil
}

// rootsOf returns the accepted roots, nil for the system's.
func rootsOf(t desktop.Trust) (*x509.CertPool, error) {
	pem := []byte(t.CAPEM)
	if t.CAFile != "" {
		text, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, &desktop.Failure{Cause: desktop.Untrusted, Reason: "the file of accepted authorities cannot be read", Err: err}
		}
		pem = text
	}
	if len(pem) == 0 {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, &desktop.Failure{Cause: desktop.Untrusted, Reason: "the accepted authorities are not PEM certificates"}
	}
	return pool, nil
}

// verify verifies a chain and describes its leaf.
func verify(t desktop.Trust, roots *x509.CertPool, host string, now time.Time, chain []*x509.Certificate) (*desktop.Certificate, error) {
	if len(chain) == 0 {
		return nil, &desktop.Failure{Cause: desktop.Untrusted, Reason: host + " shows no certificate"}
	}
	leaf := chain[0]
	c := Describe(leaf)
	intermediates := x509.NewCertPool()
	for _, each := range chain[1:] {
		intermediates.AddCert(each)
	}
	_, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: intermediates, CurrentTime: now})
	switch {
	case err == nil:
		c.Valid = true
		return &c, nil
	case t.Thumbprint != "" && subtle.ConstantTimeCompare([]byte(c.Thumbprint), []byte(t.Thumbprint)) == 1:
		c.Accepted = true
		return &c, nil
	}
	reason := fmt.Sprintf("the certificate of %s is not trusted: %v", host, err)
	return &c, &desktop.Failure{Cause: desktop.Untrusted, Reason: reason, Err: err}
}

// Describe converts a certificate to the API's description, without verifying
// it.
func Describe(cert *x509.Certificate) desktop.Certificate {
	sum := sha256.Sum256(cert.Raw)
	return desktop.Certificate{
		ValidFrom:  desktop.MillisOf(cert.NotBefore),
		ValidTo:    desktop.MillisOf(cert.NotAfter),
		Thumbprint: hex.EncodeToString(sum[:]),
		SelfSigned: bytes.Equal(cert.RawIssuer, cert.RawSubject),
	}
}
