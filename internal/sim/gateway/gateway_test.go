package gateway_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/sim/gateway"
)

// start serves a gateway and returns a client that sends all calls to it.
func start(t *testing.T, prepare func(*gateway.Gateway)) (*gateway.Gateway, *http.Client) {
	t.Helper()
	g, err := gateway.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	prepare(g)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	client := clientOf(g)
	t.Cleanup(func() {
		client.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return g, client
}

// clientOf returns a client that sends all calls to a gateway.
func clientOf(g *gateway.Gateway) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(g.CA())
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, g.Address())
		},
	}}
}

// greeter returns a simulated cloud that answers every call with "<name> says hello".
func greeter(g *gateway.Gateway, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.Faults.Serve(w, r, gateway.Exchange{
			Call:   gateway.Call{Cloud: name, Service: "echo", Action: strings.Trim(r.URL.Path, "/")},
			Refuse: func(w http.ResponseWriter, f gateway.Fault) { http.Error(w, string(f.Kind), http.StatusTeapot) },
			Answer: func(w http.ResponseWriter) { _, _ = io.WriteString(w, name+" says hello") },
		})
	})
}

func get(t *testing.T, c *http.Client, url string) (status int, body string, err error) {
	t.Helper()
	answer, err := c.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(raw), err
}

func TestCallsAreRoutedByHost(t *testing.T) {
	t.Parallel()
	_, client := start(t, func(g *gateway.Gateway) {
		g.Handle(".amazonaws.com", greeter(g, "aws"))
		g.Handle("management.azure.com", greeter(g, "azure"))
		g.Handle(".googleapis.com", greeter(g, "gcp"))
		g.Handle("oauth2.googleapis.com", greeter(g, "token"))
	})
	for url, want := range map[string]string{
		"https://ec2.eu-west-3.amazonaws.com/x":              "aws says hello",
		"https://a-bucket.s3.us-east-1.amazonaws.com/x":      "aws says hello",
		"https://another-bucket.s3.us-east-1.amazonaws.com/": "aws says hello",
		"https://management.azure.com/x":                     "azure says hello",
		"https://compute.googleapis.com/x":                   "gcp says hello",
		"https://oauth2.googleapis.com/token":                "token says hello",
	} {
		if _, body, err := get(t, client, url); err != nil || body != want {
			t.Errorf("%s: %q, %v; want %q", url, body, err, want)
		}
	}
	if status, _, _ := get(t, client, "https://example.org/"); status != http.StatusMisdirectedRequest {
		t.Errorf("an unknown host: status %d", status)
	}
}

