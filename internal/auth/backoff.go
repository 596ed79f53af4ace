package auth

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"vigil/internal/subnet"
)

// Delay returns how long a caller must wait after a number of failures. The delay
// is zero while there are at most as many failures as the parameter free, then a
// second, and doubled by each further failure, up to longest.
func Delay(failures, free int, longest time.Duration) time.Duration {
	n := failures - free
	switch {
	case n <= 0:
		return 0
	case n > 30: // the shift below could overflow
		return longest
	}
	return min(time.Second<<(n-1), longest)
}

// Limits on the failed API tokens of one network.
const (
	freeFailures  = 100
	longestDelay  = 5 * time.Minute
	failureWindow = 15 * time.Minute // failures are forgotten after this time without another
	maxNetworks   = 20_000
)

// failures counts failed attempts per network, in memory.
type failures struct {
	now func() time.Time

	mu     sync.Mutex
	counts *simplelru.LRU[string, failureCount] // by network
}

type failureCount struct {
	count int
	last  time.Time
}

func newFailures(now func() time.Time) *failures {
	counts, _ := simplelru.NewLRU[string, failureCount](maxNetworks, nil) // fails only for a size below 1
	return &failures{now: now, counts: counts}
}

// add counts a failure and returns how long the network must wait.
func (f *failures) add(address string) time.Duration {
	network, now := subnet.Of(address), f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	c, _ := f.counts.Get(network)
	if now.Sub(c.last) >= failureWindow {
		c.count = 0
	}
	c.count++
	c.last = now
	f.counts.Add(network, c)
	return Delay(c.count, freeFailures, longestDelay)
}
