package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"vigil/internal/httpapi"
)

// pieces is a body in pieces.
type pieces []string

func (p pieces) Len() int64 { return int64(len(strings.Join(p, ""))) }

func (p pieces) WriteTo(w io.Writer) (n int64, err error) {
	for _, s := range p {
		m, err := io.WriteString(w, s)
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func TestBodyIsSentInPieces(t *testing.T) {
	t.Parallel()
	sent := 0
	route := public("GET /", httpapi.JSON(func(context.Context, struct{}) (httpapi.Reply, error) {
		reply := httpapi.OK(pieces{`{"a":`, `1}`}).With("X-Cost", "7")
		reply.Sent = func() { sent++ }
		return reply, nil
	}))
	res := request(mux(t, httpapi.Options{}, route), "GET", "/", "")
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || string(body) != `{"a":1}` || res.ContentLength != 7 ||
		res.Header.Get("Content-Type") != "application/json" || res.Header.Get("X-Cost") != "7" {
		t.Errorf("status %d, body %s, %d bytes announced, headers %v, %v", res.StatusCode, body, res.ContentLength, res.Header, err)
	}
	if sent != 1 {
		t.Errorf("Sent was called %d times, want once", sent)
	}
}

func TestSentIsCalledWhenTheBodyCannotBeSent(t *testing.T) {
	t.Parallel()
	sent := 0
	route := public("GET /", httpapi.JSON(func(context.Context, struct{}) (httpapi.Reply, error) {
		return httpapi.Reply{Body: func() {}, Sent: func() { sent++ }}, nil // a function cannot be encoded as JSON
	}))
	res := request(mux(t, httpapi.Options{}, route), "GET", "/", "")
	if res.StatusCode != http.StatusInternalServerError || sent != 1 {
		t.Errorf("status %d, Sent called %d times; want 500 and once", res.StatusCode, sent)
	}
}
