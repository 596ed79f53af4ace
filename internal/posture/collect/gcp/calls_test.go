package gcp_test

import (
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/collecttest"
	simgcp "vigil/internal/sim/gcp"
)

// TestKeysAndRingsShareLists checks that types which start from the same lists share the
// responses: locations, and the key rings of each, are listed once for rings and keys.
func TestKeysAndRingsShareLists(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 3, Size: 30})
	calls := func(types ...posture.EntityType) (locations, rings int) {
		c.faults.ResetCounts()
		if got := collecttest.All(t, c.source(), c.access(0), types...); len(got.Entities) == 0 || len(got.Failures) > 0 {
			t.Fatalf("%d entities, %v", len(got.Entities), got.Failures)
		}
		for call, n := range c.faults.Calls() {
			switch call.Service + " " + call.Action {
			case "cloudkms projects.locations.list":
				locations += n
			case "cloudkms projects.locations.keyRings.list":
				rings += n
			}
		}
		return locations, rings
	}
	_, alone := calls("GCP.KMS.KeyRing")
	if locations, rings := calls("GCP.KMS.KeyRing", "GCP.KMS.CryptoKey"); locations != 1 || rings != alone || rings == 0 {
		t.Errorf("locations were listed %d times, rings %d times; want 1 and %d", locations, rings, alone)
	}
}
