// Package tinkerpoptest provides the scenarios of Apache TinkerPop to tests.
//
// "make conformance" and scripts/test download them. Without a download, tests
// are skipped, or fail if VIGIL_TEST_TINKERPOP_REQUIRED is 1.
package tinkerpoptest

import (
	"fmt"
	"os"
	"testing"

	"vigil/gremlin/internal/tinkerpop"
)

// Open opens the artefact, or skips the test.
func Open(t testing.TB) *tinkerpop.Artefact {
	t.Helper()
	a, err := tinkerpop.Open()
	if err != nil {
		why := fmt.Sprintf("run make conformance to download the scenarios of Apache TinkerPop: %v", err)
		if os.Getenv("VIGIL_TEST_TINKERPOP_REQUIRED") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	return a
}

// Scenarios returns every scenario, or skips the test.
func Scenarios(t testing.TB) []tinkerpop.Scenario {
	t.Helper()
	all, err := Open(t).Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2000 {
		t.Fatalf("only %d scenarios", len(all))
	}
	return all
}
