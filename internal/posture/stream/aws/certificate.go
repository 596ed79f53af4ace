package aws

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"vigil/internal/fault"
	"vigil/internal/posture/stream/refusal"
)

// Limits of fetching a certificate.
const (
	fetchTime   = 5 * time.Second
	fetchSize   = 64 << 10
	failureKept = 30 * time.Second // before a failed URL is fetched again
	maxCached   = 64               // cached certificates
)

// certificatePath matches the paths of SNS's certificates.
var certificatePath = regexp.MustCompile(`^/[A-Za-z0-9_-]{1,128}\.pem$`)

// certificateName matches the subjects of SNS's certificates.
var certificateName = regexp.MustCompile(`^sns(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?$`)

// Certificates fetches and caches the certificates of the keys that SNS signs with.
// It is safe for concurrent use.
type Certificates struct {
	http *http.Client
	now  func() time.Time

	flight singleflight.Group
	mu     sync.Mutex
	cache  map[string]cached
}

// cached is the result of fetching a certificate.
type cached struct {
	key   *rsa.PublicKey
	err   error
	from  time.Time // validity of the certificate
	until time.Time
	tried time.Time // time of the fetch
}

// NewCertificates returns an empty cache. The client must be restricted to the
// addresses of the clouds; redirects are not followed.
func NewCertificates(client *http.Client, now func() time.Time) *Certificates {
	strict := *client
	strict.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Certificates{http: &strict, now: now, cache: map[string]cached{}}
}

// Key returns the public key of the certificate at a URL, which must be on the given
// host of SNS.
func (c *Certificates) Key(ctx context.Context, address, host string) (*rsa.PublicKey, error) {
	if err := checkAddress(address, host); err != nil {
		return nil, err
	}
	if k, ok := c.lookup(address); ok {
		return k.key, k.err
	}
	// Concurrent callers share one fetch. The end of the first caller's context must not cancel it.
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

// checkAddress fails unless the URL is one of SNS's certificates on the host. It compares the
// text, so that a user, port, query, fragment or escape is refused like another host.
func checkAddress(address, host string) error {
	path, ok := strings.CutPrefix(address, "https://"+host)
	if !ok || !certificatePath.MatchString(path) {
		return refusal.New(refusal.Certificate, "the certificate is not at %s", host)
	}
	return nil
}

// lookup returns the cached result of a URL, unless it has expired.
func (c *Certificates) lookup(address string) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.cache[address]
	now := c.now()
	switch {
	case !ok:
		return k, false
	case k.err != nil:
		return k, now.Sub(k.tried) < failureKept
	}
	return k, !now.Before(k.from) && now.Before(k.until)
}

// fetch downloads and checks a certificate and caches the result, failures too.
func (c *Certificates) fetch(ctx context.Context, address string) (*rsa.PublicKey, error) {
	k := cached{tried: c.now()}
	cert, err := c.download(ctx, address)
	if err == nil {
		k.key, err = c.check(cert)
		k.from, k.until = cert.NotBefore, cert.NotAfter
	}
	k.err = err
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cache) >= maxCached {
		for evicted := range c.cache {
			delete(c.cache, evicted)
			break
		}
	}
	c.cache[address] = k
	return k.key, k.err
}

func (c *Certificates) download(ctx context.Context, address string) (*x509.Certificate, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, refusal.New(refusal.Certificate, "fetch certificate: %w", err)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, unavailable(err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= http.StatusInternalServerError:
		return nil, unavailable(fmt.Errorf("status %d", res.StatusCode))
	case res.StatusCode != http.StatusOK:
		return nil, refusal.New(refusal.Certificate, "fetch certificate: status %d", res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, fetchSize+1))
	switch {
	case err != nil:
		return nil, unavailable(err)
	case len(text) > fetchSize:
		return nil, refusal.New(refusal.Certificate, "fetch certificate: more than %d bytes", fetchSize)
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

// unavailable returns the error of a genuine address that could not be read. SNS sends a
// message again after this error, but not after a refusal.
func unavailable(err error) error {
	return fault.Wrap(fault.Unavailable, err, "the certificate of SNS could not be fetched")
}

// check returns the key of a certificate if it is valid now and issued to SNS.
func (c *Certificates) check(cert *x509.Certificate) (*rsa.PublicKey, error) {
	if now := c.now(); now.Before(cert.NotBefore) || !now.Before(cert.NotAfter) {
		return nil, refusal.New(refusal.Certificate, "the certificate is not valid now")
	}
	nameMatches := certificateName.MatchString(cert.Subject.CommonName)
	for _, name := range cert.DNSNames {
		nameMatches = nameMatches || certificateName.MatchString(name)
	}
	if !nameMatches {
		return nil, refusal.New(refusal.Certificate, "the certificate is not for SNS")
	}
	key, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok || key.N.BitLen() < 2048 {
		return nil, refusal.New(refusal.Certificate, "the certificate's key is too weak")
	}
	return key, nil
}
