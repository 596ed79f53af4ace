package entitydb

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMergeEntries applies random changes to a ledger row and to a map. Both must have the
// same entries, those of the row in the order of row ids.
func TestMergeEntries(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const row = 77 // any row of the ledger
	for range 500 {
		want := map[int64]entry{}
		var encoded []byte
		for range 4 {
			var changes []ledgerChange
			for range random.IntN(20) {
				c := ledgerChange{rowID: row<<ledgerBits | random.Int64N(1<<ledgerBits), removed: random.IntN(3) == 0}
				if c.removed {
					delete(want, c.rowID)
				} else {
					c.entry = entry{digest{byte(random.Uint32())}, digest{byte(random.Uint32())}}
					want[c.rowID] = c.entry
				}
				changes = append(changes, c)
			}
			slices.SortStableFunc(changes, byRow)
			encoded = mergeEntries(row, encoded, changes)
			var order []int64
			got := map[int64]entry{}
			for rowID, e := range readEntries(row, encoded) {
				order = append(order, rowID)
				got[rowID] = e
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(entry{})); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), order); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}
