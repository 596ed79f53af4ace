// Package cases runs the test cases of resource declarations. It passes raw responses of a
// cloud through the reader that production uses and compares the resulting entities with
// the expected ones.
package cases

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
)

// A Case is a set of raw responses and the expected entities.
type Case struct {
	Name string `yaml:"name"`
	// Get reads the resource of this name instead of the list.
	Get string `yaml:"get"`
	// Answers are the responses of the cloud by call. A response is one of these:
	//   - an object
	//   - denied, notFound, notEnabled, notOffered or throttled
	//   - "denied " and the message of the cloud
	//   - "code " and an error code of AWS
	//   - a list of {for, answer}, selected by the input; see [Select]
	Answers map[string]any `yaml:"answers"`
	// Entities are the expected entities in any order.
	Entities []Entity `yaml:"entities"`
	// Fails says that the list as a whole fails, so that no entity may be removed.
	Fails bool `yaml:"fails"`
}

// An Entity is an expected entity. Unknown lists what could not be read: names of properties,
// labels of edges, and TAGS for the tags.
type Entity struct {
	ID         string              `yaml:"id"` // last parts of the id: location (on Azure resource group) and name
	Name       string              `yaml:"name,omitempty"`
	XID        string              `yaml:"xid,omitempty"`
	Properties map[string]any      `yaml:"properties,omitempty"`
	Edges      map[string][]string `yaml:"edges,omitempty"`
	Tags       map[string]string   `yaml:"tags,omitempty"`
	Unknown    []string            `yaml:"unknown,omitempty"`
}

// Read returns the cases of a declaration from the second document of its file.
func Read(root fs.FS, file string) ([]Case, error) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(new(yaml.Node)); err != nil {
		return nil, err
	}
	var document struct {
		Cases []Case `yaml:"cases"`
	}
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return document.Cases, nil
}

// Vars are the variables with which cases are run.
var Vars = map[posture.Provider]resource.Vars{
	posture.AWS:   {Account: "123456789012", Region: "eu-west-1", Partition: "aws"},
	posture.Azure: {Account: "11111111-2222-3333-4444-555555555555", Region: posture.Global, Tenant: "99999999-8888-7777-6666-555555555555"},
	posture.GCP:   {Account: "acme-prod", Number: "123456789012", Region: posture.Global},
}

// Run runs a case and returns the difference between the expected and the actual entities,
// "" when there is none.
func Run(ctx context.Context, catalog *resource.Catalog, cloud resource.Cloud, t *resource.Type, c Case) string {
	vars := Vars[t.Type.Provider()]
	if t.Scope == resource.PerAccount {
		vars.Region = posture.Global
	}
	canned := newTransport(c.Answers)
	reader := &collect.Reader{
		Catalog: catalog, Transport: canned, Context: resource.Context{Vars: vars, Cloud: cloud}, Answers: collect.NewAnswers(),
	}
	var got []Entity
	emit := collect.Emit(func(r *collect.Resource) error {
		r.Normalize()
		got = append(got, Describe(r.Entity))
		return nil
	}).Serial()
	var err error
	if c.Get != "" {
		err = reader.Get(ctx, t, c.Get, emit)
	} else {
		err = reader.List(ctx, t, emit)
	}
	switch {
	case canned.missing != "":
		return "the case has no response for " + canned.missing
	case err != nil && !c.Fails:
		return "the list failed: " + err.Error()
	case err == nil && c.Fails:
		return "the list did not fail"
	}
	if call := canned.unusedResponse(); call != "" {
		return "nothing calls " + call
	}
	for _, e := range got {
		if mistake := checkARN(t, e); mistake != "" {
			return mistake
		}
	}
	return compare(c.Entities, got)
}

// checkARN returns an error text if an event with the ARN of an entity would lead to another
// entity, because the form of ARNs that the type declares is wrong.
func checkARN(t *resource.Type, e Entity) string {
	a, isARN := resource.ParseARN(e.XID)
	if !isARN || len(t.ARN) == 0 {
		return ""
	}
	name, ok := t.ARN.Match(a)
	if _, id, _ := strings.Cut(e.ID, " "); ok && name != id {
		return fmt.Sprintf("an event with the ARN %s leads to the resource %q instead of %q: correct arn or xid", e.XID, name, id)
	}
	return ""
}

// compare compares expected and actual entities. The name and the XID are compared only when
// the expected entity has them; other members must match completely.
func compare(want, got []Entity) string {
	byID := func(a, b Entity) int { return strings.Compare(a.ID, b.ID) }
	want, got = slices.SortedFunc(slices.Values(want), byID), slices.SortedFunc(slices.Values(got), byID)
	for i := range want {
		want[i].Unknown = slices.Sorted(slices.Values(want[i].Unknown))
		if i < len(got) {
			want[i].XID = cmp.Or(want[i].XID, got[i].XID)
			want[i].Name = cmp.Or(want[i].Name, got[i].Name)
		}
	}
	return gocmp.Diff(toJSON(want), toJSON(got))
}

// toJSON converts entities to generic values, so that numbers and lists compare equal.
func toJSON(es []Entity) (all []any) {
	for _, e := range es {
		text, err := json.Marshal(e)
		if err != nil {
			return []any{err.Error()}
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return []any{err.Error()}
		}
		all = append(all, v)
	}
	return all
}

// Describe converts an entity to the form of cases.
func Describe(e posture.Entity) Entity {
	d := Entity{ID: ShortID(e), Name: e.Name, XID: e.XID, Tags: e.Tags}
	for _, p := range e.Properties {
		if p.Type == posture.UnknownProperty {
			d.Unknown = append(d.Unknown, p.Name)
			continue
		}
		if d.Properties == nil {
			d.Properties = map[string]any{}
		}
		var value any = p.String
		switch p.Type {
		case posture.BoolProperty:
			value = p.Bool
		case posture.LongProperty:
			value = p.Long
		}
		switch before := d.Properties[p.Name].(type) {
		case nil:
			d.Properties[p.Name] = value
		case []any:
			d.Properties[p.Name] = append(before, value)
		default:
			d.Properties[p.Name] = []any{before, value}
		}
	}
	slices.Sort(d.Unknown)
	for _, edge := range e.Edges {
		if d.Edges == nil {
			d.Edges = map[string][]string{}
		}
		to := string(edge.To)
		for _, p := range edge.Properties {
			to += " " + p.Name + "=" + p.Plain()
		}
		d.Edges[edge.Label] = append(d.Edges[edge.Label], to)
	}
	return d
}

// ShortID returns the id of an entity without its type and account: region and name.
func ShortID(e posture.Entity) string {
	part := strings.SplitN(string(e.Type), ".", 3)
	rest := strings.TrimPrefix(string(e.ID), part[0]+"."+part[1]+"."+string(e.Account)+".")
	prefix, name, _ := strings.Cut(rest, "."+part[2]+".")
	return prefix + " " + name
}
