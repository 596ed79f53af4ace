package clouds

import (
	"testing"

	"vigil/internal/posture"
)

// TestDisabledRegion disables a region: its entities must be removed, and no others.
func TestDisabledRegion(t *testing.T) {
	t.Parallel()
	r := newFixture(t, posture.AWS, "us-east-1", "eu-west-1")
	id := r.accounts[0].Account.ID
	if run := r.collect(t, id); run.Status != posture.RunCompleted {
		t.Fatalf("the first run ended as %s: %v", run.Status, run.Collectors)
	}
	before, _ := r.known(t, id)
	r.switchOff(string(id), "eu-west-1")
	if run := r.collect(t, id); run.Status != posture.RunCompleted {
		t.Fatalf("the second run ended as %s: %v", run.Status, run.Collectors)
	}
	after, _ := r.known(t, id)
	removed := 0
	for key, e := range before {
		_, ok := after[key]
		switch {
		case ok && e.Region == "eu-west-1":
			t.Errorf("%s is still stored", key)
		case !ok && e.Region != "eu-west-1":
			t.Errorf("%s is lost", key)
		case !ok:
			removed++
		}
	}
	if removed == 0 {
		t.Error("the region had no entities")
	}
	_, generation := r.known(t, id)
	r.collect(t, id)
	if _, second := r.known(t, id); second != generation {
		t.Errorf("a third run wrote: generation %d, was %d", second, generation)
	}
}

// TestRunOfARegion restricts a run to a region. Azure and GCP list all regions at once,
// so other regions are read too; AWS reads only the region.
func TestRunOfARegion(t *testing.T) {
	t.Parallel()
	for p, region := range map[posture.Provider]string{posture.AWS: "us-east-1", posture.Azure: "westeurope", posture.GCP: "europe-west1"} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, p)
			id := r.accounts[0].Account.ID
			run, err := r.sweep.Start(t.Context(), org, id, posture.RunScope{Regions: []string{region}})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.sweep.Work(t.Context(), org, run.ID, false); err != nil { // false: no retry
				t.Fatal(err)
			}
			known, _ := r.known(t, id)
			inRegion, elsewhere := 0, 0
			for _, e := range known {
				if e.Region == region {
					inRegion++
				} else {
					elsewhere++
				}
			}
			if inRegion == 0 || p == posture.AWS && elsewhere > 0 {
				t.Errorf("%d entities in %s, %d elsewhere", inRegion, region, elsewhere)
			}
		})
	}
}
