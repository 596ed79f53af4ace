package aws_test

import (
	"testing"

	"vigil/internal/posture/collect/aws"
	simaws "vigil/internal/sim/aws"
)

func TestAllTypesAreRead(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1})
	got := collectAll(t, aws.New(c.options), c.access(0))
	for kind, errs := range got.failures {
		t.Errorf("%s: %v", kind, errs)
	}
	for kind, errs := range got.problems {
		if len(errs) > 0 {
			t.Errorf("%s: %v", kind, errs)
		}
	}
	counts := map[string]int{}
	for _, e := range got.entities {
		counts[string(e.Type)]++
	}
	t.Log(len(got.entities), got.units, counts)
}
