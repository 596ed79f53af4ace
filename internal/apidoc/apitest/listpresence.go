package apitest

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// CheckListsAreRequired checks that every list in a successful response is
// required and not nullable in the document. Responses in tests are checked
// against the document, so that clients may iterate over a list without
// checking that it exists. Except names lists, by schema and member, that are
// optional because requests use the same schema.
func (d *Document) CheckListsAreRequired(t testing.TB, except ...string) {
	t.Helper()
	p := presence{t: t, except: except, seen: map[*openapi3.Schema]bool{}}
	for _, o := range d.operations {
		for status, r := range o.Responses.Map() {
			if !strings.HasPrefix(status, "2") {
				continue
			}
			for _, c := range r.Value.Content {
				p.walk(o.OperationID, c.Schema)
			}
		}
	}
	if p.lists == 0 {
		t.Error("the document has no list in any answer: nothing was checked")
	}
}

type presence struct {
	t      testing.TB
	except []string
	seen   map[*openapi3.Schema]bool
	lists  int
}

func (p *presence) walk(name string, ref *openapi3.SchemaRef) {
	p.t.Helper()
	if ref == nil || ref.Value == nil || p.seen[ref.Value] {
		return
	}
	s := ref.Value
	p.seen[s] = true
	if ref.Ref != "" {
		name = ref.Ref[strings.LastIndex(ref.Ref, "/")+1:]
	}
	for member, property := range s.Properties {
		path := name + "." + member
		if property.Value.Type.Includes("array") && !slices.Contains(p.except, path) {
			p.lists++
			if !slices.Contains(s.Required, member) || property.Value.Type.Includes("null") || property.Value.Nullable {
				p.t.Errorf("the list %s may be absent or null in an answer", path)
			}
		}
		p.walk(path, property)
	}
	p.walk(name+"[]", s.Items)
	p.walk(name+"{}", s.AdditionalProperties.Schema)
	for _, part := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		p.walk(name, part)
	}
}
