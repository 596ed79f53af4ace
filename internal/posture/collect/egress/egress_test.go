package egress_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"vigil/internal/outbound"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/sim/gateway/gatewaytest"
)

// startGateway serves a gateway whose clouds all respond with the requested host.
func startGateway(t *testing.T) *egress.Gateway {
	t.Helper()
	g := gatewaytest.Listen(t)
	for _, host := range []string{".amazonaws.com", "login.microsoftonline.com", ".googleapis.com"} {
		g.Handle(host, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/away" {
				http.Redirect(w, r, "https://169.254.169.254/latest/meta-data", http.StatusFound)
				return
			}
			_, _ = io.WriteString(w, r.Host)
		}))
	}
	gatewaytest.Serve(t, g)
	return &egress.Gateway{Address: g.Address(), CA: g.CA()}
}

func TestOnlyCloudHostsAreAllowed(t *testing.T) {
	t.Parallel()
	transport, err := egress.New(egress.Options{Gateway: startGateway(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	for address, reached := range map[string]bool{
		"https://ec2.eu-west-1.amazonaws.com/":             true,
		"https://b.s3.eu-west-1.amazonaws.com/":            true,
		"https://STS.amazonaws.com/":                       true,
		"https://login.microsoftonline.com/common":         true,
		"https://compute.googleapis.com/":                  true,
		"https://example.org/":                             false,
		"https://amazonaws.com.evil.example/":              false,
		"https://evil-amazonaws.com/":                      false,
		"https://sts.amazonaws.com:8443/":                  false,
		"http://sts.amazonaws.com/":                        false,
		"https://127.0.0.1/":                               false,
		"https://169.254.169.254/latest/meta-data":         false,
		"https://sts.amazonaws.com@evil.example/":          false,
		"https://login.microsoftonline.com.evil.example/":  false,
		"https://not-login.microsoftonline.com/":           false,
		"https://evil.example/?.amazonaws.com":             false,
		"https://[::1]/":                                   false,
		"https://evil.example#.googleapis.com":             false,
		"https://user:pass@compute.googleapis.com.evil.x/": false,
	} {
		answer, err := transport.Client().Get(address)
		if answer != nil {
			answer.Body.Close()
		}
		if reached && err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if !reached && !errors.Is(err, egress.ErrRefused) {
			t.Errorf("%s: %v, want it refused", address, err)
		}
	}
}

func TestRedirectsToOtherHostsAreRefused(t *testing.T) {
	t.Parallel()
	transport, err := egress.New(egress.Options{Gateway: startGateway(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	answer, err := transport.Client().Get("https://sts.amazonaws.com/away")
	if err != nil || answer.StatusCode != http.StatusFound {
		t.Fatalf("want the redirect as the response; the client may have followed it: %v", err)
	}
	answer.Body.Close()
	follower := &http.Client{Transport: transport}
	if _, err := follower.Get("https://sts.amazonaws.com/away"); !errors.Is(err, egress.ErrRefused) {
		t.Errorf("a redirect to another host: %v, want it refused", err)
	}
}

func TestCallsAreObserved(t *testing.T) {
	t.Parallel()
	var calls []egress.Call
	transport, err := egress.New(egress.Options{Gateway: startGateway(t), Observe: func(c egress.Call) { calls = append(calls, c) }})
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	answer, err := transport.Client().Get("https://sts.amazonaws.com/x")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if len(calls) != 1 || calls[0].Host != "sts.amazonaws.com" || calls[0].Status != http.StatusOK || calls[0].Took <= 0 {
		t.Errorf("observed %+v", calls)
	}
}

// writerToBody is a body like those of the AWS SDK: it implements io.WriterTo,
// which fails once it is closed.
type writerToBody struct {
	io.Reader
	called *bool
}

func (e writerToBody) Close() error { return nil }

func (e writerToBody) WriteTo(io.Writer) (int64, error) {
	*e.called = true
	return 0, io.EOF
}

func TestBodyWriteToIsNotUsed(t *testing.T) {
	t.Parallel()
	transport, err := egress.New(egress.Options{Gateway: startGateway(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	called, text := false, "Action=DescribeVolumes"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://ec2.eu-west-1.amazonaws.com/", writerToBody{strings.NewReader(text), &called})
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len(text))
	answer, err := transport.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if called {
		t.Error("WriteTo was called, which fails when the SDK has closed the body")
	}
}

// setProxy makes the environment name a proxy, which does not exist.
func setProxy(t *testing.T) {
	t.Helper()
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
}

// TestProxyOfTheEnvironmentIsIgnored calls an address that is refused when the transport
// connects to it. Through the proxy, the error would name the proxy.
func TestProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	setProxy(t)
	const address = "169.254.1.1"
	transport, err := egress.New(egress.Options{Allow: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	_, err = transport.Client().Get("https://" + address)
	if !errors.Is(err, outbound.ErrRefused) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v, want that the address itself is refused", err)
	}
}

// TestGatewayIgnoresProxies connects to a gateway although the environment and the options name
// a proxy, which does not exist.
func TestGatewayIgnoresProxies(t *testing.T) {
	setProxy(t)
	transport, err := egress.New(egress.Options{Gateway: startGateway(t), Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	answer, err := transport.Client().Get("https://sts.amazonaws.com/x")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}

// TestCallsGoThroughTheProxy calls a cloud through a proxy that connects to a server with
// a certificate of a private authority.
func TestCallsGoThroughTheProxy(t *testing.T) {
	t.Parallel()
	g := startGateway(t)
	var mu sync.Mutex
	var requested []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requested = append(requested, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		to, err := net.Dial("tcp", g.Address)
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		w.WriteHeader(http.StatusOK)
		from, received, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer from.Close()
		// The server may have read the beginning of the TLS handshake already.
		go func() { _, _ = io.Copy(to, received) }()
		_, _ = io.Copy(from, to)
	}))
	defer proxy.Close()
	proxyURL, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxyURL.User = url.UserPassword("vigil", "secret")
	for want, ca := range map[string][]byte{"": nil, "sts.amazonaws.com": g.CA} { // no response without the authority
		transport, err := egress.New(egress.Options{Proxy: proxyURL, CA: ca})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if answer, err := transport.Client().Get("https://sts.amazonaws.com/x"); err == nil {
			text, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			got = string(text)
		}
		transport.Close()
		if got != want {
			t.Errorf("with the authority (%v) the response is %q, want %q", ca != nil, got, want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	// The end is vigil:secret in base64.
	if want := "CONNECT sts.amazonaws.com:443 Basic dmlnaWw6c2VjcmV0"; len(requested) != 2 || requested[0] != want {
		t.Errorf("the proxy was asked %q, want %q twice", requested, want)
	}
	if _, err := egress.New(egress.Options{CA: []byte("nothing")}); err == nil {
		t.Error("a file without certificates was accepted")
	}
}

func TestGatewayNeedsCA(t *testing.T) {
	t.Parallel()
	if _, err := egress.New(egress.Options{Gateway: &egress.Gateway{Address: "127.0.0.1:1"}}); err == nil {
		t.Error("a gateway without a certificate was accepted")
	}
}
