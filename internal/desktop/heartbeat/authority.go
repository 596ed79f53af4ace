package heartbeat

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"

	"vigil/internal/fault"
)

// authorityLife is long because agents store the authority's certificate.
const authorityLife = 20 * 365 * 24 * time.Hour

// backdate makes certificates valid at once on machines whose clock is behind.
const backdate = time.Hour

// authority signs the certificates of agents.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pool *x509.CertPool
}

// openAuthority returns the stored authority, or creates one.
func openAuthority(ctx context.Context, store Store, now time.Time) (*authority, error) {
	keys, err := store.Authority(ctx)
	if fault.Is(err, fault.NotFound) {
		keys, err = newAuthority(now)
		if err == nil {
			keys, err = store.KeepAuthority(ctx, keys)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open agent authority: %w", err)
	}
	a, err := parseAuthority(keys)
	if err != nil {
		return nil, fmt.Errorf("open agent authority: %w", err)
	}
	return a, nil
}

func newAuthority(now time.Time) (Keys, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Keys{}, err
	}
	serial, err := newSerial()
	if err != nil {
		return Keys{}, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "Vigil agent authority"},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(authorityLife),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return Keys{}, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return Keys{Certificate: cert, Key: der}, err
}

func parseAuthority(k Keys) (*authority, error) {
	cert, err := x509.ParseCertificate(k.Certificate)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(k.Key)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, errors.New("the key cannot sign")
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert: cert, key: key, pool: pool}, nil
}

func newSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
}

// issue signs a certificate for an agent. It uses only the public key of the
// request.
func (a *authority) issue(agent Agent, request *x509.CertificateRequest, now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: string(agent.ID), OrganizationalUnit: []string{string(agent.Kind)}},
		NotBefore:    now.Add(-backdate),
		NotAfter:     now.Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	template.URIs = append(template.URIs, agent.uri())
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, request.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate of %s %s: %w", agent.Kind, agent.ID, err)
	}
	return x509.ParseCertificate(der)
}

// identify returns the agent that a certificate was issued to.
func (a *authority) identify(cert *x509.Certificate, now time.Time) (Agent, error) {
	if cert == nil {
		return Agent{}, fault.New(fault.Unauthenticated, "a client certificate is required")
	}
	_, err := cert.Verify(x509.VerifyOptions{
		Roots: a.pool, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return Agent{}, fault.Wrap(fault.Unauthenticated, err, "the client certificate is not accepted")
	}
	if len(cert.URIs) == 1 {
		if agent, ok := agentOf(cert.URIs[0]); ok {
			return agent, nil
		}
	}
	return Agent{}, fault.New(fault.Unauthenticated, "the client certificate has no agent's name")
}

func certificateOf(agent Agent, cert *x509.Certificate) Certificate {
	return Certificate{Serial: serialOf(cert), Agent: agent, NotBefore: cert.NotBefore, NotAfter: cert.NotAfter}
}

func serialOf(cert *x509.Certificate) string { return cert.SerialNumber.Text(16) }

func encodePEM(cert *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
}

// parseRequest parses a PEM certificate request and checks that it is signed
// with its own key, and that the key is strong enough.
func parseRequest(text string) (*x509.CertificateRequest, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, fault.Field("csr", "must be one PEM certificate request")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fault.Field("csr", "is not a certificate request")
	}
	if err := request.CheckSignature(); err != nil {
		return nil, fault.Field("csr", "is not signed with its own key")
	}
	switch key := request.PublicKey.(type) {
	case *ecdsa.PublicKey, ed25519.PublicKey:
	case *rsa.PublicKey:
		if key.N.BitLen() < 2048 || key.N.BitLen() > 8192 {
			return nil, fault.Field("csr", "must have an RSA key of 2048 to 8192 bits")
		}
	default:
		return nil, fault.Field("csr", "must have an ECDSA, Ed25519 or RSA key")
	}
	return request, nil
}
