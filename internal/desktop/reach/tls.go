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

// Shown holds the certificate that an endpoint showed, also when it was not
// accepted. It is safe for concurrent use.
type Shown struct {
	mu          sync.Mutex
	certificate *desktop.Certificate
	err         error
}

// Certificate returns what was shown last, or nil.
func (s *Shown) Certificate() *desktop.Certificate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.certificate
}

// Err returns why the certificate was not accepted, for libraries that swallow
// the cause of a failed handshake.
func (s *Shown) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Shown) set(c *desktop.Certificate, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.certificate, s.err = c, err
}

// TLS returns a configuration that accepts what the trust says, for the given
// host name, and notes in shown what it saw.
func TLS(t desktop.Trust, host string, now func() time.Time, shown *Shown) (*tls.Config, error) {
	roots, err := rootsOf(t)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: host,
		// Verification happens below, so that an unverified certificate is still
		// seen, and may be accepted by its thumbprint.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			name := host
			if name == "" {
				name = state.ServerName
			}
			c, err := judge(t, roots, name, now(), state.PeerCertificates)
			shown.set(c, err)
			return err
		},
	}, nil
}

// rootsOf returns the accepted roots, nil for the machine's own.
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
		return nil, &desktop.Failure{Cause: desktop.Untrusted, Reason: "the accepted authorities are no PEM certificates"}
	}
	return pool, nil
}

// judge verifies a chain and describes its leaf.
func judge(t desktop.Trust, roots *x509.CertPool, host string, now time.Time, chain []*x509.Certificate) (*desktop.Certificate, error) {
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

// Describe tells of a certificate what the API tells, without judging it.
func Describe(cert *x509.Certificate) desktop.Certificate {
	sum := sha256.Sum256(cert.Raw)
	return desktop.Certificate{
		ValidFrom:  desktop.MillisOf(cert.NotBefore),
		ValidTo:    desktop.MillisOf(cert.NotAfter),
		Thumbprint: hex.EncodeToString(sum[:]),
		SelfMade:   bytes.Equal(cert.RawIssuer, cert.RawSubject),
	}
}
