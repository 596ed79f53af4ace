package apitest

import (
	"bytes"
	"compress/gzip"
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

// decoded returns the decompressed body of a response. http.Transport leaves a body
// compressed if the request already had the header Accept-Encoding.
func decoded(res *http.Response, body []byte) ([]byte, error) {
	if res.Header.Get("Content-Encoding") != "gzip" || len(body) == 0 {
		return body, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
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
	text, err := decoded(res, body)
	if err != nil {
		return nil, err
	}
	if err := c.document.Check(r, res, text); err != nil {
		c.t.Errorf("%s %s answered %d: %v\n%.1000s", r.Method, r.URL.EscapedPath(), res.StatusCode, err, text)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}
