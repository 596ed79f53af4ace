// Package egress makes all HTTP calls to the clouds.
//
// It connects only to hosts of the clouds, so that no credential, key file or response
// can make the server call another host. It takes neither proxies nor credentials from
// its environment. In development, a gateway can simulate all of these hosts.
package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vigil/internal/outbound"
)

// Clouds lists the hosts of AWS, Azure and Google Cloud, commercial and government. A name
// that begins with a dot includes all of its subdomains.
var Clouds = []string{
	".amazonaws.com", ".amazonaws.com.cn", ".api.aws",
	"login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn", "login.microsoft.com",
	"management.azure.com", "management.usgovcloudapi.net", "management.chinacloudapi.cn",
	"graph.microsoft.com", "graph.microsoft.us", "dod-graph.microsoft.us", "microsoftgraph.chinacloudapi.cn",
	".vault.azure.net", ".vault.usgovcloudapi.net",
	".googleapis.com",
}

// ErrRefused is the error of a call to a host that is not allowed.
var ErrRefused = errors.New("not a host of a cloud")

// Options configure a transport.
type Options struct {
	Allow   []string // allowed hosts; Clouds when empty
	Proxy   *url.URL // none when nil; never taken from the environment
	CA      []byte   // PEM of certificate authorities that are trusted besides the system's, such as that of a proxy
	Gateway *Gateway // simulates all clouds; nil in production

	// Timeout limits the time to connect to a host, and the time until its response
	// headers arrive. 30 s when zero.
	Timeout time.Duration
	// PerHost is the maximum number of connections per host. 32 when zero.
	PerHost int
	// Observe is called for every call when its response headers arrive or it fails.
	Observe func(Call)
}

// A Gateway simulates the clouds in development.
type Gateway struct {
	Address string // host:port
	CA      []byte // PEM of the certificate authority of its certificates
}

// A Call describes one HTTP exchange, for metrics.
type Call struct {
	Host   string
	Method string
	Status int // 0 when there was no response
	Took   time.Duration
	Err    error
}

// Transport is an http.RoundTripper for calls to the clouds. It is safe for concurrent use.
type Transport struct {
	allow   []string
	observe func(Call)
	inner   *http.Transport
}

// New returns a transport.
func New(o Options) (*Transport, error) {
	if len(o.Allow) == 0 {
		o.Allow = Clouds
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.PerHost == 0 {
		o.PerHost = 32
	}
	if o.Observe == nil {
		o.Observe = func(Call) {}
	}
	// A proxy or gateway is configured by the operator and may run on this machine.
	dialer := outbound.Policy{AllowSelf: o.Proxy != nil || o.Gateway != nil}.Dialer(o.Timeout)
	t := &Transport{allow: o.Allow, observe: o.Observe, inner: &http.Transport{
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   o.Timeout,
		ResponseHeaderTimeout: o.Timeout,
		MaxIdleConns:          256, // each bucket and vault has its own host
		MaxIdleConnsPerHost:   o.PerHost,
		MaxConnsPerHost:       o.PerHost,
		IdleConnTimeout:       30 * time.Second,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
	}}
	if o.Proxy != nil {
		t.inner.Proxy = http.ProxyURL(o.Proxy)
	}
	if len(o.CA) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("read the certificate authorities of the system: %w", err)
		}
		if !pool.AppendCertsFromPEM(o.CA) {
			return nil, errors.New("the file of certificate authorities contains no certificate")
		}
		t.inner.TLSClientConfig.RootCAs = pool
	}
	if o.Gateway != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(o.Gateway.CA) {
			return nil, errors.New("the CA of the gateway contains no certificate")
		}
		t.inner.Proxy = nil
		t.inner.TLSClientConfig.RootCAs = pool
		t.inner.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, o.Gateway.Address)
		}
	}
	return t, nil
}

// RoundTrip implements [http.RoundTripper]. It also checks redirects, so that they cannot
// lead to other hosts.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	host := strings.ToLower(r.URL.Hostname())
	if r.URL.Scheme != "https" || !t.isAllowed(host, r.URL.Port()) {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, fmt.Errorf("call %s: %w", r.URL.Host, ErrRefused)
	}
	if r.Body != nil && r.Body != http.NoBody {
		r = r.WithContext(r.Context()) // copy the request: the caller owns it
		r.Body = plainBody{r.Body}
	}
	start := time.Now()
	answer, err := t.inner.RoundTrip(r)
	call := Call{Host: host, Method: r.Method, Took: time.Since(start), Err: err}
	if answer != nil {
		call.Status = answer.StatusCode
	}
	t.observe(call)
	return answer, err
}

// plainBody hides all methods of a request body except Read and Close. The AWS SDK closes a
// body as soon as there is a response, while net/http may still be reading it. WriteTo of a
// closed SDK body fails, and net/http then closes the connection in the middle of the
// response.
type plainBody struct{ io.ReadCloser }

// isAllowed reports whether a host and port are allowed. The clouds use only the default port.
func (t *Transport) isAllowed(host, port string) bool {
	if port != "" && port != "443" {
		return false
	}
	for _, name := range t.allow {
		if host == name || name[0] == '.' && strings.HasSuffix(host, name) {
			return true
		}
	}
	return false
}

// Client returns an HTTP client that uses the transport. It does not follow redirects,
// because SDKs sign a request for one host.
func (t *Transport) Client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Close closes idle connections.
func (t *Transport) Close() { t.inner.CloseIdleConnections() }
