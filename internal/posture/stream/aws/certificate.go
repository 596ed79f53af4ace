package aws

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"vigil/internal/posture/stream/refusal"
)

// Limits of fetching a certificate.
const (
	fetchTime   = 5 * time.Second
	fetchSize   = 64 << 10
	failureKept = 30 * time.Second // before an address that failed is asked again
	keysKept    = 64               // certificates that are remembered
)

// certificatePath is what the addresses of SNS's certificates look like.
var certificatePath = regexp.MustCompile(`^/[A-Za-z0-9_-]{1,128}\.pem$`)

// certificateName is what SNS's certificates are for.
var certificateName = regexp.MustCompile(`^sns(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?$`)

// Certificates fetches the keys that SNS signs with and remembers them. It is
// safe for concurrent use.
type Certificates struct {
	http *http.Client
	now  func() time.Time

	flight singleflight.Group
	mu     sync.Mutex
	known  map[string]known
}

// known is what came of fetching a certificate.
type known struct {
	key    *rsa.PublicKey
	err    error
	from   time.Time
	until  time.Time
	looked time.Time
}

// NewCertificates returns an empty memory. The client must reach nothing but the
// clouds; redirects are refused here.
func NewCertificates(client *http.Client, now func() time.Time) *Certificates {
	strict := *client
	strict.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Certificates{http: &strict, now: now, known: map[string]known{}}
}

// Key returns the key of the certificate at an address, which must be one of the
// given host of SNS.
func (c *Certificates) Key(ctx context.Context, address, host string) (*rsa.PublicKey, error) {
	if err := checkAddress(address, host); err != nil {
		return nil, err
	}
	if k, ok := c.remembered(address); ok {
		return k.key, k.err
	}
	// The fetch is for all who wait for it: it does not end with the first.
	got, err, _ := c.flight.Do(address, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
		defer cancel()
		return c.fetch(ctx, address)
	})
	if err != nil {
		return nil, err
	}
	return got.(*rsa.PublicKey), nil
}

// checkAddress refuses every address but those of certificates of SNS.
func checkAddress(address, host string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return refusal.New(refusal.Certificate, "read the certificate's address: %w", err)
	case u.Scheme != "https", u.Host != host, u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "", u.Opaque != "",
		!certificatePath.MatchString(u.Path), strings.ContainsAny(address, "#\\"):
		return refusal.New(refusal.Certificate, "the certificate is not at %s", host)
	}
	return nil
}

// remembered returns what is known of an address, unless it is out of date.
func (c *Certificates) remembered(address string) (known, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.known[address]
	now := c.now()
	switch {
	case !ok:
		return k, false
	case k.err != nil:
		return k, now.Sub(k.looked) < failureKept
	}
	return k, !now.Before(k.from) && now.Before(k.until)
}

// fetch reads a certificate and remembers what came of it.
func (c *Certificates) fetch(ctx context.Context, address string) (*rsa.PublicKey, error) {
	k := known{looked: c.now()}
	cert, err := c.download(ctx, address)
	if err == nil {
		k.key, err = c.check(cert)
		k.from, k.until = cert.NotBefore, cert.NotAfter
	}
	k.err = err
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= keysKept {
		for oldest := range c.known { // any: they are fetched again when needed
			delete(c.known, oldest)
			break
		}
	}
	c.known[address] = k
	return k.key, k.err
}

func (c *Certificates) download(ctx context.Context, address string) (*x509.Certificate, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, refusal.New(refusal.Certificate, "fetch certificate: %w", err)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, refusal.New(refusal.Certificate, "fetch certificate: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, refusal.New(refusal.Certificate, "fetch certificate: status %d", res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, fetchSize+1))
	if err != nil || len(text) > fetchSize {
		return nil, refusal.New(refusal.Certificate, "fetch certificate: %d bytes, %w", len(text), err)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, refusal.New(refusal.Certificate, "there is no certificate at the address")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, refusal.New(refusal.Certificate, "read certificate: %w", err)
	}
	return cert, nil
}

// check returns the key of a certificate that SNS may sign with now.
func (c *Certificates) check(cert *x509.Certificate) (*rsa.PublicKey, error) {
	if now := c.now(); now.Before(cert.NotBefore) || !now.Before(cert.NotAfter) {
		return nil, refusal.New(refusal.Certificate, "the certificate is not valid now")
	}
	named := certificateName.MatchString(cert.Subject.CommonName)
	for _, name := range cert.DNSNames {
		named = named || certificateName.MatchString(name)
	}
	if !named {
		return nil, refusal.New(refusal.Certificate, "the certificate is not for SNS")
	}
	key, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok || key.N.BitLen() < 2048 {
		return nil, refusal.New(refusal.Certificate, "the certificate's key is too weak")
	}
	return key, nil
}
