package azure

import (
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/conform"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/derive"
	"vigil/internal/posture/resource"
)

// modules are read once.
var modules = sync.OnceValues(Open)

func open(t *testing.T) *Modules {
	t.Helper()
	all, err := modules()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// check compares the declaration of a type with the typed modules.
func check(modules *Modules, catalog *resource.Catalog, t *resource.Type) (wrong []error) {
	describe := func(r *resource.Request) (input, output *model.Shape, err error) {
		if strings.HasPrefix(r.Call, "graph:") { // Microsoft Graph is in no module of Resource Manager
			return nil, nil, nil
		}
		return modules.Describe(r, owner(catalog, t, r))
	}
	for _, err := range conform.Type(catalog, t, describe) {
		if !strings.HasPrefix(err.Error(), "tags: tags:") { // every type may have tags; not all do
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

// owner returns the type, in Azure's terms, of the resource with whose id the path of a request of t may begin.
func owner(catalog *resource.Catalog, t *resource.Type, r *resource.Request) string {
	for _, other := range catalog.Of(posture.Azure) {
		if arm := other.ResourceType(); arm != "" && arm == r.Call && strings.HasPrefix(r.Path, "${id}") { // lists the children of a resource
			t = other
			if parent := catalog.Type(other.In); parent != nil {
				t = parent
			}
			break
		}
	}
	return t.ResourceType()
}

// differ are the differences from the typed modules in which the declaration is right, with
// the reason.
var differ = map[string]string{
	"azure/security/assessment.yaml: edge ASSESSES: properties.resourceDetails.Id: ResourceDetailsClassification has no member Id":  "responses have Id, the description has id: both are read",
	`azure/sql/server.yaml: property publicNetworkAccess: "SecuredByPerimeter" is not one of the cloud's values: Disabled, Enabled`: "newer versions have it, and responses in older versions contain it too",
}

// TestDeclarationsAreWhatAzurePublishes compares every declared type of Azure with the
// typed modules.
func TestDeclarationsAreWhatAzurePublishes(t *testing.T) {
	t.Parallel()
	modules := open(t)
	catalog := declared.Catalog()
	types := catalog.Of(posture.Azure)
	if len(types) < 115 {
		t.Errorf("%d types are declared, want at least 115", len(types))
	}
	seen := map[string]bool{}
	for _, d := range types {
		for _, err := range check(modules, catalog, d) {
			text := d.File() + ": " + err.Error()
			if _, ok := differ[text]; ok {
				seen[text] = true
				continue
			}
			t.Error(text)
		}
	}
	for text := range differ {
		if !seen[text] {
			t.Errorf("no longer different: %s", text)
		}
	}
}

func TestWrongDeclarationsAreFound(t *testing.T) {
	t.Parallel()
	modules := open(t)
	const redis = "arm: Microsoft.Cache/redis@2023-08-01\n"
	for text, want := range map[string]string{
		"arm: Microsoft.Cache/nothing@2023-08-01":                                                                                "no method of the typed modules",
		"arm: Microsoft.Cache/redis@1999-01-01":                                                                                  "have it in version 2023-08-01, not in 1999-01-01",
		"arm: Microsoft.Cache/redis@2023-08-01\nquery: {size: 1}":                                                                "no member size",
		redis + "properties: {a: {at: properties.nothing, doc: D.}}":                                                             "no member nothing",
		redis + "properties: {a: {at: properties.sku, doc: D.}}":                                                                 "the cloud returns a structure",
		redis + "properties: {a: {at: properties.hostName, type: bool, doc: D.}, b: {at: properties.port, type: bool, doc: D.}}": "the cloud returns a integer",
		redis + "properties: {a: {at: properties.minimumTlsVersion, values: [\"1.2\", \"1.9\"], doc: D.}}":                       `"1.9" is not one of the cloud's values`,
		redis + "properties: {a: {at: properties.linkedServers.id, doc: D.}}":                                                    "has no member id",
		redis + "calls: [{call: /nothing}]":                                                                                      "no method of the typed modules",
		redis + "edges: {TO: {to: Azure.Test.Thing, ref: properties.nothing.id, doc: D.}}":                                       "no member nothing",
	} {
		files := fstest.MapFS{"azure/x/y.yaml": {Data: []byte("type: Azure.Test.Thing\ndoc: A thing.\n" + text + "\n")}}
		catalog, err := resource.Load(derive.Functions(), files)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		found := ""
		for _, err := range check(modules, catalog, catalog.Types()[0]) {
			found += err.Error() + "\n"
		}
		if !strings.Contains(found, want) {
			t.Errorf("%s: found %q, want %q", text, found, want)
		}
	}
}
