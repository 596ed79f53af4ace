package docsite

import (
	"bytes"
	"fmt"
	"html/template"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// A page is a document as HTML.
type page struct {
	Path     string // in docs/, without .md
	Title    string
	Summary  string // its first paragraph
	body     template.HTML
	headings []heading // of the second level
	sections []section // for the search
}

// A heading is an entry in the list of a page's headings.
type heading struct{ ID, Text string }

// A section is a heading of any level with the text up to the next heading. The
// field heading is the ID of the heading. The first line of the field text is the
// text of the heading.
type section struct{ heading, text string }

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// render converts a document to a page. A link to another document becomes a
// link to its page. A link to a source file becomes plain text, because the
// source is not served.
func render(path string, source []byte) (*page, error) {
	p := &page{Path: path}
	doc := markdown.Parser().Parse(text.NewReader(source))
	var outside []*ast.Link
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			to, ok := address(path, string(link.Destination))
			if !ok {
				outside = append(outside, link)
			}
			link.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	for _, link := range outside {
		unlink(link)
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		p.read(n, source)
	}
	if p.Title == "" {
		return nil, fmt.Errorf("docs/%s.md has no title", path)
	}
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, doc); err != nil {
		return nil, err
	}
	p.body = template.HTML(out.String()) //nolint:gosec // our own documents, and goldmark escapes HTML in them
	return p, nil
}

// read collects the headings and the text below them.
func (p *page) read(n ast.Node, source []byte) {
	words := plainText(n, source)
	if h, ok := n.(*ast.Heading); ok {
		id, _ := h.AttributeString("id")
		name, _ := id.([]byte)
		switch h.Level {
		case 1:
			p.Title = words
		case 2:
			p.headings = append(p.headings, heading{string(name), words})
		}
		p.sections = append(p.sections, section{heading: string(name), text: words})
		return
	}
	if p.Summary == "" && n.Kind() == ast.KindParagraph {
		p.Summary = words
	}
	if len(p.sections) > 0 {
		last := &p.sections[len(p.sections)-1]
		last.text += "\n" + words
	}
}

// plainText returns the text of a node without markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function never fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		}
		if n.Type() == ast.TypeBlock && b.Len() > 0 {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// address converts the target of a link to an address of the site. It returns
// false for files that are not documents.
func address(pagePath, to string) (string, bool) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "/") || strings.HasPrefix(to, "mailto:") {
		return to, true
	}
	file, fragment, _ := strings.Cut(to, "#")
	target := path.Join(path.Dir(pagePath), file)
	if strings.HasPrefix(target, "..") || !strings.HasSuffix(target, ".md") {
		return "", false
	}
	target = "/docs/" + strings.TrimSuffix(target, ".md")
	if fragment != "" {
		target += "#" + fragment
	}
	return target, true
}

// unlink replaces a link by its text.
func unlink(link *ast.Link) {
	parent := link.Parent()
	for c := link.FirstChild(); c != nil; {
		next := c.NextSibling()
		parent.InsertBefore(parent, link, c)
		c = next
	}
	parent.RemoveChild(parent, link)
}
