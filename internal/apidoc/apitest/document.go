// Package apitest tests a server against its OpenAPI document. Only tests
// import it.
//
// A [Document] checks that the routing table and the document have the same
// operations, checks every response that passes through its client against the
// schema for its status, and records which documented responses were seen.
// [Torture] generates requests from the document, makes them invalid in many
// ways, and reports a server that fails.
package apitest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"vigil/internal/apidoc"
	"vigil/internal/httpapi"
)

// A Document is an OpenAPI 3.1 document that responses can be checked against.
// Parallel tests may share it.
type Document struct {
	spec       *openapi3.T
	operations []*operation
	router     httpapi.Router[*operation]
	hidden     httpapi.Router[bool] // routes that are served but not documented

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by JSON pointer
	valid    map[checkedBody]bool          // bodies that were found to match their schema
	seen     map[string]map[int]int        // number of responses by operation id and status
}

type operation struct {
	*openapi3.Operation
	method  string
	path    string
	pointer string // to the operation in the document
	params  openapi3.Parameters
}

// location is the URL of the document for the schema compiler, which does not fetch it.
const location = "https://vigil.invalid/openapi.json"

// Load parses a document and fails the test if it is not valid.
func Load(t testing.TB, document []byte) *Document {
	t.Helper()
	d, err := New(document)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// New parses and validates a document.
func New(document []byte) (*Document, error) {
	spec, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("load API document: %w", err)
	}
	if err := spec.Validate(openapi3.NewLoader().Context); err != nil {
		return nil, fmt.Errorf("validate API document: %w", err)
	}
	asJSON, err := apidoc.ToJSON(document)
	if err != nil {
		return nil, err
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return nil, err
	}
	d := &Document{
		spec: spec, compiler: jsonschema.NewCompiler(),
		schemas: make(map[string]*jsonschema.Schema), valid: make(map[checkedBody]bool), seen: make(map[string]map[int]int),
	}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(location, root); err != nil {
		return nil, err
	}
	if err := d.index(); err != nil {
		return nil, err
	}
	return d, d.compile()
}

// compile compiles every schema of a response, so that a broken one is reported
// at once.
func (d *Document) compile() error {
	if _, err := d.schema(errorSchema); err != nil {
		return err
	}
	for _, o := range d.operations {
		for code, ref := range o.Responses.Map() {
			responsePointer := o.pointer + "/responses/" + code
			if ref.Ref != "" {
				responsePointer = ref.Ref
			}
			for kind, media := range ref.Value.Content {
				if media.Schema == nil {
					continue
				}
				if _, err := d.schema(schemaAt(media.Schema, responsePointer+"/content/"+escape(kind)+"/schema")); err != nil {
					return fmt.Errorf("%s %s: %w", o.OperationID, code, err)
				}
			}
		}
	}
	return nil
}

// index adds every operation to the router.
func (d *Document) index() error {
	ids := make(map[string]bool)
	for path, item := range d.spec.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == "" || ids[op.OperationID] {
				return fmt.Errorf("%s %s: operationId %q is missing or not unique", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
			o := &operation{Operation: op, method: method, path: path,
				pointer: "#/paths/" + escape(path) + "/" + strings.ToLower(method),
				params:  append(slices.Clone(item.Parameters), op.Parameters...)}
			d.operations = append(d.operations, o)
			if err := d.router.Add(method+" "+path, o); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(d.operations, func(a, b *operation) int { return strings.Compare(a.OperationID, b.OperationID) })
	return nil
}

// escape escapes a name as a token of a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// CheckRoutes fails the test unless the routes, except hidden ones, and the
// document have the same operations with the same ids, and agree on which of
// them are public.
func (d *Document) CheckRoutes(t testing.TB, routes []httpapi.Route) {
	t.Helper()
	var documented, served []string
	for _, o := range d.operations {
		documented = append(documented, row(o.method+" "+o.path, o.OperationID, d.isPublic(o)))
	}
	for _, r := range routes {
		if !r.Hidden {
			served = append(served, row(r.Pattern, r.Operation, r.Need == httpapi.Public))
		}
	}
	for _, r := range without(documented, served) {
		t.Errorf("documented but not served: %s", r)
	}
	for _, r := range without(served, documented) {
		t.Errorf("served but not documented: %s", r)
	}
}

// without returns the elements of values that are not in removed.
func without(values, removed []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(s string) bool { return slices.Contains(removed, s) })
}

// Hide registers the hidden routes, which are served but not documented: their
// responses are not checked. It ignores other routes.
func (d *Document) Hide(t testing.TB, routes []httpapi.Route) {
	t.Helper()
	for _, r := range routes {
		if r.Hidden {
			if err := d.hidden.Add(r.Pattern, true); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func row(pattern, operation string, public bool) string {
	caller := "with a token"
	if public {
		caller = "open to anybody"
	}
	return fmt.Sprintf("%s as %s, %s", pattern, operation, caller)
}

// isPublic reports whether an operation needs no token.
func (d *Document) isPublic(o *operation) bool {
	security := d.spec.Security
	if o.Security != nil {
		security = *o.Security
	}
	return len(security) == 0
}

// Unseen returns the documented responses that no request got, as "operation
// status", except those with the given statuses.
func (d *Document) Unseen(except ...int) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var unseen []string
	for _, o := range d.operations {
		for code := range o.Responses.Map() {
			var status int
			if _, err := fmt.Sscan(code, &status); err != nil || slices.Contains(except, status) {
				continue
			}
			if d.seen[o.OperationID][status] == 0 {
				unseen = append(unseen, fmt.Sprintf("%s %d", o.OperationID, status))
			}
		}
	}
	slices.Sort(unseen)
	return unseen
}

// find returns the operation of a request. known is false if the document does not have
// the path; o is nil if it does not have the path with this method.
func (d *Document) find(r *http.Request) (o *operation, known bool) {
	found, ok := d.router.Find(r.Method, r.URL.EscapedPath())
	return found.Value, ok
}
