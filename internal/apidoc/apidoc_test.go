package apidoc_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/apidoc"
	"vigil/internal/httpapi"
)

// document has what a conversion to JSON could change: members that are not sorted, a number
// as a member name, the word yes, a date, and an alias.
const document = `openapi: 3.1.0
info: {title: A <b>bold</b> API, version: "1"}
paths:
  /b: {get: {responses: {200: {description: yes}}}}
  /a: {get: {responses: {"200": {description: 2026-01-01, x: [null, 1.5, true, &s "7", *s]}}}}
`

// warning is shown on the page. It has characters that HTML must escape.
const warning = "nothing here is <real>"

func server(t *testing.T) *httptest.Server {
	t.Helper()
	d, err := apidoc.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	routes, err := d.Routes(warning)
	if err != nil {
		t.Fatal(err)
	}
	m, err := httpapi.NewMux(routes, httpapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

func TestDocumentIsServedAsYAMLAndJSON(t *testing.T) {
	t.Parallel()
	s := server(t)
	if res, body := get(t, s.URL+"/openapi.yaml"); body != document || res.Header.Get("Content-Type") != "application/yaml" {
		t.Errorf("openapi.yaml is served as %s, want the document itself as application/yaml:\n%s", res.Header.Get("Content-Type"), body)
	}
	want := `{"openapi":"3.1.0","info":{"title":"A \u003cb\u003ebold\u003c/b\u003e API","version":"1"},` +
		`"paths":{"/b":{"get":{"responses":{"200":{"description":"yes"}}}},` +
		`"/a":{"get":{"responses":{"200":{"description":"2026-01-01","x":[null,1.5,true,"7","7"]}}}}}}`
	res, body := get(t, s.URL+"/openapi.json")
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	if second, _ := get(t, s.URL+"/openapi.json", "If-None-Match", res.Header.Get("ETag")); second.StatusCode != 304 {
		t.Errorf("with If-None-Match: status %d, want 304", second.StatusCode)
	}
}

func TestPageLoadsOnlyItsOwnFiles(t *testing.T) {
	t.Parallel()
	s := server(t)
	res, page := get(t, s.URL+"/docs/api")
	if !strings.Contains(page, "<title>A &lt;b&gt;bold&lt;/b&gt; API</title>") {
		t.Errorf("title is not escaped: %s", page)
	}
	if !strings.Contains(page, "nothing here is &lt;real&gt;") {
		t.Errorf("the warning is not shown: %s", page)
	}
	if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("Content-Security-Policy %q, want default-src 'none' and nothing unsafe", csp)
	}
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	for _, l := range links {
		if l[1] == "data:," {
			continue
		}
		res, body := get(t, s.URL+l[1])
		if !strings.HasPrefix(l[1], "/") || res.StatusCode != 200 || body == "" {
			t.Errorf("%s: status %d with %d bytes, want a file of this server", l[1], res.StatusCode, len(body))
		}
		if strings.Contains(body, "sourceMappingURL=") {
			t.Errorf("%s refers to a source map", l[1])
		}
	}
	if len(links) < 4 {
		t.Errorf("the page has the links %v, want at least 4", links)
	}
	for _, path := range []string{"/docs/api/page.html", "/docs/api/..%2fapidoc.go", "/docs/api/LICENSE"} {
		if res, _ := get(t, s.URL+path); res.StatusCode != 404 {
			t.Errorf("%s: status %d, want 404", path, res.StatusCode)
		}
	}
}

func TestBrokenDocumentIsRefused(t *testing.T) {
	t.Parallel()
	const (
		notYAML      = "a: ["
		withMergeKey = "a: &x {b: 1}\nc: {<<: *x}" // valid YAML, but merge keys are refused
	)
	for _, bad := range []string{notYAML, withMergeKey} {
		if _, err := apidoc.Parse([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
