package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/httpapi"
)

var patterns = []string{
	"GET /v1/a", "POST /v1/a/query", "GET /v1/a/{id}", "PUT /v1/a/{name}/b", "DELETE /v1/p/{provider}/{account}_{credential}",
	"POST /v1/p/{provider}/accounts", "GET /v1/p/{provider}/v{n}.json", "GET /docs/{file...}", "GET /docs/x/{id}",
}

func router(t testing.TB) *httpapi.Router[string] {
	var r httpapi.Router[string]
	for _, p := range patterns {
		if err := r.Add(p, p); err != nil {
			t.Fatal(err)
		}
	}
	return &r
}

func TestRouterFindsTheMostSpecificPath(t *testing.T) {
	t.Parallel()
	r := router(t)
	for _, tt := range []struct {
		method, path string
		pattern      string // or "allow" and the methods that the path allows
		values       string // of the wildcards
	}{
		{"GET", "/v1/a", "GET /v1/a", ""},
		{"GET", "/v1/a/", "GET /v1/a", ""},
		{"GET", "/v1/a/x", "GET /v1/a/{id}", "x"},
		{"GET", "/v1/a/query", "allow OPTIONS, POST", ""},
		{"PUT", "/v1/a/query/b", "PUT /v1/a/{name}/b", "query"},
		{"DELETE", "/v1/p/aws/123_cred_1", "DELETE /v1/p/{provider}/{account}_{credential}", "aws|123|cred_1"},
		{"DELETE", "/v1/p/aws/_1", "", ""},
		{"DELETE", "/v1/p/aws/1_", "", ""},
		{"DELETE", "/v1/p/aws/__", "", ""},
		{"DELETE", "/v1/p/aws/___", "DELETE /v1/p/{provider}/{account}_{credential}", "aws|_|_"},
		{"DELETE", "/v1/p/aws/a%5Fb", "DELETE /v1/p/{provider}/{account}_{credential}", "aws|a|b"},
		{"DELETE", "/v1/p/aws/accounts", "allow OPTIONS, POST", ""},
		{"GET", "/v1/p/aws/v12.json", "GET /v1/p/{provider}/v{n}.json", "aws|12"},
		{"GET", "/v1/p/aws/v.json", "", ""},
		{"GET", "/docs", "GET /docs/{file...}", ""},
		{"GET", "/docs/css/a.css", "GET /docs/{file...}", "css/a.css"},
		{"GET", "/docs/x/1", "GET /docs/x/{id}", "1"},
		{"GET", "/docs/x/1/2", "GET /docs/{file...}", "x/1/2"},
		{"GET", "/V1/a", "", ""},
		{"GET", "", "", ""},
		{"GET", "*", "", ""},
	} {
		found, ok := r.Find(tt.method, tt.path)
		got := found.Value
		if ok && found.Allow != nil {
			got = "allow " + strings.Join(found.Allow, ", ")
		}
		if diff := cmp.Diff([]string{tt.pattern, tt.values}, []string{got, strings.Join(found.Values, "|")}); diff != "" || ok != (tt.pattern != "") {
			t.Errorf("%s %s (-want +got):\n%s", tt.method, tt.path, diff)
		}
	}
}

func TestRouterRefusesBadPatterns(t *testing.T) {
	t.Parallel()
	// The last two are in patterns already; the name of a wildcard makes no difference.
	for _, p := range []string{"", "GET", "GET x", " /x", "GET /{", "GET /{}", "GET /{a}{b}", "GET /{a...}/b", "GET /v1/a", "PUT /v1/a/{other}/b"} {
		if err := router(t).Add(p, p); err == nil {
			t.Errorf("%q was accepted", p)
		}
	}
}

func FuzzPaths(f *testing.F) {
	for _, p := range []string{"/v1/a/x", "//", "/v1/a/../b", "/%2e%2e/%00", "/v1/p/aws/a_b_c", "/docs/../../etc/passwd", "*", "/v1/a/%E4%BD%A0"} {
		f.Add("GET", p)
	}
	m, err := httpapi.NewMux([]httpapi.Route{
		public("GET /v1/a/{id}", returns(1)), public("DELETE /v1/p/{p}/{a}_{b}", returns(1)), public("GET /docs/{file...}", returns(1)),
	}, httpapi.Options{})
	if err != nil {
		f.Fatal(err)
	}
	r := router(f)
	f.Fuzz(func(t *testing.T, method, path string) {
		if found, ok := r.Find(method, path); ok && found.Allow == nil && len(found.Names) != len(found.Values) {
			t.Errorf("%q %q: %d names, %d values", method, path, len(found.Names), len(found.Values))
		}
		req, err := http.NewRequest(method, "http://h"+path, nil)
		if err != nil {
			t.Skip()
		}
		w := httptest.NewRecorder()
		m.ServeHTTP(w, req)
		if c := w.Code; c != 200 && c != 204 && c != 404 && c != 405 {
			t.Errorf("%q %q: status %d", method, path, c)
		}
	})
}
