package httpapi

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"vigil/internal/fault"
)

// A Rate limits how often one caller may send requests.
type Rate struct {
	PerSecond float64 // unlimited when zero
	Burst     int
}

// Names of the predefined rates. A route names the rate it counts against; the
// default is RateDefault.
const (
	RateDefault = ""
	RateLogin   = "login"   // exchanging a password or an API token
	RateHeavy   = "heavy"   // queries that may take seconds
	RateRefused = "refused" // requests that fail authentication or authorisation, per network

	// RateOrg limits the requests of an organisation, in addition to those of each
	// caller. It is unlimited unless configured.
	RateOrg = "organisation"
)

// DefaultRates returns the rate limits that apply unless configured otherwise.
func DefaultRates() map[string]Rate {
	return map[string]Rate{
		RateDefault: {PerSecond: 200, Burst: 2000},
		RateLogin:   {PerSecond: 20, Burst: 200},
		RateHeavy:   {PerSecond: 50, Burst: 500},
		RateRefused: {PerSecond: 50, Burst: 1000},
		RateOrg:     {},
	}
}

// maxBuckets limits the memory of a limiter. The least recently used bucket is
// evicted first; it is nearly always full again by then.
const maxBuckets = 20000

// A limiter holds a token bucket per rate and caller.
type limiter struct {
	rates map[string]Rate
	now   func() time.Time

	processes atomic.Int64 // number of processes that share the rates

	mu      sync.Mutex
	buckets *simplelru.LRU[bucketKey, *rate.Limiter]
}

type bucketKey struct{ rate, caller string }

// newLimiter returns a limiter with the default rates, overridden by rates.
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

// SetProcesses sets the number of processes that serve requests. Each uses an
// equal share of every rate, so that the limits hold for all processes
// together.
func (m *Mux) SetProcesses(n int) { m.limiter.processes.Store(int64(max(1, n))) }

// share returns this process's share of a rate.
func (l *limiter) share(r Rate) Rate {
	n := l.processes.Load()
	return Rate{PerSecond: r.PerSecond / float64(n), Burst: max(1, r.Burst/int(n))}
}

// allow takes one token from the caller's bucket. If the bucket is empty, allow fails with the
// time until the next token.
func (l *limiter) allow(name, caller string) error {
	r, ok := l.rates[name]
	if !ok {
		name, r = RateDefault, l.rates[RateDefault]
	}
	if r.PerSecond == 0 {
		return nil
	}
	now := l.now()
	r = l.share(r)
	b := l.bucket(bucketKey{name, caller}, r)
	if b.AllowN(now, 1) {
		return nil
	}
	wait := time.Duration(float64(time.Second) * (1 - b.TokensAt(now)) / r.PerSecond)
	message := "too many requests"
	if name == RateOrg {
		message = "too many requests of your organisation"
	}
	return &fault.Error{Kind: fault.Limited, Message: message, After: wait}
}

func (l *limiter) bucket(key bucketKey, r Rate) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets.Get(key); ok {
		if b.Limit() != rate.Limit(r.PerSecond) { // the number of processes changed
			b.SetLimitAt(l.now(), rate.Limit(r.PerSecond))
			b.SetBurstAt(l.now(), r.Burst)
		}
		return b
	}
	b := rate.NewLimiter(rate.Limit(r.PerSecond), r.Burst)
	l.buckets.Add(key, b)
	return b
}
