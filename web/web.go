// Package web serves the console: the files that "npm run build" in this folder
// writes to dist/app, embedded into the binary.
//
// The built console is never committed. A binary built without it serves
// dist/placeholder.html, which says how to build it.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

//go:embed all:dist
var dist embed.FS

// Policy is the content security policy of the console: nothing inline, and
// nothing from another origin.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// Routes serves the console under /console/ and redirects / to it.
func Routes() ([]httpapi.Route, error) {
	built, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, err
	}
	c, err := load(built)
	if err != nil {
		return nil, err
	}
	return c.routes(), nil
}

func (c *console) routes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET /", Need: httpapi.Public, Operation: "getRoot", Hidden: true, Handler: httpapi.Stream(toConsole)},
		{Pattern: "GET /console/{path...}", Need: httpapi.Public, Operation: "getConsole", Hidden: true, Handler: httpapi.Stream(c.serve)},
	}
}

func toConsole(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/console/", http.StatusFound)
	return nil
}

// console is the files of a build, in memory.
type console struct {
	page  *file // index.html, or the placeholder
	files map[string]*file
}

// A file is served in one of the encodings that the build made.
type file struct {
	kind         string
	uncompressed content
	encoded      map[string]content // by the name of a content coding: br, gzip
	immutable    bool
}

type content struct {
	data []byte
	tag  string
}

func newContent(data []byte) content {
	sum := sha256.Sum256(data)
	return content{data, `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// codings are the content codings in order of preference, by the suffix of the
// files that the build writes beside the plain ones.
var codings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// load reads a build from the folder app, or the placeholder where there is
// none.
func load(built fs.FS) (*console, error) {
	placeholder, err := fs.ReadFile(built, "placeholder.html")
	if err != nil {
		return nil, fmt.Errorf("read embedded console: %w", err)
	}
	c := &console{page: newFile("placeholder.html", placeholder), files: map[string]*file{}}
	app, err := fs.Sub(built, "app")
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(app, "index.html"); err != nil {
		return c, nil
	}
	if err := fs.WalkDir(app, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(name)[0] == '.' {
			return err
		}
		data, err := fs.ReadFile(app, name)
		c.files[name] = newFile(name, data)
		return err
	}); err != nil {
		return nil, fmt.Errorf("read embedded console: %w", err)
	}
	c.joinEncodings()
	c.page = c.files["index.html"]
	return c, nil
}

// newFile describes a file. Vite puts files whose names hold a hash of their
// content into the folder assets: they never change.
func newFile(name string, data []byte) *file {
	kind := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // the table of the operating system may differ
	case ".js", ".mjs":
		kind = "text/javascript; charset=utf-8"
	case ".css":
		kind = "text/css; charset=utf-8"
	case ".html":
		kind = "text/html; charset=utf-8"
	case ".svg":
		kind = "image/svg+xml"
	case ".json", ".map":
		kind = "application/json"
	case ".woff2":
		kind = "font/woff2"
	case "":
		kind = "text/plain; charset=utf-8"
	}
	return &file{kind: kind, uncompressed: newContent(data), encoded: map[string]content{}, immutable: strings.HasPrefix(name, "assets/")}
}

// joinEncodings makes x.js.br an encoding of x.js.
func (c *console) joinEncodings() {
	for name, f := range c.files {
		for _, coding := range codings {
			original, ok := strings.CutSuffix(name, coding.suffix)
			if file := c.files[original]; ok && file != nil {
				file.encoded[coding.name] = f.uncompressed
				delete(c.files, name)
			}
		}
	}
}

// serve sends a file of the build. Any other path is an address within the console, for
// which serve sends index.html. A missing asset is an error instead, so that a page that
// was open during an upgrade does not get HTML where it expects a script.
func (c *console) serve(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("path")
	f, ok := c.files[name]
	if !ok {
		if strings.HasPrefix(name, "assets/") {
			return fault.New(fault.NotFound, "there is no such file in this version of the console")
		}
		f = c.page
	}
	h := w.Header()
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache") // browsers may cache it, but must revalidate
	if f.immutable {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	sent := f.uncompressed
	for _, coding := range codings {
		if encoded, ok := f.encoded[coding.name]; ok && accepts(r, coding.name) {
			sent = encoded
			h.Set("Content-Encoding", coding.name)
			break
		}
	}
	h.Set("ETag", sent.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(sent.data))
	return nil
}

// accepts reports whether the sender of a request takes a content coding.
func accepts(r *http.Request, coding string) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			weight := strings.TrimLeft(strings.ReplaceAll(parameters, " ", ""), "qQ=")
			return strings.Trim(weight, "0.") != "" || weight == "" // q=0 and q=0.0 mean that the coding is not accepted
		}
	}
	return false
}
