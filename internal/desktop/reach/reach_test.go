package reach_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
)

// server is a web server whose connections can be cut.
type server struct {
	listener *flakylistener.Listener
	ca       *pki.Authority
	leaf     tls.Certificate
	url      string
}

func start(t *testing.T, hosts ...string) *server {
	t.Helper()
	validity := pki.Around(time.Now(), time.Hour)
	ca, err := pki.New("Test CA", validity)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(validity, hosts...)
	if err != nil {
		t.Fatal(err)
	}
	l, err := flakylistener.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/long":
			_, _ = w.Write(make([]byte, reach.MaxBody+1))
		default:
			_, _ = w.Write([]byte("hello"))
		}
	}))
	h.Listener = l
	h.TLS = &tls.Config{Certificates: []tls.Certificate{leaf}}
	h.StartTLS()
	t.Cleanup(h.Close)
	return &server{l, ca, leaf, "https://" + l.Addr().String()}
}

func TestTrust(t *testing.T) {
	t.Parallel()
	s := start(t, "127.0.0.1")
	other := start(t, "elsewhere.example")
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, s.ca.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	otherThumbprint := strings.ToLower(strings.ReplaceAll(pki.Thumbprint(other.leaf.Leaf), ":", ""))
	afterExpiry := func() time.Time { return time.Now().Add(100 * time.Hour) }
	for _, tt := range []struct {
		name     string
		server   *server
		trust    desktop.Trust
		now      func() time.Time
		cause    desktop.Cause
		valid    bool
		accepted bool
	}{
		{"by a CA file", s, desktop.Trust{CAFile: file}, time.Now, "", true, false},
		{"by a CA certificate as text", s, desktop.Trust{CAPEM: string(s.ca.PEM())}, time.Now, "", true, false},
		{"by the system's roots", s, desktop.Trust{}, time.Now, desktop.Untrusted, false, false},
		{"by another authority", s, desktop.Trust{CAPEM: string(other.ca.PEM())}, time.Now, desktop.Untrusted, false, false},
		{"after it expired", s, desktop.Trust{CAFile: file}, afterExpiry, desktop.Untrusted, false, false},
		{"under another name", other, desktop.Trust{CAPEM: string(other.ca.PEM())}, time.Now, desktop.Untrusted, false, false},
		{"by its thumbprint", other, desktop.Trust{Thumbprint: otherThumbprint}, time.Now, "", false, true},
		{"by another thumbprint", s, desktop.Trust{Thumbprint: otherThumbprint}, time.Now, desktop.Untrusted, false, false},
		{"by a missing CA file", s, desktop.Trust{CAFile: file + ".none"}, time.Now, desktop.Untrusted, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := reach.Probe(t.Context(), tt.server.listener.Addr().String(), tt.trust, tt.now)
			var cause desktop.Cause
			if err != nil {
				cause = desktop.FailureOf(err).Cause
			}
			if cause != tt.cause {
				t.Fatalf("Probe = %v, want cause %q", err, tt.cause)
			}
			if c == nil {
				if tt.trust.CAFile != file+".none" {
					t.Error("the certificate was not recorded")
				}
				return
			}
			if c.Valid != tt.valid || c.Accepted != tt.accepted || c.ValidFrom >= c.ValidTo {
				t.Errorf("certificate = %+v, want valid %v, accepted %v", *c, tt.valid, tt.accepted)
			}
		})
	}
}

func TestSelfSignedCertificatesAreDetected(t *testing.T) {
	t.Parallel()
	selfSigned, err := pki.SelfSigned(pki.Around(time.Now(), time.Hour), "cs1")
	if err != nil {
		t.Fatal(err)
	}
	if !reach.Describe(selfSigned.Leaf).SelfSigned {
		t.Error("a self-signed certificate is not detected")
	}
	if reach.Describe(start(t, "cs1").leaf.Leaf).SelfSigned {
		t.Error("a certificate of an authority counts as self-signed")
	}
}

func TestFailuresAreClassified(t *testing.T) {
	t.Parallel()
	noTLS, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = noTLS.Close() })
	go func() {
		for {
			c, err := noTLS.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("220 what would you like\r\n"))
			_ = c.Close()
		}
	}()
	down, hung := start(t, "127.0.0.1"), start(t, "127.0.0.1")
	down.listener.Set(flakylistener.Down)
	hung.listener.Set(flakylistener.Hung)
	for _, tt := range []struct {
		name, url string
		cause     desktop.Cause
	}{
		{"the machine is down", down.url, desktop.Unreachable},
		{"the machine hangs", hung.url, desktop.Unreachable},
		{"the name does not resolve", "https://nowhere.invalid", desktop.Unreachable},
		{"it does not speak TLS", "https://" + noTLS.Addr().String(), desktop.Broken},
		{"a cloud's metadata service", "https://169.254.169.254", desktop.Denied},
		{"a malformed address", "gopher://x", desktop.Malformed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			timeout := 30 * time.Second
			if tt.url == hung.url {
				timeout = time.Second // the only limit: the server never answers
			}
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			w, err := reach.NewWeb(tt.url, desktop.Trust{}, time.Now)
			if err == nil {
				defer w.Close()
				_, _, err = w.Get(ctx, tt.url, nil)
			}
			if err == nil {
				t.Fatal("Get succeeded, want an error")
			}
			if f := desktop.FailureOf(err); f.Cause != tt.cause {
				t.Errorf("cause = %s (%v), want %s", f.Cause, f.Err, tt.cause)
			}
		})
	}
}

func TestWebEnforcesItsLimits(t *testing.T) {
	t.Parallel()
	s := start(t, "127.0.0.1")
	w, err := reach.NewWeb(s.url, desktop.Trust{CAPEM: string(s.ca.PEM())}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if code, body, err := w.Get(t.Context(), s.url, nil); code != 200 || string(body) != "hello" || err != nil {
		t.Errorf("Get = %d %q %v", code, body, err)
	}
	if code, _, err := w.Get(t.Context(), s.url+"/away", nil); code != http.StatusFound || err != nil {
		t.Errorf("Get of a redirect = %d %v, want it not followed", code, err)
	}
	if _, _, err := w.Get(t.Context(), s.url+"/long", nil); err == nil || desktop.FailureOf(err).Cause != desktop.Broken {
		t.Errorf("Get of a long answer = %v, want an error", err)
	}
}
