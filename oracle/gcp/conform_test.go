package gcp

import (
	"strings"
	"testing"
	"testing/fstest"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/conform"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/derive"
	"vigil/internal/posture/resource"
)

// check compares the declaration of a type with the discovery documents: the calls that
// list its resources, read one, complete an item, and those of its functions.
func check(documents *Documents, catalog *resource.Catalog, t *resource.Type) (wrong []error) {
	var names []string
	for _, other := range append([]*resource.Type{t}, catalog.Of(posture.GCP)...) {
		for i := range other.Google {
			names = append(names, other.Google[i].Path())
		}
	}
	describe := func(r *resource.Request) (input, output *model.Shape, err error) { return documents.Describe(r, names) }
	for _, err := range conform.Type(catalog, t, describe) {
		if !strings.HasPrefix(err.Error(), "tags: labels:") { // every type may have labels; not all do
			wrong = append(wrong, err)
		}
	}
	for r := range catalog.Requests(t) {
		if r.Call == "" {
			continue
		}
		if _, _, err := describe(r); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// TestDeclarationsAreWhatGooglePublishes compares every declared type of Google Cloud
// with the discovery documents.
func TestDeclarationsAreWhatGooglePublishes(t *testing.T) {
	t.Parallel()
	documents, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	catalog := declared.Catalog()
	types := catalog.Of(posture.GCP)
	if len(types) < 85 {
		t.Errorf("%d types are declared, want at least 85", len(types))
	}
	for _, d := range types {
		for _, err := range check(documents, catalog, d) {
			t.Errorf("%s: %v", d.File(), err)
		}
	}
}

func TestWrongDeclarationsAreFound(t *testing.T) {
	t.Parallel()
	documents, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	const topics = "google: pubsub/v1/projects/{project}/topics/{name}\n"
	for text, want := range map[string]string{
		"list: [{call: pubsub/v1/projects/$project/nothing}]\nname: name":                                                                 "no method of pubsub v1",
		"list: [{call: pubsub/v9/projects/$project/topics}]\nname: name":                                                                  "v9",
		"list: [{call: pubsub/v1/projects/$project/topics, input: {size: 1}, items: topics}]\nname: name":                                 "no member size",
		"list: [{call: pubsub/v1/projects/$project/topics, items: things}]\nname: name":                                                   "no member things",
		"list: [{call: storage/v1/b, items: items}]\nname: name":                                                                          "needs project",
		topics + "properties: {a: {at: nothing, doc: D.}}":                                                                                "no member nothing",
		topics + "properties: {a: {at: messageStoragePolicy, doc: D.}}":                                                                   "the cloud returns a structure",
		topics + "properties: {a: {at: kmsKeyName, type: bool, doc: D.}, b: {at: schemaSettings.encoding, values: [JSON, XML], doc: D.}}": `"XML" is not one of the cloud's values`,
		topics + "calls: [{call: \"pubsub/v1/${name}:getNothing\"}]":                                                                      "no method of pubsub v1",
	} {
		files := fstest.MapFS{"gcp/x/y.yaml": {Data: []byte("type: GCP.Test.Thing\ndoc: A thing.\n" + text + "\n")}}
		catalog, err := resource.Load(derive.Functions(), files)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		found := ""
		for _, err := range check(documents, catalog, catalog.Types()[0]) {
			found += err.Error() + "\n"
		}
		if !strings.Contains(found, want) {
			t.Errorf("%s: found %q, want %q", text, found, want)
		}
	}
}
