// Package streamtest holds what the tests of streams share.
package streamtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"vigil/internal/fault"
	"vigil/internal/posture"
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
	Other http.Handler // answers calls without TLS and to other hosts; status 418 if nil
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
