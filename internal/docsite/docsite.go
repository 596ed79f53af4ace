// Package docsite serves the documents as pages under /docs, with a table of
// contents and a search.
//
// The pages have no scripts and connect to no other server, which their content
// security policy enforces.
package docsite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"vigil/docs"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

//go:embed assets/page.html assets/page.css
var assets embed.FS

const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// A group is a section of the table of contents.
type group struct {
	Title string
	Pages []string // paths of documents, without .md
}

// contents is the table of contents. It contains every document once.
var contents = []group{
	{"Start", []string{"quickstart", "installation", "scan", "onboarding", "tutorial"}},
	{"How to", []string{"cli", "clients", "terraform", "findings", "exports", "notifications", "operations", "capacity", "single-sign-on", "desktop", "troubleshooting"}},
	{"Reference", []string{"catalog", "rules", "unchecked", "queries", "entities", "resources", "resources/aws", "resources/azure", "resources/gcp"}},
	{"Background", []string{"predicates", "resource-types", "own-types", "entity-storage"}},
}

// A site contains the documents as HTML.
type site struct {
	pages    map[string]*page   // by path, without .md
	order    []*page            // in the order of the table of contents
	template *template.Template // of every page
}

var load = sync.OnceValues(func() (*site, error) {
	t, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return nil, err
	}
	s := &site{pages: map[string]*page{}, template: t}
	for _, g := range contents {
		for _, path := range g.Pages {
			text, err := docs.Files.ReadFile(path + ".md")
			if err != nil {
				return nil, err
			}
			p, err := render(path, text)
			if err != nil {
				return nil, err
			}
			s.pages[path] = p
			s.order = append(s.order, p)
		}
	}
	return s, nil
})

// Routes returns the routes of the pages at /docs and below.
func Routes() ([]httpapi.Route, error) {
	s, err := load()
	if err != nil {
		return nil, err
	}
	css, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return nil, err
	}
	hidden := func(pattern, operation string, h httpapi.Handler) httpapi.Route {
		return httpapi.Route{Pattern: pattern, Need: httpapi.Public, Operation: operation, Hidden: true, Handler: h}
	}
	return []httpapi.Route{
		hidden("GET /docs", "getDocs", httpapi.Stream(s.frontPage)),
		hidden("GET /docs/search", "searchDocs", httpapi.Stream(s.search)),
		hidden("GET /docs/page.css", "getDocsStyle", httpapi.Stream(func(w http.ResponseWriter, r *http.Request) error {
			return write(w, r, "text/css; charset=utf-8", css)
		})),
		hidden("GET /docs/{page}", "getDocsPage", httpapi.Stream(func(w http.ResponseWriter, r *http.Request) error {
			return s.show(w, r, r.PathValue("page"))
		})),
		hidden("GET /docs/resources/{page}", "getDocsResources", httpapi.Stream(func(w http.ResponseWriter, r *http.Request) error {
			return s.show(w, r, path.Join("resources", r.PathValue("page")))
		})),
	}, nil
}

// frontPage serves the table of contents.
func (s *site) frontPage(w http.ResponseWriter, r *http.Request) error {
	return s.write(w, r, view{Title: "Documentation", Front: true})
}

func (s *site) show(w http.ResponseWriter, r *http.Request, path string) error {
	p := s.pages[strings.TrimSuffix(path, ".md")]
	if p == nil {
		return fault.New(fault.NotFound, "there is no document of this name; /docs lists them")
	}
	return s.write(w, r, view{Title: p.Title, At: p.Path, Body: p.body, Headings: p.headings})
}

// maxQuery is the maximum length of a search, in characters, as in the form of page.html.
const maxQuery = 200

func (s *site) search(w http.ResponseWriter, r *http.Request) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	if utf8.RuneCountInString(q) > maxQuery {
		return fault.Field("q", "has more than %d characters", maxQuery)
	}
	return s.write(w, r, view{Title: cmp.Or(q, "Search"), Query: q, Searched: true, Hits: s.find(q)})
}

// A view is the data of the template.
type view struct {
	Title    string
	At       string // path of the shown document
	Front    bool
	Body     template.HTML
	Headings []heading
	Query    string
	Searched bool
	Hits     []hit
	Groups   []groupView
}

type groupView struct {
	Title string
	Pages []*page
}

func (s *site) write(w http.ResponseWriter, r *http.Request, v view) error {
	next := 0
	for _, g := range contents {
		v.Groups = append(v.Groups, groupView{g.Title, s.order[next : next+len(g.Pages)]})
		next += len(g.Pages)
	}
	var out bytes.Buffer
	if err := s.template.Execute(&out, v); err != nil {
		return err
	}
	return write(w, r, "text/html; charset=utf-8", out.Bytes())
}

func write(w http.ResponseWriter, r *http.Request, kind string, data []byte) error {
	sum := sha256.Sum256(data)
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-cache") // may be cached, must be revalidated
	h.Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	return nil
}
