package httpapi

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
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

	processes atomic.Int64 // that share the rates

	mu      sync.Mutex
	buckets *simplelru.LRU[bucketKey, *rate.Limiter]
}

type bucketKey struct{ rate, who string }

// newLimiter takes rates that differ from the defaults.
func newLimiter(rates map[string]Rate, now func() time.Time) *limiter {
	all := DefaultRates()
	for name, r := range rates {
		all[name] = r
	}
	buckets, _ := simplelru.NewLRU[bucketKey, *rate.Limiter](maxBuckets, nil) // fails only for a size below 1
	l := &limiter{rates: all, now: now, buckets: buckets}
	l.processes.Store(1)
	return l
}

// SetProcesses says how many processes answer requests. Each takes an equal part of
// every rate, so that a caller may make no more requests of all than of one.
func (m *Mux) SetProcesses(n int) { m.limiter.processes.Store(int64(max(1, n))) }

// share returns the part of a rate that this process has.
func (l *limiter) share(r Rate) Rate {
	n := l.processes.Load()
	return Rate{PerSecond: r.PerSecond / float64(n), Burst: max(1, r.Burst/int(n))}
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
	r = l.share(r)
	b := l.bucket(bucketKey{name, who}, r)
	if b.AllowN(now, 1) {
		return nil
	}
	wait := time.Duration(float64(time.Second) * (1 - b.TokensAt(now)) / r.PerSecond)
	return &fault.Error{Kind: fault.Limited, Message: "too many requests", After: wait}
}

func (l *limiter) bucket(key bucketKey, r Rate) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets.Get(key); ok {
		if b.Limit() != rate.Limit(r.PerSecond) {
			b.SetLimitAt(l.now(), rate.Limit(r.PerSecond))
			b.SetBurstAt(l.now(), r.Burst)
		}
		return b
	}
	b := rate.NewLimiter(rate.Limit(r.PerSecond), r.Burst)
	l.buckets.Add(key, b)
	return b
}
