package collect

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"vigil/internal/posture"
)

// A Key identifies a rate limit of a cloud.
type Key struct {
	Provider posture.Provider
	Account  posture.AccountID
	Region   string
	Service  string
	// Call and Rate are set for a call that has a limit of its own: the call, and the
	// published limit in calls per second.
	Call string
	Rate float64
}

// Limiter keeps calls below the rate limits of a cloud. Full runs and events
// share one limiter, so that together they stay below the limits.
type Limiter interface {
	// Wait returns when a call may be made, or the error of ctx. If the call would have to
	// wait beyond the deadline of ctx, Wait may return context.DeadlineExceeded at once.
	Wait(ctx context.Context, k Key) error

	// Throttled reports that the cloud refused a call because of a rate limit. after is the
	// pause that the cloud requested, or zero.
	Throttled(k Key, after time.Duration)
}

// Rates are the initial rates in calls per second by service: half of the
// published limits, so that the customer's own programs have the other half.
// Calls with a limit of their own have it in their declaration. If the remaining calls that
// Vigil makes to a service have different limits, the rate is half of the lowest limit.
var Rates = map[string]float64{
	"": 10, // default

	"ec2":        10,  // AWS: 20/s refill for most Describe calls
	"iam":        7,   // 15/s, account wide
	"s3":         100, // hundreds per second for bucket reads
	"kms":        25,
	"sts":        25,
	"rds":        10,
	"lambda":     7.5, // 15/s for all calls but GetFunction and GetPolicy together
	"route53":    2.5, // 5/s, account wide
	"cloudfront": 2.5, // 5/s
	"wafv2":      2.5, // 5/s
	"apigateway": 5,   // 10/s for all of it
	"cloudtrail": 5,   // 10/s
	"cloudwatch": 4.5, // 9/s for alarms
	"logs":       2.5, // 5/s for metric filters

	"arm":   12.5, // Azure: 25/s refill for the reads of a principal in a subscription
	"graph": 10,   // Microsoft Graph

	"compute":       10, // GCP: 20/s for reads
	"storage":       25,
	"iam.gcp":       10,
	"bigquery":      25,
	"sqladmin":      5,
	"container":     5,
	"secretmanager": 5,   // 600 reads a minute
	"cloudkms":      2.5, // 300 reads a minute
	"serviceusage":  2,   // 240 a minute
	"apikeys":       2,   // 240 reads a minute
}

const (
	burst       = 2.0              // seconds of calls that may be made at once
	slower      = 0.6              // factor of the rate after a throttled call
	slowest     = 0.05             // minimum rate as a fraction of the initial rate
	recoverTime = 30 * time.Second // time to recover from the minimum to the initial rate
	idleAfter   = 10 * time.Minute // unused limits are removed
)

// Limits is an adaptive Limiter: it lowers its rate when calls are throttled and
// raises it again over time.
type Limits struct {
	now func() time.Time

	mu        sync.Mutex
	limits    map[Key]*limit
	processes int // number of processes that share the limits
	swept     time.Time
}

type limit struct {
	*rate.Limiter
	initial rate.Limit
	resume  time.Time // no calls before this time
	slowed  time.Time // time of the last slowdown
	touched time.Time
}

// NewLimits returns limits that use the given clock.
func NewLimits(now func() time.Time) *Limits {
	return &Limits{now: now, limits: map[Key]*limit{}, processes: 1, swept: now()}
}

// SetProcesses sets the number of processes that call the clouds. Each uses an
// equal share of every limit.
func (l *Limits) SetProcesses(n int) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	n = max(1, n)
	if n == l.processes {
		return
	}
	factor := rate.Limit(l.processes) / rate.Limit(n)
	l.processes = n
	for _, m := range l.limits {
		m.initial *= factor
		m.SetLimitAt(now, m.Limit()*factor)
		m.SetBurstAt(now, burstOf(m.initial))
	}
}

// burstOf returns the burst size of a limit with an initial rate.
func burstOf(initial rate.Limit) int { return max(1, int(initial*burst)) }

// Wait implements [Limiter]. A pause that begins while a call waits for the rate
// applies to this call too. Afterwards the call waits for the rate again, so that not
// all such calls are made at the end of the pause.
func (l *Limits) Wait(ctx context.Context, k Key) error {
	for hasToken := false; ; {
		limiter, pause := l.prepare(k)
		switch {
		case pause > 0:
			hasToken = false
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return ctx.Err()
			}
		case hasToken:
			return nil
		default:
			if err := limiter.Wait(ctx); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return context.DeadlineExceeded // the call would have to wait beyond the deadline
			}
			hasToken = true
		}
	}
}

// prepare returns the limiter of a key, with its rate recovered for the elapsed
// time, and the pause before it may be used.
func (l *Limits) prepare(k Key) (*rate.Limiter, time.Duration) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	m := l.limit(k, now)
	if m.Limit() < m.initial {
		gained := m.initial * rate.Limit(now.Sub(m.touched).Seconds()/recoverTime.Seconds())
		m.SetLimitAt(now, min(m.initial, m.Limit()+gained))
	}
	m.touched = now
	return m.Limiter, m.resume.Sub(now)
}

// Throttled implements [Limiter].
func (l *Limits) Throttled(k Key, after time.Duration) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.limit(k, now)
	if after > 0 && m.resume.Before(now.Add(after)) {
		m.resume = now.Add(after)
	}
	// Concurrent calls are throttled together: they count as one slowdown.
	if now.Sub(m.slowed) < time.Second {
		return
	}
	m.slowed, m.touched = now, now
	m.SetLimitAt(now, max(m.initial*slowest, m.Limit()*slower))
}

// limit returns the limit of a key. The caller holds mu.
func (l *Limits) limit(k Key, now time.Time) *limit {
	m, ok := l.limits[k]
	if !ok {
		total, known := Rates[k.Service] // for all processes together
		switch {
		case k.Rate > 0:
			total = k.Rate / 2
		case !known:
			total = Rates[""]
		}
		share := rate.Limit(total / float64(l.processes))
		m = &limit{Limiter: rate.NewLimiter(share, burstOf(share)), initial: share, touched: now}
		l.limits[k] = m
	}
	return m
}

// sweep removes, from time to time, the limits that are unused and whose pause has ended. The
// caller holds mu.
func (l *Limits) sweep(now time.Time) {
	if now.Sub(l.swept) < idleAfter {
		return
	}
	l.swept = now
	for k, m := range l.limits {
		if now.Sub(m.touched) > idleAfter && !m.resume.After(now) {
			delete(l.limits, k)
		}
	}
}
