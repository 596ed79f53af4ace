package aws_test

import (
	"testing"

	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/collecttest"
	simaws "vigil/internal/sim/aws"
)

// TestAllTypesAreRead checks that no call for any type fails with a role that may make all of them.
func TestAllTypesAreRead(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1})
	got := collecttest.All(t, aws.New(c.options), c.access(0))
	for kind, errs := range got.Failures {
		t.Errorf("%s: %v", kind, errs)
	}
	for kind, errs := range got.Problems {
		if len(errs) > 0 {
			t.Errorf("%s: %v", kind, errs)
		}
	}
	counts := map[string]int{}
	for _, e := range got.Entities {
		counts[string(e.Type)]++
	}
	t.Log(len(got.Entities), got.Units, counts)
}
