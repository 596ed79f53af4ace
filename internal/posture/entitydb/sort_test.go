package entitydb

import (
	"slices"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func TestSortNumbersAreOrdered(t *testing.T) {
	numbers := []int64{-1 << 63, -1000, -1, 0, 1, 9, 10, 1<<63 - 1}
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = sortNumber(n)
	}
	if !slices.IsSorted(texts) {
		t.Errorf("the sort keys of %d are not in order: %q", numbers, texts)
	}
}

func TestSortKeysAreParsed(t *testing.T) {
	for _, k := range []sortKey{{"", 7}, {"ta:b", 1 << 40}, {sortNumber(-5), 0}} {
		if got, err := parseSortKey(k.String()); err != nil || got != k {
			t.Errorf("%q is parsed as %+v, %v; want %+v", k.String(), got, err, k)
		}
	}
}

func TestFeedPositionsAreParsed(t *testing.T) {
	p := feedPosition{changedAt: 1700000000000, accountNo: 2, generation: 3, index: 4}
	if got, err := parseFeedPosition(p.String()); err != nil || got != p {
		t.Errorf("%q is parsed as %+v, %v; want %+v", p, got, err, p)
	}
	for _, text := range []string{"", "1.2.3", "1.2.3.4xyz", "1.2.3.4.5", "1.2.3.-4", " 1.2.3.4", "1.2.3.4 "} {
		if got, err := parseFeedPosition(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is parsed as %+v, %v; want an error of kind fault.Invalid", text, got, err)
		}
	}
}

func TestTooManyEntitiesAreNotSorted(t *testing.T) {
	if err := checkSortable(posture.MaxSortedEntities); err != nil {
		t.Error(err)
	}
	if err := checkSortable(posture.MaxSortedEntities + 1); !fault.Is(err, fault.Invalid) {
		t.Errorf("one entity too many: error %v, want one of kind fault.Invalid", err)
	}
}
