package catalog_test

import (
	"reflect"
	"testing"

	"vigil/frameworks"
	"vigil/internal/posture/catalog"
	"vigil/rules"
)

// BenchmarkLoad measures how long the whole catalog takes to load. The aim is less than 150 ms.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := catalog.Load(rules.Files, frameworks.Files); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLoadWithoutCases checks that Load, which does not parse the cases of rules, returns
// the same rules as LoadWithCases. Load ignores everything after the key cases, so cases
// must be the last member of a file.
func TestLoadWithoutCases(t *testing.T) {
	t.Parallel()
	full, err := loadProduct()
	if err != nil {
		t.Fatal(err)
	}
	quick, err := catalog.Load(rules.Files, frameworks.Files)
	if err != nil {
		t.Fatal(err)
	}
	if len(quick.Rules) != len(full.Rules) {
		t.Fatalf("%d rules without cases, %d with cases", len(quick.Rules), len(full.Rules))
	}
	for i, e := range quick.Rules {
		if !reflect.DeepEqual(e.Rule, full.Rules[i].Rule) {
			t.Errorf("%s differs when its cases are not parsed", e.ID)
		}
	}
}
