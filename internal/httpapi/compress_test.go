package httpapi_test

import (
	"compress/gzip"
	"context"
	"io"
	"strings"
	"testing"

	"vigil/internal/httpapi"
)

func TestLongAnswersToReadsAreCompressed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("all work and no play ", 500)
	handler := func(body any) httpapi.Handler {
		return httpapi.JSON(func(context.Context, httpapi.None) (any, error) { return body, nil })
	}
	routes := []httpapi.Route{
		{Pattern: "GET /long", Need: httpapi.Public, Operation: "long", Handler: handler([]string{long})},
		{Pattern: "GET /short", Need: httpapi.Public, Operation: "short", Handler: handler([]string{"x"})},
		{Pattern: "GET /tagged", Need: httpapi.Public, Operation: "tagged", Handler: handler(httpapi.Tagged("1", []string{long}))},
		{Pattern: "GET /pieces", Need: httpapi.Public, Operation: "pieces", Handler: handler(pieces{`["`, long, "\"]\n"})},
		{Pattern: "GET /text", Need: httpapi.Public, Operation: "text", Handler: handler(httpapi.Text(long))},
		{Pattern: "GET /secret", Need: httpapi.Public, Operation: "secret", SecretAnswer: true, Handler: handler([]string{long})},
		{Pattern: "POST /change", Need: httpapi.Public, Operation: "change", Handler: handler([]string{long})},
	}
	for _, tt := range []struct {
		method, path, encodings      string
		compressed, dependsOnRequest bool // dependsOnRequest: has Vary, like every JSON response, compressed or not
	}{
		{"GET", "/long", "gzip", true, true},
		{"GET", "/long", "br, gzip;q=0.5", true, true},
		{"GET", "/long", "", false, true},
		{"GET", "/long", "gzip;q=0", false, true},
		{"GET", "/pieces", "gzip", true, true},
		{"GET", "/pieces", "", false, true},
		{"GET", "/short", "gzip", false, true},
		{"GET", "/tagged", "gzip", false, true},
		{"GET", "/text", "gzip", false, false},
		{"GET", "/secret", "gzip", false, true},
		{"POST", "/change", "gzip", false, true},
	} {
		m := mux(t, httpapi.Options{Audit: new(auditLog)}, routes...)
		res := request(m, tt.method, tt.path, "", "Accept-Encoding", tt.encodings)
		if got := res.Header.Get("Content-Encoding") == "gzip"; res.StatusCode != 200 || got != tt.compressed || (res.Header.Get("Vary") != "") != tt.dependsOnRequest {
			t.Errorf("%s %s (%s): status %d, compressed %t, Vary %q; want 200, compressed %t, with Vary: %t",
				tt.method, tt.path, tt.encodings, res.StatusCode, got, res.Header.Get("Vary"), tt.compressed, tt.dependsOnRequest)
		}
		if !tt.compressed {
			continue
		}
		r, err := gzip.NewReader(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); err != nil || string(text) != `["`+long+"\"]\n" {
			t.Errorf("%s: %.100s, %v", tt.path, text, err)
		}
	}
}

// TestHeadOfCompressedResponses sends a HEAD request: the response has the headers of a GET, and no
// body.
func TestHeadOfCompressedResponses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("all work and no play ", 500)
	m := mux(t, httpapi.Options{Audit: new(auditLog)}, httpapi.Route{
		Pattern: "GET /long", Need: httpapi.Public, Operation: "long",
		Handler: httpapi.JSON(func(context.Context, httpapi.None) (string, error) { return long, nil }),
	})
	res := request(m, "HEAD", "/long", "", "Accept-Encoding", "gzip")
	body, err := io.ReadAll(res.Body)
	if err != nil || len(body) != 0 || res.StatusCode != 200 || res.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("status %d, encoding %q, %d bytes, %v", res.StatusCode, res.Header.Get("Content-Encoding"), len(body), err)
	}
}
