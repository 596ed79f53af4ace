package apitest

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// CheckListsAreRequired checks that every list in a successful response is
// required and not nullable in the document, so that clients may iterate over it
// without checking that it exists. Other tests check that the responses match the
// document. except names lists, as Schema.member, that may be optional because
// requests use the same schema.
func (d *Document) CheckListsAreRequired(t testing.TB, except ...string) {
	t.Helper()
	w := listWalker{t: t, except: except, seen: map[*openapi3.Schema]bool{}}
	for _, o := range d.operations {
		for status, r := range o.Responses.Map() {
			if !strings.HasPrefix(status, "2") {
				continue
			}
			for _, c := range r.Value.Content {
				w.walk(o.OperationID, c.Schema)
			}
		}
	}
	if w.lists == 0 {
		t.Error("the document has no list in any response: nothing was checked")
	}
}

// listWalker visits the schemas of responses once each.
type listWalker struct {
	t      testing.TB
	except []string
	seen   map[*openapi3.Schema]bool
	lists  int // number of lists that were checked
}

// walk checks the lists of a schema and of the schemas in it. The name is the path of the
// schema in error messages, unless the schema has a name of its own.
func (w *listWalker) walk(name string, ref *openapi3.SchemaRef) {
	w.t.Helper()
	if ref == nil || ref.Value == nil || w.seen[ref.Value] {
		return
	}
	s := ref.Value
	w.seen[s] = true
	if ref.Ref != "" {
		name = ref.Ref[strings.LastIndex(ref.Ref, "/")+1:]
	}
	for member, property := range s.Properties {
		path := name + "." + member
		if includes(property, "array") && !slices.Contains(w.except, path) {
			w.lists++
			if !slices.Contains(s.Required, member) || includes(property, "null") || property.Value.Nullable {
				w.t.Errorf("the list %s may be absent or null in a response", path)
			}
		}
		w.walk(path, property)
	}
	w.walk(name+"[]", s.Items)
	w.walk(name+"{}", s.AdditionalProperties.Schema)
	for _, part := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		w.walk(name, part)
	}
}

// includes reports whether a schema or one that it is composed of permits a type.
func includes(ref *openapi3.SchemaRef, kind string) bool {
	if ref == nil || ref.Value == nil {
		return false
	}
	s := ref.Value
	return s.Type.Includes(kind) || slices.ContainsFunc(slices.Concat(s.AllOf, s.AnyOf, s.OneOf), func(part *openapi3.SchemaRef) bool { return includes(part, kind) })
}
