package clouds

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
)

// TestSecondCollectionWritesNothing collects the accounts of a simulated cloud twice
// through the real SDKs into a database. The second run must not write.
func TestSecondCollectionWritesNothing(t *testing.T) {
	t.Parallel()
	for _, p := range []posture.Provider{posture.AWS, posture.Azure, posture.GCP} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, p)
			id := r.accounts[0].Account.ID
			if run := r.collect(t, id); run.Status != posture.RunCompleted {
				t.Fatalf("the first run ended as %s: %s %v", run.Status, run.Reason, run.Collectors)
			}
			first, generation := r.known(t, id)
			if len(first) < 40 {
				t.Fatalf("only %d entities, want at least 40", len(first))
			}
			if run := r.collect(t, id); run.Status != posture.RunCompleted {
				t.Fatalf("the second run ended as %s: %s %v", run.Status, run.Reason, run.Collectors)
			}
			second, after := r.known(t, id)
			if after != generation {
				t.Errorf("the second run wrote: generation %d, was %d", after, generation)
			}
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("the runs stored different entities (-first +second):\n%s", diff)
			}
			for _, e := range second {
				if log, err := r.store.ChangeLog(t.Context(), org, e.ID); err != nil || len(log) > 1 {
					t.Errorf("%s: its change log is %v, %v", e.ID, log, err)
				}
			}
		})
	}
}
