// Package egress is the only way out to the clouds.
//
// It reaches the clouds' own hosts and no others, so that no credential, key
// file or answer of a cloud can make the server call somebody else. It takes
// neither proxies nor credentials from its surroundings. For development the
// same hosts can be reached through a gateway that stands in for all of them.
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

// Clouds lists the hosts of AWS, Azure and Google Cloud, commercial and
// government. A name that begins with a dot stands for everything below it.
var Clouds = []string{
	".amazonaws.com", ".amazonaws.com.cn", ".api.aws",
	"login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn", "login.microsoft.com",
	"management.azure.com", "management.usgovcloudapi.net", "management.chinacloudapi.cn",
	"graph.microsoft.com", "graph.microsoft.us", "dod-graph.microsoft.us", "microsoftgraph.chinacloudapi.cn",
	".vault.azure.net", ".vault.usgovcloudapi.net",
	".googleapis.com",
}

// ErrRefused says that a host is not one of a cloud.
var ErrRefused = errors.New("not a host of a cloud")

// Options say how the clouds are reached.
type Options struct {
	Allow   []string // hosts; Clouds when empty
	Proxy   *url.URL // none when nil; never taken from the environment
	Gateway *Gateway // stands in for all clouds; nil in production

	// Timeout is how long a host may take to accept a connection, and again to
	// begin its answer. 30 s when zero.
	Timeout time.Duration
	// PerHost is how many connections a host gets at most. 32 when zero.
	PerHost int
	// Observe is told of every call when it has its answer's header or failed.
	Observe func(Call)
}

// A Gateway stands in for the clouds in development.
type Gateway struct {
	Address string // host:port
	CA      []byte // PEM of the authority that signs its certificates
}

// A Call is one exchange with a cloud, for metrics.
type Call struct {
	Host   string
	Method string
	Status int // 0 when there was no answer
	Took   time.Duration
	Err    error
}

// Transport reaches the clouds. It is an http.RoundTripper and safe for
// concurrent use.
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
	// A proxy or the gateway, which the operator chose, may run on this machine.
	dialer := outbound.Policy{AllowSelf: o.Proxy != nil || o.Gateway != nil}.Dialer(o.Timeout)
	t := &Transport{allow: o.Allow, observe: o.Observe, inner: &http.Transport{
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   o.Timeout,
		ResponseHeaderTimeout: o.Timeout,
		MaxIdleConns:          256, // buckets and vaults have a host each
		MaxIdleConnsPerHost:   o.PerHost,
		MaxConnsPerHost:       o.PerHost,
		IdleConnTimeout:       30 * time.Second,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
	}}
	if o.Proxy != nil {
		t.inner.Proxy = http.ProxyURL(o.Proxy)
	}
	if o.Gateway != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(o.Gateway.CA) {
			return nil, errors.New("read the gateway's authority: no certificate in it")
		}
		t.inner.Proxy = nil
		t.inner.TLSClientConfig.RootCAs = pool
		t.inner.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, o.Gateway.Address)
		}
	}
	return t, nil
}

// RoundTrip implements [http.RoundTripper]. Redirects come through here too, so
// they cannot lead elsewhere.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	host := strings.ToLower(r.URL.Hostname())
	if r.URL.Scheme != "https" || !t.allowed(host, r.URL.Port()) {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, fmt.Errorf("call %s: %w", r.URL.Host, ErrRefused)
	}
	if r.Body != nil && r.Body != http.NoBody {
		r = r.WithContext(r.Context()) // a copy: the request is the caller's
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

// plainBody is the body of a request that can only be read. The SDK of AWS closes
// a body as soon as there is an answer; net/http may then still be looking for
// its end. A closed body of the SDK that is asked to write itself fails, upon
// which net/http closes the connection in the middle of the answer.
type plainBody struct{ io.ReadCloser }

// allowed reports whether a host is on the list. The clouds answer on the usual
// port alone.
func (t *Transport) allowed(host, port string) bool {
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

// Client returns an HTTP client that uses the transport and follows no
// redirects: SDKs sign a request for one host.
func (t *Transport) Client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Close closes the connections that nobody uses.
func (t *Transport) Close() { t.inner.CloseIdleConnections() }
