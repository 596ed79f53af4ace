package resources_test

import (
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/derive"
	"vigil/internal/posture/resource"
	"vigil/resources"
)

// TestCases runs the cases of every declared type: raw answers of the cloud go
// in, entities come out.
func TestCases(t *testing.T) {
	t.Parallel()
	catalog, err := resource.Load(derive.Functions(), resources.Files)
	if err != nil {
		t.Fatal(err)
	}
	types, count, err := cases.Check(t.Context(), resources.Files, catalog)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d types, %d cases", types, count)
}

// TestCasesHaveEverything checks that each property and edge of a type of Azure
// or Google Cloud occurs in a case, and that each call is denied in a case.
func TestCasesHaveEverything(t *testing.T) {
	t.Parallel()
	catalog, err := resource.Load(derive.Functions(), resources.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, declared := range append(catalog.Of(posture.Azure), catalog.Of(posture.GCP)...) {
		all, err := cases.Read(resources.Files, declared.File())
		if err != nil {
			t.Fatal(err)
		}
		seen, refused := map[string]bool{}, map[string]bool{}
		for _, c := range all {
			for call, answer := range c.Answers {
				refused[call] = refused[call] || answer == "denied"
			}
			for _, e := range c.Entities {
				for name := range e.Properties {
					seen[name] = true
				}
				for label := range e.Edges {
					seen[label] = true
				}
			}
		}
		for a := range declared.Answers() {
			for _, name := range a.Names() {
				if !seen[name] && name != posture.TagsUnread { // the name that Names returns for tags
					t.Errorf("%s: no case has %s", declared.Type, name)
				}
			}
		}
		for _, call := range declared.Calls {
			if !refused[call.Call] {
				t.Errorf("%s: no case denies %s", declared.Type, call.Call)
			}
		}
	}
}
