// Package apidoc serves an OpenAPI document and a page that renders it.
//
// The page is an embedded Swagger UI. Its content security policy permits
// connections to this server only.
package apidoc

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

//go:embed assets/page.html assets/page.css assets/start.js assets/swagger-ui.css assets/swagger-ui-bundle.js
var assets embed.FS

// policy allows the page its own files and calls to this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// A Document is an OpenAPI document that can be served.
type Document struct{ yaml, json []byte }

// Parse reads a document, given as YAML.
func Parse(document []byte) (*Document, error) {
	asJSON, err := ToJSON(document)
	if err != nil {
		return nil, fmt.Errorf("read API document: %w", err)
	}
	return &Document{document, asJSON}, nil
}

// Routes returns routes that serve the document at /openapi.yaml and
// /openapi.json, and the page at /docs/api. A warning, if not empty, is shown at
// the top of the page.
func (d *Document) Routes(warning string) ([]httpapi.Route, error) {
	page, err := newPage(d.json, warning)
	if err != nil {
		return nil, err
	}
	return []httpapi.Route{
		hidden("GET /openapi.yaml", "getDocumentYAML", file("application/yaml", d.yaml)),
		hidden("GET /openapi.json", "getDocumentJSON", file("application/json", d.json)),
		hidden("GET /docs/api", "getDocumentPage", file("text/html; charset=utf-8", page)),
		hidden("GET /docs/api/{file}", "getDocumentPageFile", httpapi.Stream(asset)),
	}, nil
}

func hidden(pattern, operation string, h httpapi.Handler) httpapi.Route {
	return httpapi.Route{Pattern: pattern, Need: httpapi.Public, Operation: operation, Hidden: true, Handler: h}
}

func newPage(document []byte, warning string) ([]byte, error) {
	t, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = t.Execute(&page, struct{ Title, Warning string }{title(document), warning})
	return page.Bytes(), err
}

// file serves bytes that do not change while the process runs.
func file(kind string, data []byte) httpapi.Handler {
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	return httpapi.Stream(func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-cache") // may be cached, must be revalidated
		h.Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		return nil
	})
}

// kinds maps the files of the page to their content types.
var kinds = map[string]string{
	"page.css":             "text/css; charset=utf-8",
	"start.js":             "text/javascript; charset=utf-8",
	"swagger-ui-bundle.js": "text/javascript; charset=utf-8",
	"swagger-ui.css":       "text/css; charset=utf-8",
}

func asset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	kind, ok := kinds[name]
	if !ok {
		return fault.New(fault.NotFound, "there is nothing at this path")
	}
	data, err := assets.ReadFile("assets/" + name)
	if err != nil {
		return fmt.Errorf("read embedded file: %w", err)
	}
	_, err = file(kind, data)(w, r)
	return err
}
