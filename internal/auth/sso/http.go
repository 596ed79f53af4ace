package sso

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"
)

// NewClient returns an HTTP client for the identity provider. It trusts the
// certificate authorities of the system and those in caFile, and uses the proxy;
// both may be empty. It follows no redirects and reads at most 1 MiB of a
// response.
func NewClient(caFile, proxy string) (*http.Client, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the certificate authorities of the system: %w", err)
	}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, err
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, errors.New("the file " + caFile + " contains no certificate")
		}
	}
	t := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 5 * time.Second, IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 4,
	}
	if proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil {
			return nil, errors.New("the address of the proxy is not valid")
		}
		t.Proxy = http.ProxyURL(u)
	}
	return &http.Client{
		Timeout: 10 * time.Second, Transport: limited{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// limited limits the size of responses.
type limited struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, 1<<20)
	}
	return res, err
}
