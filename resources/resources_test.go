package resources_test

import (
	"testing"

	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/derive"
	"vigil/internal/posture/naming"
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
	for _, declared := range catalog.Types() {
		t.Run(string(declared.Type), func(t *testing.T) {
			t.Parallel()
			all, err := cases.Read(resources.Files, declared.File())
			if err != nil {
				t.Fatal(err)
			}
			if len(all) == 0 {
				t.Error("it has no cases")
			}
			cloud := naming.Of(declared.Type.Provider(), catalog)
			for _, c := range all {
				if diff := cases.Run(t.Context(), catalog, cloud, declared, c); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", c.Name, diff)
				}
			}
		})
	}
}
