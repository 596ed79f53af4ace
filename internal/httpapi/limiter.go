package httpapi

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"vigil/internal/fault"
)

// A Rate is how often one caller may ask.
type Rate struct {
	PerSecond float64 // unlimited when zero
	Burst     int
}

// Names of rates that exist without being configured. A route names the one it
// counts against; no name is RateDefault.
const (
	RateDefault = ""
	RateLogin   = "login"   // exchanging a password or an API token
	RateHeavy   = "heavy"   // queries that may cost seconds
	RateRefused = "refused" // requests that the guard refused, per network
)

// DefaultRates are the limits of a server that was told nothing else.
func DefaultRates() map[string]Rate {
	return map[string]Rate{
		RateDefault: {PerSecond: 200, Burst: 2000},
		RateLogin:   {PerSecond: 20, Burst: 200},
		RateHeavy:   {PerSecond: 50, Burst: 500},
		RateRefused: {PerSecond: 50, Burst: 1000},
	}
}

// maxBuckets bounds the memory of a limiter: the bucket that was used longest
// ago goes first, and is nearly always full again by then.
const maxBuckets = 20000

// A limiter holds a token bucket per rate and caller.
type limiter struct {
	rates map[string]Rate
	now   func() time.Time

	mu      sync.Mutex
	buckets map[bucketKey]*list.Element
	recent  *list.List // of *bucket, most recent first
}

type bucketKey struct{ rate, who string }

type bucket struct {
	key bucketKey
	*rate.Limiter
}

// newLimiter takes rates that differ from the defaults.
func newLimiter(rates map[string]Rate, now func() time.Time) *limiter {
	all := DefaultRates()
	for name, r := range rates {
		all[name] = r
	}
	return &limiter{rates: all, now: now, buckets: make(map[bucketKey]*list.Element), recent: list.New()}
}

// allow takes one token from who's bucket, or says when there will be one.
func (l *limiter) allow(name, who string) error {
	r, ok := l.rates[name]
	if !ok {
		name, r = RateDefault, l.rates[RateDefault]
	}
	if r.PerSecond == 0 {
		return nil
	}
	now := l.now()
	b := l.bucket(bucketKey{name, who}, r)
	if b.AllowN(now, 1) {
		return nil
	}
	wait := time.Duration(float64(time.Second) * (1 - b.TokensAt(now)) / r.PerSecond)
	return &fault.Error{Kind: fault.Limited, Message: "too many requests", After: wait}
}

func (l *limiter) bucket(key bucketKey, r Rate) *bucket {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.buckets[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*bucket)
	}
	if l.recent.Len() >= maxBuckets {
		last := l.recent.Back()
		delete(l.buckets, last.Value.(*bucket).key)
		l.recent.Remove(last)
	}
	b := &bucket{key, rate.NewLimiter(rate.Limit(r.PerSecond), max(r.Burst, 1))}
	l.buckets[key] = l.recent.PushFront(b)
	return b
}
