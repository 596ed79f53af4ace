package canned_test

import (
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/declared"
	"vigil/resources"
)

// TestAnswersInCasesFitTheModels checks the answers of AWS in the cases of resource types: every
// member is in the API model of its service, and its value has the type that the model says.
func TestAnswersInCasesFitTheModels(t *testing.T) {
	t.Parallel()
	for _, declaration := range declared.Catalog().Of(posture.AWS) {
		all, err := cases.Read(resources.Files, declaration.File())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if err := checkAnswers(c.Answers); err != nil {
				t.Errorf("%s: case %q: %v", declaration.File(), c.Name, err)
			}
		}
	}
}
