package events_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/events"
)

// roundTripper responds to requests.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond returns a response without a body.
func respond(status int) (*http.Response, error) {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(""))}, nil
}

var stream = events.Stream{Provider: posture.Azure, Account: "account", Endpoint: "https://vigil.example/events"}

func newPublisher(ctx context.Context, log io.Writer, send roundTripper) *events.Publisher {
	pub := &events.Publisher{Client: &http.Client{Transport: send}, Log: slog.New(slog.NewTextHandler(log, nil)), Now: time.Now}
	pub.Start(ctx)
	return pub
}

func TestSubscribeErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	for _, tt := range []struct {
		name   string
		status int
		err    error
		want   string
	}{
		{"accepted", 200, nil, ""},
		{"refused", 403, nil, "subscribe account: status 403"},
		{"failed", 503, nil, "subscribe account: status 503"},
		{"no response", 0, broken, `subscribe account: Post "https://vigil.example/events": connection reset`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pub := newPublisher(t.Context(), io.Discard, func(*http.Request) (*http.Response, error) {
				if tt.err != nil {
					return nil, tt.err
				}
				return respond(tt.status)
			})
			err := pub.Subscribe(t.Context(), stream)
			if got := text(err); got != tt.want || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("Subscribe() = %q, want %q", got, tt.want)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestLostEventsAreLogged checks how often events are sent, and that an event that is not delivered is logged.
func TestLostEventsAreLogged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		status   int    // 0 for no response
		attempts int    // the publisher gives up after eleven
		want     string // a part of the log; "" for none
	}{
		{"accepted", 200, 1, ""},
		{"refused", 403, 1, "simulated event refused"},
		{"failed", 503, 11, "simulated event lost"},
		{"throttled", 429, 11, "simulated event lost"},
		{"no response", 0, 11, "connection reset"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				attempts := -1 // the request of Subscribe, which comes first, does not count
				pub := newPublisher(t.Context(), &log, func(*http.Request) (*http.Response, error) {
					attempts++
					switch {
					case attempts == 0:
						return respond(200)
					case tt.status == 0:
						return nil, errors.New("connection reset")
					}
					return respond(tt.status)
				})
				if err := pub.Subscribe(t.Context(), stream); err != nil {
					t.Fatal(err)
				}
				pub.SendAzure(events.Operation{Subscription: stream.Account})
				pub.Wait()
				if got := log.String(); attempts != tt.attempts || !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
					t.Errorf("%d attempts, logged %q; want %d, %q", attempts, got, tt.attempts, tt.want)
				}
			})
		})
	}
}
