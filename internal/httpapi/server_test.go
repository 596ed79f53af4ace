package httpapi_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// start runs a server until the returned function is called.
func start(t *testing.T, o httpapi.ServerOptions) (url string, stop func() error) {
	t.Helper()
	o.Address = "127.0.0.1:0"
	s, err := httpapi.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	stop = func() error { cancel(); return <-done }
	return s.URL(), stop
}

// clientTrusting returns a client that trusts the certificate in a file and speaks one
// version of TLS.
func clientTrusting(t *testing.T, certFile string, version uint16) *http.Client {
	t.Helper()
	pem, err := os.ReadFile(certFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: version, MaxVersion: version}, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	return &http.Client{Transport: tr}
}

func TestPlainHTTPIsRefusedBeyondLoopback(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		address string
		allow   bool
		ok      bool
	}{
		{"127.0.0.1:0", false, true}, {"[::1]:0", false, true}, {"localhost:0", false, true}, {":0", false, false},
		{"0.0.0.0:0", false, false}, {"192.0.2.1:0", false, false}, {"[::]:0", false, false}, {":0", true, true},
	} {
		_, err := httpapi.NewServer(httpapi.ServerOptions{Address: tt.address, AllowPlain: tt.allow})
		if (err == nil) != tt.ok {
			t.Errorf("%s (plain HTTP allowed: %t): %v, want the server accepted: %t", tt.address, tt.allow, err, tt.ok)
		}
	}
}

func TestOwnCertificateServesAndIsReloaded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	var passed atomic.Int64 // how far the clock is ahead, in nanoseconds
	now := func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	cert, err := httpapi.OwnCertificate(dir, slog.New(slog.DiscardHandler), now)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(keyFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v; want it private, with mode 600", info, err)
	}
	url, stop := start(t, httpapi.ServerOptions{TLS: cert, Handler: mux(t, httpapi.Options{}, public("GET /x", returns(1)))})
	defer stop()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		res, err := clientTrusting(t, certFile, version).Get(url + "/x")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.ProtoMajor != 2 || res.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s over %s, HSTS %q; want HTTP/2 with HSTS", res.Proto, tls.VersionName(version), res.Header.Get("Strict-Transport-Security"))
		}
	}
	if _, err := clientTrusting(t, certFile, tls.VersionTLS11).Get(url + "/x"); err == nil {
		t.Error("TLS 1.1 was accepted")
	}

	second, err := httpapi.OwnCertificate(dir, slog.New(slog.DiscardHandler), now)
	if err != nil || second == nil {
		t.Fatalf("second start: %v", err)
	}
	old := clientTrusting(t, certFile, tls.VersionTLS13)
	if err := os.Remove(certFile); err != nil {
		t.Fatal(err)
	}
	passed.Add(int64(time.Minute))
	if res, err := old.Get(url + "/x"); err != nil {
		t.Errorf("with one file of the pair missing: %v", err)
	} else {
		res.Body.Close()
	}
	// As one file is missing, this start creates a new pair.
	if _, err := httpapi.OwnCertificate(dir, slog.New(slog.DiscardHandler), now); err != nil {
		t.Fatal(err)
	}
	passed.Add(int64(time.Minute))
	if res, err := clientTrusting(t, certFile, tls.VersionTLS13).Get(url + "/x"); err != nil {
		t.Errorf("the new certificate is not in use: %v", err)
	} else {
		res.Body.Close()
	}
	if _, err := old.Get(url + "/x"); err == nil {
		t.Error("the old certificate is still in use")
	}
}

func TestClientCertificatesNeedATrustedAuthority(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	log := slog.New(slog.DiscardHandler)
	cert, err := httpapi.OwnCertificate(dir, log, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := httpapi.OwnCertificate(other, log, time.Now); err != nil {
		t.Fatal(err)
	}
	url, stop := start(t, httpapi.ServerOptions{TLS: cert, ClientCAs: x509.NewCertPool(), Handler: mux(t, httpapi.Options{}, public("GET /x", returns(1)))})
	defer stop()
	client := clientTrusting(t, filepath.Join(dir, "tls.crt"), tls.VersionTLS13)
	if res, err := client.Get(url + "/x"); err != nil {
		t.Errorf("without a certificate: %v", err)
	} else {
		res.Body.Close()
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(other, "tls.crt"), filepath.Join(other, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	untrusted := clientTrusting(t, filepath.Join(dir, "tls.crt"), tls.VersionTLS13)
	untrusted.Transport.(*http.Transport).TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	if _, err := untrusted.Get(url + "/x"); err == nil {
		t.Error("a certificate of an unknown authority was accepted")
	}
}

func TestHeadersAreLimited(t *testing.T) {
	t.Parallel()
	url, stop := start(t, httpapi.ServerOptions{Handler: mux(t, httpapi.Options{}, public("GET /x", returns(1)))})
	defer stop()
	for size, want := range map[int]int{8 << 10: 200, 64 << 10: 431} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", url+"/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Padding", strings.Repeat("x", size))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes of header: status %d, want %d", size, res.StatusCode, want)
		}
	}
}

func TestExpiredOwnCertificateIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	if _, err := httpapi.OwnCertificate(dir, log, func() time.Time { return time.Now().AddDate(-3, 0, 0) }); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if _, err := httpapi.OwnCertificate(dir, log, time.Now); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "tls.crt")); cmp.Equal(before, after) {
		t.Error("the expired certificate is still there")
	}
}

// TestOwnCertificateAfterACrash starts with the key of a server that was killed before it
// wrote the certificate.
func TestOwnCertificateAfterACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	if _, err := httpapi.OwnCertificate(dir, log, time.Now); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "tls.crt")); err != nil {
		t.Fatal(err)
	}
	if _, err := httpapi.OwnCertificate(dir, log, time.Now); err != nil {
		t.Error(err)
	}
}

func TestStopLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	var health httpapi.Health
	entered, release := make(chan struct{}), make(chan struct{})
	slow := httpapi.JSON(func(context.Context, httpapi.None) (string, error) {
		close(entered)
		<-release
		return "finished", nil
	})
	routes := append(httpapi.HealthRoutes(&health), public("GET /slow", slow))
	url, stop := start(t, httpapi.ServerOptions{Health: &health, Handler: mux(t, httpapi.Options{}, routes...)})
	answer := make(chan string, 1)
	go func() {
		res, err := http.Get(url + "/slow")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		answer <- string(b)
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	select {
	case <-stopped:
		t.Fatal("stopped before the request was answered")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if got := <-answer; got != "\"finished\"\n" {
		t.Errorf("the request that ran during the stop is answered with %q, want finished", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url + "/healthz"); err == nil {
		t.Error("still serving after the stop")
	}
}

// TestStopDrains checks that requests are served while a stopped server drains, although it
// is not ready any more.
func TestStopDrains(t *testing.T) {
	t.Parallel()
	var health httpapi.Health
	routes := append(httpapi.HealthRoutes(&health), public("GET /x", returns(1)))
	s, err := httpapi.NewServer(httpapi.ServerOptions{
		Address: "127.0.0.1:0", Health: &health, Drain: 10 * time.Second, Handler: mux(t, httpapi.Options{}, routes...),
	})
	if err != nil {
		t.Fatal(err)
	}
	status := func(path string) int {
		t.Helper()
		res, err := http.Get(s.URL() + path)
		if err != nil {
			t.Error(err)
			return 0
		}
		res.Body.Close()
		return res.StatusCode
	}
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	drained := time.Duration(0)
	s.SetSleep(func(d time.Duration) {
		drained = d
		if ready, served := status("/readyz"), status("/x"); ready != http.StatusServiceUnavailable || served != http.StatusOK {
			t.Errorf("/readyz has status %d, want 503; a request has status %d, want 200", ready, served)
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Serve(ctx); err != nil || drained != 10*time.Second {
		t.Errorf("drained for %s: %v; want 10s", drained, err)
	}
}

func TestStopHasADeadline(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	hang := httpapi.JSON(func(ctx context.Context, _ httpapi.None) (any, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	url, stop := start(t, httpapi.ServerOptions{Grace: 10 * time.Millisecond, Handler: mux(t, httpapi.Options{}, public("GET /hang", hang))})
	go func() {
		if res, err := http.Get(url + "/hang"); err == nil {
			res.Body.Close()
		}
	}()
	<-entered
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestReadinessNamesTheFailedCheck(t *testing.T) {
	t.Parallel()
	var h httpapi.Health
	m := mux(t, httpapi.Options{}, httpapi.HealthRoutes(&h)...)
	h.Add("store", func(context.Context) error { return nil })
	var broken error
	h.Add("directory", func(context.Context) error { return broken })
	for _, tt := range []struct {
		change func()
		status int
		want   string
	}{
		{func() {}, 200, `{"status":"ok","checks":{"directory":"ok","server":"ok","store":"ok"}}`},
		{func() { broken = fault.New(fault.Unavailable, "no answer") }, 503, `{"status":"unavailable","checks":{"directory":"no answer","server":"ok","store":"ok"}}`},
		// The text of an error that is not a fault is not shown to callers.
		{func() { broken = errors.New("dial 10.0.0.1") }, 503, `{"status":"unavailable","checks":{"directory":"internal error","server":"ok","store":"ok"}}`},
		{func() { broken = nil; h.Stopping() }, 503, `{"status":"stopping","checks":{"directory":"ok","server":"stopping","store":"ok"}}`},
	} {
		tt.change()
		res := request(m, "GET", "/readyz", "")
		if diff := cmp.Diff(tt.want, text(t, res)); diff != "" || res.StatusCode != tt.status {
			t.Errorf("status %d (-want +got):\n%s", res.StatusCode, diff)
		}
		if res := request(m, "GET", "/healthz", ""); res.StatusCode != 200 {
			t.Errorf("/healthz: status %d, want 200 whatever the checks say", res.StatusCode)
		}
	}
}
