package catalog_test

import (
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