func TestFaultsApplyToMatchingCalls(t *testing.T) {
	t.Parallel()
	g, client := start(t, func(g *gateway.Gateway) { g.Handle(".amazonaws.com", greeter(g, "aws")) })
	const url = "https://sts.us-east-1.amazonaws.com/"
	for _, fault := range []gateway.Fault{
		{Match: gateway.Call{Action: "denied"}, Kind: gateway.Deny},
		{Match: gateway.Call{Action: "third"}, Kind: gateway.Throttle, Rate: 1.0 / 3},
		{Match: gateway.Call{Action: "once*"}, Kind: gateway.Fail, Skip: 1, Times: 1},
	} {
		if _, err := g.Faults.Add(fault); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, action := range []string{"denied", "third", "third", "third", "third", "third", "third", "once-a", "once-b", "once-c", "other"} {
		status, _, err := get(t, client, url+action)
		if err != nil {
			t.Fatal(err)
		}
		key, _, _ := strings.Cut(action, "-")
		switch status {
		case http.StatusOK:
			got[key] += "+"
		case http.StatusTeapot: // the fault
			got[key] += "-"
		}
	}
	want := map[string]string{"denied": "-", "third": "++-++-", "once": "+-+", "other": "+"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := g.Faults.Calls()[gateway.Call{Cloud: "aws", Service: "echo", Action: "third"}]; n != 6 {
		t.Errorf("%d calls were counted, want 6", n)
	}
}

func TestConnectionFaults(t *testing.T) {
	t.Parallel()
	g, client := start(t, func(g *gateway.Gateway) { g.Handle(".amazonaws.com", greeter(g, "aws")) })
	for _, kind := range []gateway.Kind{gateway.Reset, gateway.Half, gateway.Garbage, gateway.Hang, gateway.Stall} {
		if _, err := g.Faults.Add(gateway.Fault{Match: gateway.Call{Action: string(kind)}, Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	const url = "https://sts.us-east-1.amazonaws.com/"
	if _, _, err := get(t, client, url+"reset"); err == nil {
		t.Error("reset: there was a response")
	}
	if _, body, err := get(t, client, url+"half"); !errors.Is(err, io.ErrUnexpectedEOF) || body != "aws say" { // half of "aws says hello"
		t.Errorf("half: %q, %v; want half of the response", body, err)
	}
	if status, body, err := get(t, client, url+"garbage"); status != http.StatusOK || err != nil || !strings.Contains(body, "not the answer") {
		t.Errorf("garbage: %d, %q, %v", status, body, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, url+"hang", nil)
	if _, err := client.Do(request); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hang: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, _ = http.NewRequestWithContext(ctx, http.MethodGet, url+"stall", nil)
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 7)
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "aws say" {
		t.Errorf("stall: %q, %v; want half of the response", first, err)
	}
	cancel()
	if rest, err := io.ReadAll(answer.Body); !errors.Is(err, context.Canceled) || len(rest) > 0 {
		t.Errorf("stall: after the half %q, %v; want nothing until the call is cancelled", rest, err)
	}
}

// TestCallThatIsCancelledWhileItIsDelayedHasNoResponse calls the handler directly. If it
// returned without a panic, the response would be empty, but a client that has cancelled
// its call would seldom see that.
func TestCallThatIsCancelledWhileItIsDelayedHasNoResponse(t *testing.T) {
	t.Parallel()
	g, _ := start(t, func(*gateway.Gateway) {})
	if _, err := g.Faults.Add(gateway.Fault{Kind: gateway.Latency, Delay: gateway.Duration(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("the handler panics with %v, want %v", p, http.ErrAbortHandler)
		}
	}()
	g.Faults.Serve(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil), gateway.Exchange{})
}

func TestFaultsAreSetOverHTTP(t *testing.T) {
	t.Parallel()
	_, client := start(t, func(g *gateway.Gateway) { g.Handle(".amazonaws.com", greeter(g, "aws")) })
	const admin = "https://" + gateway.AdminHost
	answer, err := client.Post(admin+"/faults", "application/json", strings.NewReader(`{"match":{"cloud":"aws"},"kind":"throttle","retryAfter":"2s"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	_, body, _ := get(t, client, admin+"/faults")
	var faults []gateway.Fault
	if err := json.Unmarshal([]byte(body), &faults); err != nil {
		t.Fatal(err)
	}
	want := []gateway.Fault{{ID: "1", Match: gateway.Call{Cloud: "aws"}, Kind: gateway.Throttle, RetryAfter: gateway.Duration(2 * time.Second)}}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
	if status, _, _ := get(t, client, "https://sts.amazonaws.com/x"); status != http.StatusTeapot {
		t.Errorf("with the fault: status %d", status)
	}
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodDelete, admin+"/faults/1", nil)
	if answer, err = client.Do(request); err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if status, _, _ := get(t, client, "https://sts.amazonaws.com/x"); status != http.StatusOK {
		t.Errorf("without the fault: status %d", status)
	}
	answer, err = client.Post(admin+"/faults", "application/json", strings.NewReader(`{"kind":"unheard-of"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown kind: status %d", answer.StatusCode)
	}
}

func TestServeEndsDuringCalls(t *testing.T) {
	t.Parallel()
	for range 30 { // only in some rounds, a call begins at the moment when the gateway stops
		stopDuringCalls(t)
	}
}

// stopDuringCalls stops a gateway after the first response, while other calls run.
func stopDuringCalls(t *testing.T) {
	t.Helper()
	g, err := gateway.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := clientOf(g)
	defer client.CloseIdleConnections()
	var callers sync.WaitGroup
	defer callers.Wait()
	for range 4 {
		callers.Go(func() {
			for ctx.Err() == nil {
				if _, _, err := get(t, client, "https://"+gateway.AdminHost+"/faults"); err == nil {
					cancel()
				}
			}
		})
	}
	if err := g.Serve(ctx); err != nil {
		t.Errorf("Serve: %v", err)
	}
}
