package canned_test

import (
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/declared"
	"vigil/resources"
)

// TestAnswersInCasesFitTheModels checks that AWS could give the answers in the cases of its
// resource types: their members are in the models and have the declared types.
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
