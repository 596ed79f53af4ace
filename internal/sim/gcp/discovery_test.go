package gcp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vigil/internal/sim/gcp"
)

// A schema describes a value in a discovery document.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Format     string             `json:"format"`
	Enum       []string           `json:"enum"`
	Items      *schema            `json:"items"`
	Properties map[string]*schema `json:"properties"`
	Additional *schema            `json:"additionalProperties"`
}

// A document is the discovery document of an API.
type document struct {
	RootURL     string             `json:"rootUrl"`
	ServicePath string             `json:"servicePath"`
	Schemas     map[string]*schema `json:"schemas"`
	Resources   map[string]*branch `json:"resources"`
}

// A branch contains the methods of a resource.
type branch struct {
	Methods   map[string]*method `json:"methods"`
	Resources map[string]*branch `json:"resources"`
}

type method struct {
	ID         string `json:"id"`
	HTTPMethod string `json:"httpMethod"`
	Path       string `json:"path"`
	FlatPath   string `json:"flatPath"`
	Response   schema `json:"response"`
	doc        *document
}

// documents are the discovery documents of the simulated services. If two versions of an API have
// methods of the same name, responses are compared with the later document of this list.
var documents = []string{
	"essentialcontacts/v1",
	"accessapproval/v1",
	"networkmanagement/v1",
	"alloydb/v1", "apikeys/v2", "artifactregistry/v1", "bigquery/v2", "bigtableadmin/v2", "cloudfunctions/v2", "cloudkms/v1", "cloudresourcemanager/v3", "cloudresourcemanager/v1", "cloudscheduler/v1", "compute/v1", "container/v1", "datafusion/v1", "dataproc/v1", "dns/v1", "file/v1", "firestore/v1",
	"iam/v2", "iam/v1", "logging/v2", "memcache/v1", "monitoring/v3", "notebooks/v2", "pubsub/v1", "redis/v1", "run/v1", "run/v2", "secretmanager/v1", "serviceusage/v1", "spanner/v1", "sqladmin/v1", "storage/v1", "workflows/v1",
}

// discoveryMethods reads Google's discovery documents, which are in a module that
// only the oracle needs.
func discoveryMethods(t *testing.T) map[string][]*method {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "google.golang.org/api")
	list.Dir = filepath.FromSlash("../../../oracle/gcp")
	out, err := list.Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Skip("the module with the discovery documents is not available")
	}
	found := map[string][]*method{}
	for _, name := range documents {
		api, _, _ := strings.Cut(name, "/")
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name), api+"-api.json"))
		if err != nil {
			t.Skipf("the discovery document of %s is not available: %v", name, err)
		}
		doc := new(document)
		if err := json.Unmarshal(text, doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, b := range doc.Resources {
			b.walk(func(m *method) {
				m.doc = doc
				found[m.ID] = append(found[m.ID], m)
			})
		}
	}
	return found
}

func (b *branch) walk(visit func(*method)) {
	for _, m := range b.Methods {
		visit(m)
	}
	for _, r := range b.Resources {
		r.walk(visit)
	}
}

// shape replaces the parameters of a path, to make paths comparable.
func shape(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			_, verb, _ := strings.Cut(p, "}")
			parts[i] = "{}" + verb
		}
	}
	return strings.Join(parts, "/")
}

// covers reports whether a path shape equals another or is more general.
func covers(wide, narrow string) bool {
	a, b := strings.Split(wide, "/"), strings.Split(narrow, "/")
	return len(a) == len(b) && slices.EqualFunc(a, b, func(x, y string) bool { return x == y || x == "{}" })
}

// TestRoutesAreGoogles compares the name, verb, host and path of every
// simulated method with Google's discovery documents.
func TestRoutesAreGoogles(t *testing.T) {
	t.Parallel()
	found := discoveryMethods(t)
	for id, request := range gcp.Routes() {
		var known []string
		for _, m := range found[id] {
			path := m.FlatPath
			if path == "" {
				path = m.Path
			}
			known = append(known, m.HTTPMethod+" "+shape(m.doc.RootURL+m.doc.ServicePath+path))
		}
		if !slices.ContainsFunc(known, func(k string) bool { return covers(k, shape(request)) }) {
			t.Errorf("%s has the route %s, which is none of Google's: %v", id, shape(request), known)
		}
	}
}

// TestAnswersAreGoogles compares the name, type, format and values of every
// field of every response with Google's discovery documents.
func TestAnswersAreGoogles(t *testing.T) {
	t.Parallel()
	found := discoveryMethods(t)
	c := serve(t, gcp.Options{Seed: 3, Size: 300, Projects: 2})
	for id, answers := range c.everyAnswer(t) {
		m := found[id]
		if len(m) == 0 {
			continue // TestRoutesAreGoogles reports it
		}
		checked := &check{doc: m[len(m)-1].doc}
		for _, answer := range answers {
			checked.value(&m[len(m)-1].Response, answer, id)
		}
		slices.Sort(checked.problems)
		for _, problem := range slices.Compact(checked.problems) {
			t.Error(problem)
		}
	}
}

// A check compares values with the schemas of a document and collects the differences.
type check struct {
	doc      *document
	problems []string
}

// complain records a difference; at is the path of the field.
func (c *check) complain(at, format string, args ...any) {
	c.problems = append(c.problems, at+": "+fmt.Sprintf(format, args...))
}

// value checks a value against its schema.
func (c *check) value(s *schema, v any, at string) {
	for s.Ref != "" {
		s = c.doc.Schemas[s.Ref]
	}
	switch v := v.(type) {
	case string:
		if s.Type != "string" && s.Type != "any" {
			c.complain(at, "%q is a string, not %s", v, s.Type)
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			c.complain(at, "%q is not one of its values", v)
		}
	case bool:
		if s.Type != "boolean" {
			c.complain(at, "%v is a bool, not %s", v, s.Type)
		}
	case float64: // Google sends 64-bit integers as strings
		if s.Type != "integer" && s.Type != "number" || s.Format == "int64" || s.Format == "uint64" {
			c.complain(at, "%v is a number, not %s %s", v, s.Type, s.Format)
		}
	case []any:
		if s.Type != "array" {
			c.complain(at, "is a list, not %s", s.Type)
			return
		}
		for _, e := range v {
			c.value(s.Items, e, at)
		}
	case map[string]any:
		if s.Type != "object" {
			c.complain(at, "is an object, not %s", s.Type)
			return
		}
		for name, e := range v {
			switch field := s.Properties[name]; {
			case field != nil:
				c.value(field, e, at+"."+name)
			case s.Additional != nil:
				c.value(s.Additional, e, at+".*")
			default:
				c.complain(at, "has no field %s", name)
			}
		}
	}
}
