package httpapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"vigil/internal/atomicfile"
)

// A Certificate is a server's certificate and key, stored in two files. It
// reloads them when the files change, without a restart. While the new files
// cannot be loaded, the old certificate stays in use.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	now               func() time.Time

	mu        sync.Mutex
	current   *tls.Certificate
	stamp     [2]fileStamp
	checkedAt time.Time
}

// fileStamp detects that a file has changed.
type fileStamp struct {
	modified time.Time
	size     int64
}

// certificateCheckInterval is how often the files are checked for changes, at most.
const certificateCheckInterval = time.Second

// LoadCertificate reads a certificate and its key in PEM.
func LoadCertificate(certFile, keyFile string, log *slog.Logger, now func() time.Time) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log, now: now}
	c.stamp = c.stamps()
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	c.current, c.checkedAt = &pair, now()
	return c, nil
}

// OwnCertificate loads the server's own self-signed certificate from a folder.
// It creates one when there is none or it has expired.
func OwnCertificate(dir string, log *slog.Logger, now func() time.Time) (*Certificate, error) {
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	c, err := LoadCertificate(certFile, keyFile, log, now)
	switch {
	case err == nil && c.current.Leaf.NotAfter.After(now()):
		return c, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder for certificate: %w", err)
	}
	if err := selfSign(certFile, keyFile, now()); err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	return LoadCertificate(certFile, keyFile, log, now)
}

// config returns the server's TLS settings with this certificate. Client
// certificates of the given authorities are accepted but not required.
func (c *Certificate) config(clients *x509.CertPool) *tls.Config {
	auth := tls.NoClientCert
	if clients != nil {
		auth = tls.VerifyClientCertIfGiven
	}
	return &tls.Config{
		ClientCAs:      clients,
		ClientAuth:     auth,
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.currentCertificate(), nil },
	}
}

// currentCertificate returns the current certificate, reloaded if the files changed.
func (c *Certificate) currentCertificate() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Sub(c.checkedAt) < certificateCheckInterval {
		return c.current
	}
	c.checkedAt = c.now()
	stamp := c.stamps()
	if stamp == c.stamp {
		return c.current
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		// Perhaps only one of the two files was replaced so far: the next call tries
		// again.
		c.log.Warn("changed certificate could not be loaded; the old one stays in use", "file", c.certFile, "err", err)
		return c.current
	}
	c.current, c.stamp = &pair, stamp
	c.log.Info("certificate reloaded", "file", c.certFile, "not_after", pair.Leaf.NotAfter)
	return c.current
}

func (c *Certificate) stamps() (s [2]fileStamp) {
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			s[i] = fileStamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// selfSign creates a key and a self-signed certificate for the host names of
// this machine.
func selfSign(certFile, keyFile string, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	names := []string{"localhost"}
	if host, err := os.Hostname(); err == nil && host != "" && host != "localhost" {
		names = append(names, host)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: names[len(names)-1], Organization: []string{"Vigil, self-signed"}},
		DNSNames:     names,
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(2, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		// The certificate is its own authority, so that clients can trust it alone.
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	// A crash after the key was replaced must not leave a certificate that does not match
	// it: without a certificate, the next start creates both again.
	if err := os.Remove(certFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writePEM(keyFile, "PRIVATE KEY", der, 0o600); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", cert, 0o644)
}

func writePEM(name, kind string, der []byte, mode fs.FileMode) error {
	return atomicfile.WriteBytes(name, mode, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
