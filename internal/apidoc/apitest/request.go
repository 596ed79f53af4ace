package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// A draft is a request that is being generated.
type draft struct {
	generator
	operation *operation
	known     map[string][]string // values of parameters that exist on the server

	method   string
	segments []string // of the path, encoded
	query    url.Values
	header   http.Header
	body     []byte
	chunked  bool
}

// newDraft generates a request for an operation that seed and index select. All of it conforms
// to the document, except for most JSON bodies.
func (x *Torture) newDraft(seed, index uint64) *draft {
	g := generator{rand.New(rand.NewPCG(seed, index))}
	o := pickOne(g, x.operations...)
	d := &draft{generator: g, operation: o, known: x.Known, method: o.method, query: url.Values{}, header: http.Header{}}
	for s := range strings.SplitSeq(strings.Trim(o.path, "/"), "/") {
		d.segments = append(d.segments, d.fill(s))
	}
	for _, p := range o.params {
		if p.Value.In != openapi3.ParameterInPath && (p.Value.Required || d.chance(3)) {
			d.setParameter(p.Value)
		}
	}
	if body := o.RequestBody; body != nil && (body.Value.Required || !d.chance(4)) {
		d.makeBody(body.Value.Content)
	}
	return d
}

// fill replaces the wildcards of a path segment by values.
func (d *draft) fill(segment string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(segment, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		b.WriteString(url.PathEscape(d.parameter(name)))
		segment = after
	}
}

// parameter returns a value for a path parameter.
func (d *draft) parameter(name string) string {
	if known := d.known[name]; len(known) > 0 && !d.chance(4) {
		return pickOne(d.generator, known...)
	}
	for _, p := range d.operation.params {
		if p.Value.In == openapi3.ParameterInPath && p.Value.Name == name {
			return d.parameterText(p.Value)
		}
	}
	return d.word()
}

func (d *draft) setParameter(p *openapi3.Parameter) {
	value := d.parameterText(p)
	if known := d.known[p.Name]; len(known) > 0 && !d.chance(4) {
		value = pickOne(d.generator, known...)
	}
	switch p.In {
	case openapi3.ParameterInQuery:
		d.query.Set(p.Name, value)
	case openapi3.ParameterInHeader:
		d.header.Set(p.Name, headerText(value))
	}
}

func (d *draft) parameterText(p *openapi3.Parameter) string {
	if p.Example != nil && d.chance(2) {
		return fmt.Sprint(p.Example)
	}
	return fmt.Sprint(d.value(p.Schema, 0))
}

// makeBody generates a body of the operation's content type. JSON is made invalid most of
// the time.
func (d *draft) makeBody(content openapi3.Content) {
	if form := content["application/x-www-form-urlencoded"]; form != nil {
		fields := url.Values{}
		if m, ok := d.value(form.Schema, 0).(map[string]any); ok {
			for name, v := range m {
				fields.Set(name, fmt.Sprint(v))
			}
		}
		d.header.Set("Content-Type", "application/x-www-form-urlencoded")
		d.body = []byte(fields.Encode())
		return
	}
	media := content["application/json"]
	if media == nil {
		d.body = []byte(d.word())
		return
	}
	value := d.value(media.Schema, 0)
	for range pickOne(d.generator, 0, 0, 1, 1, 1, 3) {
		value = d.mutate(value)
	}
	body, err := json.Marshal(value)
	if err != nil {
		body = []byte(`{"a": ` + err.Error()) // too deeply nested to encode: use broken JSON
	}
	d.header.Set("Content-Type", "application/json")
	d.body = body
}

// maxOddInURL limits the bytes of an odd text in a URL: escaped, they must fit into the headers
// that the server accepts (32 KB), or every request with a long text would be refused for its length.
const maxOddInURL = 3000

// corrupt makes parts of the request invalid. Of the body, it corrupts the text, not the values.
func (d *draft) corrupt() {
	if d.chance(6) {
		d.method = pickOne(d.generator, oddMethods...)
	}
	if d.chance(4) {
		d.corruptPath()
	}
	if d.chance(6) {
		d.mutateHeaders(d.header)
	}
	if d.chance(4) {
		d.corruptQuery()
	}
	if len(d.body) > 0 && d.chance(6) {
		d.body = d.mutateBytes(d.body)
	}
	d.chunked = d.chance(8)
}

// corruptQuery sets a documented or an unknown query parameter to an unusual
// value.
func (d *draft) corruptQuery() {
	names := []string{"surprise"}
	for _, p := range d.operation.params {
		if p.Value.In == openapi3.ParameterInQuery {
			names = append(names, p.Value.Name)
		}
	}
	odd := pickOne(d.generator, oddTexts...)
	d.query.Add(pickOne(d.generator, names...), odd[:min(len(odd), maxOddInURL)])
}

func (d *draft) corruptPath() {
	i := d.IntN(len(d.segments))
	switch d.IntN(7) {
	case 0, 1, 2:
		odd := pickOne(d.generator, oddTexts...)
		d.segments[i] = url.PathEscape(odd[:min(len(odd), maxOddInURL)])
	case 3:
		d.segments = d.segments[:i]
	case 4:
		d.segments = append(d.segments, "")
	case 5:
		d.segments = append(d.segments, pickOne(d.generator, "x", "..", ".", "%2e%2e", "query", "_"))
	case 6:
		d.segments[i] = strings.ToUpper(d.segments[i])
	}
}

// request returns the draft as an HTTP request, or nil if the client library
// refuses it.
func (d *draft) request(ctx context.Context, base string) *http.Request {
	target := base + "/" + strings.Join(d.segments, "/")
	if len(d.query) > 0 {
		target += "?" + d.query.Encode()
	}
	var body io.Reader = bytes.NewReader(d.body)
	if d.chunked {
		body = io.MultiReader(body) // hides the length, so that the client sends chunks
	}
	r, err := http.NewRequestWithContext(ctx, d.method, target, body)
	if err != nil {
		return nil
	}
	r.Header = d.header
	return r
}

// headerText removes characters that clients cannot send in a header.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
