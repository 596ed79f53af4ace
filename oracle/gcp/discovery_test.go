// Package gcp compares the declarations of Google Cloud with the discovery documents
// that Google publishes in its Go module.
package gcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	_ "google.golang.org/api/googleapi" // its module contains the discovery documents

	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/resource"
)

// Documents are the discovery documents of APIs, read on first use.
type Documents struct {
	dir string
	all map[string]*document // by API and version
}

// Open finds the discovery documents in the module cache.
func Open() (*Documents, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "google.golang.org/api").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil {
		return nil, fmt.Errorf("find the module google.golang.org/api: %w", err)
	}
	if dir == "" {
		return nil, errors.New("the module google.golang.org/api is not in the module cache; run go mod download")
	}
	return &Documents{dir: dir, all: map[string]*document{}}, nil
}

// A document describes an API.
type document struct {
	Name        string             `json:"name"`
	ServicePath string             `json:"servicePath"`
	Schemas     map[string]*schema `json:"schemas"`
	Resources   map[string]*branch `json:"resources"`
	shapes      map[string]*model.Shape
	methods     []*method
}

// A branch holds the methods of a resource.
type branch struct {
	Methods   map[string]*method `json:"methods"`
	Resources map[string]*branch `json:"resources"`
}

type method struct {
	HTTPMethod string                `json:"httpMethod"`
	Path       string                `json:"path"`
	FlatPath   string                `json:"flatPath"`
	Parameters map[string]*parameter `json:"parameters"`
	Request    *schema               `json:"request"`
	Response   *schema               `json:"response"`
}

type parameter struct {
	schema
	Location string `json:"location"`
	Required bool   `json:"required"`
}

// A schema describes a value.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Enum       []string           `json:"enum"`
	Items      *schema            `json:"items"`
	Properties map[string]*schema `json:"properties"`
	Additional *schema            `json:"additionalProperties"`
}

func (b *branch) walk(visit func(*method)) {
	for _, m := range b.Methods {
		visit(m)
	}
	for _, r := range b.Resources {
		r.walk(visit)
	}
}

// document returns the discovery document of a version of an API.
func (d *Documents) document(api, version string) (*document, error) {
	key := api + "/" + version
	if doc, ok := d.all[key]; ok {
		return doc, nil
	}
	text, err := os.ReadFile(filepath.Join(d.dir, api, version, api+"-api.json"))
	if err != nil {
		return nil, err
	}
	doc := &document{shapes: map[string]*model.Shape{}}
	if err := json.Unmarshal(text, doc); err != nil {
		return nil, err
	}
	for _, b := range doc.Resources {
		b.walk(func(m *method) { doc.methods = append(doc.methods, m) })
	}
	d.all[key] = doc
	return doc, nil
}

// variables matches the variables of paths: {name} in discovery documents and in forms,
// $name and ${name} in calls.
var variables = regexp.MustCompile(`\{[^}]*\}|\$\{[^}]*\}|\$[a-z0-9]+`)

// Describe returns the input and output of a call according to the document of its API.
// names are the forms that ${name} may have.
func (d *Documents) Describe(r *resource.Request, names []string) (input, output *model.Shape, err error) {
	verb, address := "GET", r.Call
	if rest, ok := strings.CutPrefix(address, "POST "); ok {
		verb, address = "POST", rest
	}
	segments := strings.SplitN(address, "/", 3)
	doc, err := d.document(segments[0], segments[1])
	if err != nil {
		return nil, nil, err
	}
	for _, name := range append(slices.Clone(names), "") { // "" leaves ${name} a variable
		path := segments[2]
		for _, variable := range []string{"${name}", "$name"} {
			if rest, ok := strings.CutPrefix(path, variable); ok && name != "" {
				path = name + rest
			}
		}
		for _, m := range doc.methods {
			if m.HTTPMethod == verb && doc.covers(m, segments[1]+"/"+path) {
				in, out := doc.messages(m)
				return in, out, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("no method of %s %s has the path %s", segments[0], segments[1], segments[2])
}

// covers reports whether a method has a path. Variables and wildcards of the path match
// only parameters of the method.
func (doc *document) covers(m *method, path string) bool {
	own := m.FlatPath
	if own == "" {
		own = m.Path
	}
	// Some paths begin with the name of the API, which addresses already contain.
	own = strings.TrimPrefix(doc.ServicePath+own, doc.Name+"/")
	a, b := strings.Split(variables.ReplaceAllString(own, "{}"), "/"), strings.Split(variables.ReplaceAllString(path, "{}"), "/")
	return slices.EqualFunc(a, b, func(x, y string) bool {
		x, xVerb, _ := strings.Cut(x, ":")
		y, yVerb, _ := strings.Cut(y, ":")
		return xVerb == yVerb && (x == y || x == "{}" && y != "")
	})
}

// messages returns the shapes of a method's input and output. The input of a GET is
// its query.
func (doc *document) messages(m *method) (input, output *model.Shape) {
	if m.Response != nil {
		output = doc.shape(m.Response)
	}
	if m.Request != nil {
		return doc.shape(m.Request), output
	}
	input = &model.Shape{Name: "query", Type: model.Structure}
	for name, p := range m.Parameters {
		if p.Location == "query" {
			input.Members = append(input.Members, model.Member{Name: name, Shape: doc.shape(&p.schema), Required: p.Required})
		}
	}
	return input, output
}

// shape converts a schema to the form with which declarations are compared.
func (doc *document) shape(s *schema) *model.Shape {
	if s.Ref != "" {
		if known, ok := doc.shapes[s.Ref]; ok {
			return known
		}
		shape := &model.Shape{Name: s.Ref}
		doc.shapes[s.Ref] = shape // schemas may contain themselves
		doc.fill(shape, doc.Schemas[s.Ref])
		return shape
	}
	shape := new(model.Shape)
	doc.fill(shape, s)
	return shape
}

func (doc *document) fill(shape *model.Shape, s *schema) {
	shape.Enum = s.Enum
	switch {
	case s.Type == "array":
		shape.Type, shape.Item = model.List, &model.Member{Shape: doc.shape(s.Items)}
	case s.Type == "boolean":
		shape.Type = model.Boolean
	case s.Type == "integer":
		shape.Type = model.Integer
	case s.Type == "number":
		shape.Type = model.Double
	case s.Type == "string":
		shape.Type = model.String
	case len(s.Properties) > 0:
		shape.Type = model.Structure
		for name, p := range s.Properties {
			shape.Members = append(shape.Members, model.Member{Name: name, Shape: doc.shape(p)})
		}
	case s.Additional != nil:
		shape.Type = model.Map
		shape.Key, shape.Value = &model.Member{Shape: &model.Shape{Type: model.String}}, &model.Member{Shape: doc.shape(s.Additional)}
	default:
		shape.Type, shape.Document = model.Structure, true
	}
}
