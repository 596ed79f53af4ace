package ipset

import (
	"testing"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/predicatetest"
)

func TestAdmitsCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Ranges []string `yaml:"ranges"`
	}
	predicatetest.Examples(t, "testdata/ranges.yaml", func(in entry) predicate.Answer { return Admits(in.Ranges) })
}
