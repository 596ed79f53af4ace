// Package streamtest holds what the tests of streams share.
package streamtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/stream/refusal"
)

// Streams maps secrets to streams.
type Streams map[posture.StreamSecret]posture.Stream

// StreamOf returns the stream with a handle.
func (s Streams) StreamOf(_ context.Context, handle string) (posture.Stream, error) {
	for _, each := range s {
		if each.Handle == handle {
			return each, nil
		}
	}
	return posture.Stream{}, fault.New(fault.NotFound, "there is no such stream")
}

// StreamWith returns the stream with a secret.
func (s Streams) StreamWith(_ context.Context, d posture.StreamDigest) (posture.Stream, error) {
	for secret, each := range s {
		if secret.Digest() == d {
			return each, nil
		}
	}
	return posture.Stream{}, fault.New(fault.NotFound, "there is no such stream")
}

// An Internet answers calls by host, and counts them.
type Internet struct {
	Hosts map[string]http.Handler
	Other http.Handler // answers calls without TLS or to other hosts; status 418 if nil
	Calls atomic.Int64
}

// RoundTrip implements [http.RoundTripper].
func (n *Internet) RoundTrip(r *http.Request) (*http.Response, error) {
	n.Calls.Add(1)
	w := httptest.NewRecorder()
	if h, ok := n.Hosts[r.URL.Host]; ok && r.URL.Scheme == "https" {
		h.ServeHTTP(w, r)
	} else if n.Other != nil {
		n.Other.ServeHTTP(w, r)
	} else {
		w.WriteHeader(http.StatusTeapot)
	}
	res := w.Result()
	res.Request = r
	return res, nil
}

// Client returns a client whose calls the Internet answers.
func (n *Internet) Client() *http.Client { return &http.Client{Transport: n} }

// CheckRefusal checks that a verifier refused a message for a reason, with an error of a kind that
// senders may get.
func CheckRefusal(t testing.TB, message string, err error, want refusal.Reason) {
	t.Helper()
	if got := refusal.ReasonOf(err); got != want {
		t.Errorf("%s: refused as %q, want %q (%v)", message, got, want, err)
	}
	kinds := []fault.Kind{fault.Forbidden, fault.Unauthenticated}
	if want == refusal.Malformed {
		kinds = append(kinds, fault.Invalid)
	}
	if k := fault.KindOf(err); !slices.Contains(kinds, k) {
		t.Errorf("%s: kind %d, want one of %v", message, k, kinds)
	}
}
