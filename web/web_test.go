package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"vigil/internal/httpapi"
)

// built is a small build, as Vite lays it out.
var built = fstest.MapFS{
	"placeholder.html":           {Data: []byte("how to build")},
	"app/index.html":             {Data: []byte("<title>console</title>")},
	"app/assets/main-1a2b.js":    {Data: []byte("plain script")},
	"app/assets/main-1a2b.js.br": {Data: []byte("brotli")},
	"app/assets/main-1a2b.js.gz": {Data: []byte("gzip")},
	"app/favicon.svg":            {Data: []byte("<svg/>")},
}

func serve(t *testing.T, files fs.FS) http.Handler {
	t.Helper()
	c, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	m, err := httpapi.NewMux(c.routes(), httpapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestEveryAddressInTheConsoleServesIndexHTML(t *testing.T) {
	t.Parallel()
	h := serve(t, built)
	for _, path := range []string{"/console/", "/console", "/console/findings?level=High", "/console/resource/aws%2Fx", "/console/index.html"} {
		w := get(h, path)
		if w.Code != 200 || w.Body.String() != "<title>console</title>" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if got := w.Header().Get("Content-Security-Policy"); got != Policy {
			t.Errorf("%s: policy %q, want %q", path, got, Policy)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s: Cache-Control %q: an upgrade would not be seen", path, got)
		}
	}
	if w := get(h, "/"); w.Code != 302 || w.Header().Get("Location") != "/console/" {
		t.Errorf("the root: %d to %q", w.Code, w.Header().Get("Location"))
	}
}

func TestAssetsAreKeptForeverAndSentCompressed(t *testing.T) {
	t.Parallel()
	h := serve(t, built)
	for accept, want := range map[string]struct{ coding, body string }{
		"":                     {"", "plain script"},
		"gzip, deflate, br":    {"br", "brotli"},
		"gzip;q=0.5, br;q=0":   {"gzip", "gzip"},
		"gzip;q=0.0, identity": {"", "plain script"},
		"BR":                   {"br", "brotli"},
	} {
		w := get(h, "/console/assets/main-1a2b.js", "Accept-Encoding", accept)
		got := w.Header()
		if w.Code != 200 || got.Get("Content-Encoding") != want.coding || w.Body.String() != want.body {
			t.Errorf("accepting %q: status %d, coding %q, body %q; want 200, %q, %q", accept, w.Code, got.Get("Content-Encoding"), w.Body, want.coding, want.body)
		}
		if got.Get("Content-Type") != "text/javascript; charset=utf-8" || !strings.Contains(got.Get("Cache-Control"), "immutable") || got.Get("Vary") != "Accept-Encoding" {
			t.Errorf("accepting %q: headers %v", accept, got)
		}
		if second := get(h, "/console/assets/main-1a2b.js", "Accept-Encoding", accept, "If-None-Match", got.Get("ETag")); second.Code != 304 {
			t.Errorf("accepting %q, asked again: status %d, want 304", accept, second.Code)
		}
	}
	if w := get(h, "/console/assets/main-0000.js"); w.Code != 404 {
		t.Errorf("an asset of another version: %d %s", w.Code, w.Body)
	}
	if w := get(h, "/console/favicon.svg"); w.Header().Get("Content-Type") != "image/svg+xml" || w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("favicon: %v", w.Header())
	}
}

func TestWithoutABuildThePageSaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	h := serve(t, fstest.MapFS{"placeholder.html": built["placeholder.html"]})
	if w := get(h, "/console/findings"); w.Code != 200 || w.Body.String() != "how to build" || w.Header().Get("Content-Security-Policy") != Policy {
		t.Errorf("status %d, %s; want the placeholder with the policy", w.Code, w.Body)
	}
	// The content security policy must not block any part of the real placeholder.
	page, err := dist.ReadFile("dist/placeholder.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, banned := range []string{"style=", "<style", "<script", "onclick", "http://", "https://"} {
		if strings.Contains(string(page), banned) {
			t.Errorf("the placeholder holds %q", banned)
		}
	}
}
