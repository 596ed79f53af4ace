package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// CheckListLimits checks the limit of every list and map in request bodies. The
// document must state it (maxItems, maxProperties), a list of that length must not
// be refused for its length, and one more element must be answered with 400, with
// the list and the limit in the message. authorize adds a token with the highest
// role. others names the operations that need another kind of credential: they are
// not called.
func (d *Document) CheckListLimits(t testing.TB, client *http.Client, base string, authorize func(http.Header), others ...string) {
	t.Helper()
	checked := 0
	for _, o := range d.operations {
		if o.RequestBody == nil || o.RequestBody.Value.Content["application/json"] == nil {
			continue
		}
		for _, l := range listsOf(o.RequestBody.Value.Content["application/json"].Schema) {
			if l.limit == 0 {
				t.Errorf("%s: %s states no maxItems or maxProperties", o.OperationID, l.path)
				continue
			}
			if slices.Contains(others, o.OperationID) {
				continue
			}
			checked++
			send := func(n int) (int, string) {
				return post(t, client, o, base, l.body(n), authorize)
			}
			refusal := "at most " + strconv.Itoa(l.limit) + " "
			if status, answer := send(l.limit); strings.Contains(answer, refusal) {
				t.Errorf("%s: %s with %d elements is refused for its length: %d %s", o.OperationID, l.path, l.limit, status, answer)
			}
			if status, answer := send(l.limit + 1); status != http.StatusBadRequest || !strings.Contains(answer, refusal) || !strings.Contains(answer, l.path) {
				t.Errorf("%s: %s with %d elements: %d %.300s; want 400 that names it and says %q", o.OperationID, l.path, l.limit+1, status, answer, refusal)
			}
		}
	}
	if checked == 0 {
		t.Error("the document has no list in any request body: nothing was checked")
	}
}

// listIn is a list or a map in a body.
type listIn struct {
	path  string // as in error responses, such as rules[0].tags
	limit int
	body  func(n int) any // returns a body in which the list has n elements
}

// listsOf returns the lists and maps in a body.
func listsOf(schema *openapi3.SchemaRef) []listIn {
	var all []listIn
	collectLists(schema, "", func(v any) any { return v }, map[*openapi3.Schema]int{}, &all)
	return all
}

// collectLists appends the lists and maps in a schema to all. path is the place of the schema's
// value in the body, and wrap returns a body with a given value at this place. depths counts how
// often each schema occurs on the way to this one.
func collectLists(ref *openapi3.SchemaRef, path string, wrap func(any) any, depths map[*openapi3.Schema]int, all *[]listIn) {
	if ref == nil || ref.Value == nil {
		return
	}
	s := ref.Value
	if depths[s] > 1 { // a recursive schema
		return
	}
	depths[s]++
	defer func() { depths[s]-- }()
	for _, refs := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		for _, r := range refs {
			collectLists(r, path, wrap, depths, all)
		}
	}
	if s.Type.Includes("array") {
		l := listIn{path: path, body: func(n int) any {
			list := make([]any, n)
			for i := range list {
				list[i] = sampleOf(s.Items, i)
			}
			return wrap(list)
		}}
		if s.MaxItems != nil {
			l.limit = int(*s.MaxItems)
		}
		*all = append(*all, l)
		collectLists(s.Items, path+"[0]", func(v any) any { return wrap([]any{v}) }, depths, all)
	}
	if values := s.AdditionalProperties.Schema; values != nil {
		l := listIn{path: path, body: func(n int) any {
			m := make(map[string]any, n)
			for i := range n {
				m["k"+strconv.Itoa(i)] = sampleOf(values, i)
			}
			return wrap(m)
		}}
		if s.MaxProps != nil {
			l.limit = int(*s.MaxProps)
		}
		*all = append(*all, l)
		collectLists(values, join(path, "k0"), func(v any) any { return wrap(map[string]any{"k0": v}) }, depths, all)
	}
	for name, member := range s.Properties {
		if member.Value != nil && member.Value.ReadOnly {
			continue
		}
		collectLists(member, join(path, name), func(v any) any { return wrap(map[string]any{name: v}) }, depths, all)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// sampleOf returns an element of roughly the right type.
func sampleOf(ref *openapi3.SchemaRef, i int) any {
	s := ref.Value
	for len(s.OneOf)+len(s.AnyOf) > 0 {
		s = slices.Concat(s.OneOf, s.AnyOf)[0].Value
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Includes("string"):
		return fmt.Sprint("x", i)
	case s.Type.Includes("array"):
		return []any{}
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		return 1
	case s.Type.Includes("boolean"):
		return true
	}
	return map[string]any{}
}

var wildcard = regexp.MustCompile(`\{[^}]*\}`)

// post sends a body to an operation and returns the status and body of the
// response.
func post(t testing.TB, client *http.Client, o *operation, base string, body any, authorize func(http.Header)) (int, string) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), o.method, base+wildcard.ReplaceAllString(o.path, "x"), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	authorize(r.Header)
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}
