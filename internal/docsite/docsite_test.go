package docsite

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vigil/docs"
	"vigil/internal/httpapi"
)

// get requests a path of the site.
func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	routes, err := Routes()
	if err != nil {
		t.Fatal(err)
	}
	mux, err := httpapi.NewMux(routes, httpapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestEveryDocumentIsInTheContents(t *testing.T) {
	t.Parallel()
	var listed, existing []string
	for _, g := range contents {
		listed = append(listed, g.Pages...)
	}
	err := fs.WalkDir(docs.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			existing = append(existing, strings.TrimSuffix(path, ".md"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	slices.Sort(existing)
	if !slices.Equal(listed, existing) {
		t.Errorf("the contents list %q, the folder has %q", listed, existing)
	}
}

var (
	href = regexp.MustCompile(`href="([^"]*)"`)
	id   = regexp.MustCompile(`id="([^"]*)"`)
)

// TestLinksLeadSomewhere checks that every link on every page leads to an
// existing page and heading.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	noDocuments := []string{"/docs", "/docs/api", "/docs/page.css", "/console/"} // targets that are not documents
	anchors := map[string][]string{}
	texts := map[string]string{}
	for path := range s.pages {
		w := get(t, "/docs/"+path)
		if w.Code != http.StatusOK || w.Header().Get("Content-Security-Policy") == "" {
			t.Fatalf("/docs/%s: %d %v", path, w.Code, w.Header())
		}
		texts["/docs/"+path] = w.Body.String()
		for _, m := range id.FindAllStringSubmatch(w.Body.String(), -1) {
			anchors["/docs/"+path] = append(anchors["/docs/"+path], m[1])
		}
	}
	for path, text := range texts {
		for _, m := range href.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if u.Scheme != "" || slices.Contains(noDocuments, u.Path) {
				continue
			}
			to := u.Path
			if to == "" {
				to = path
			}
			if _, ok := texts[to]; !ok {
				t.Errorf("%s links to %s, which is not a page", path, m[1])
			} else if u.Fragment != "" && !slices.Contains(anchors[to], u.Fragment) {
				t.Errorf("%s links to %s, which has no such heading", path, m[1])
			}
		}
	}
}

func TestSearchFindsSections(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ query, want string }{
		{"mute rule", `for <strong>mute rule</strong>`},
		{"AWS.S3.Bucket", `href="/docs/resources/aws#awss3bucket"`},
		{"", "Enter search words"},
		{"xyzzy plugh", "No document contains all of these words"},
		{"<script>", "No document contains all of these words: <strong>&lt;script&gt;</strong>"},
	} {
		w := get(t, "/docs/search?q="+url.QueryEscape(tt.query))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%q: %d, and the page lacks %q", tt.query, w.Code, tt.want)
		}
	}
	if w := get(t, "/docs/search?q="+strings.Repeat("a", 201)); w.Code != http.StatusBadRequest {
		t.Errorf("a query of 201 characters: status %d, want 400", w.Code)
	}
	if w := get(t, "/docs/search?q="+url.QueryEscape(strings.Repeat("ä", 200))); w.Code != http.StatusOK {
		t.Errorf("a query of 200 umlauts, which the form accepts: status %d, want 200", w.Code)
	}
}

func TestStatusOfPages(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"/docs": 200, "/docs/rules.md": 200, "/docs/none": 404, "/docs/resources/none": 404, "/docs/..%2Fdocs.go": 404} {
		if w := get(t, path); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}
