package apitest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// Client returns a client that fails the test when a response does not conform
// to the document. It follows no redirects. A nil transport means the default
// one.
func (d *Document) Client(t testing.TB, transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = http.DefaultTransport
	}
	return &http.Client{
		Transport:     checking{d, t, transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checking is a transport that checks the responses.
type checking struct {
	document *Document
	t        testing.TB
	next     http.RoundTripper
}

func (c checking) RoundTrip(r *http.Request) (*http.Response, error) {
	c.t.Helper()
	res, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	if err := c.document.Check(r, res, body); err != nil {
		c.t.Errorf("%s %s answered %d: %v\n%.1000s", r.Method, r.URL.EscapedPath(), res.StatusCode, err, body)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}
