package httpapi

import (
	"fmt"
	"testing"
	"time"

	"vigil/internal/fault"
)

func TestLimiterEvictsTheLeastRecentlyUsedBucket(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	l := newLimiter(map[string]Rate{RateDefault: {PerSecond: 1, Burst: 1}}, func() time.Time { return at })
	for i := range maxBuckets + 100 {
		if err := l.allow(RateDefault, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.buckets.Len(); n != maxBuckets {
		t.Errorf("%d buckets, want %d", n, maxBuckets)
	}
	if err := l.allow(RateDefault, fmt.Sprint(maxBuckets+99)); !fault.Is(err, fault.Limited) {
		t.Errorf("the bucket of a recent caller was evicted: %v", err)
	}
	if err := l.allow("no such rate", fmt.Sprint(maxBuckets+99)); !fault.Is(err, fault.Limited) {
		t.Errorf("an unknown rate is not limited like the default: %v", err)
	}
}
