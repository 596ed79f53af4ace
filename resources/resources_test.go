package resources_test

import (
	"testing"

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
