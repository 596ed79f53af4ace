package collect

import (
	"strconv"
	"testing"

	"vigil/internal/posture"
)

// TestUnitsDoNotCostMoreWithMoreTypes compares the allocations for adding a unit. If each unit computed the results of
// all types, a large account would need seconds.
func TestUnitsDoNotCostMoreWithMoreTypes(t *testing.T) {
	allocations := func(types int) float64 {
		var last Progress
		all := newTally(types, func(p Progress) { last = p })
		add := func(i int) {
			all.add(Unit{Type: posture.EntityType(strconv.Itoa(i)), Region: "eu-west-1"}, reading{entities: 1})
		}
		for i := range types {
			add(i)
		}
		if got := len(last.Collectors()); got != types || last.Done != types || last.Entities != types {
			t.Errorf("%d results of %d units with %d entities, want %d each", got, last.Done, last.Entities, types)
		}
		return testing.AllocsPerRun(100, func() { add(0) })
	}
	if few, many := allocations(1), allocations(1000); many > few {
		t.Errorf("%v allocations with 1,000 types, %v with one", many, few)
	}
}
