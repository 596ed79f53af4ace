package gcp_test

import (
	"testing"

	simgcp "vigil/internal/sim/gcp"
)

func TestEverythingIsRead(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Projects: 2, Seed: 7})
	got := collectAll(t, c.source(), c.access(0))
	for kind, err := range got.failures {
		t.Errorf("%s: %v", kind, err)
	}
	for kind, problems := range got.problems {
		for _, problem := range problems {
			t.Errorf("%s: %v", kind, problem)
		}
	}
	for _, d := range c.source().Declarations() {
		if len(got.of(d.Type)) == 0 {
			t.Errorf("no %s was read", d.Type)
		}
	}
	t.Log(len(got.entities), "entities")
}
