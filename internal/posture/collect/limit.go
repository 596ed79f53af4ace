package collect

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"vigil/internal/posture"
)

// A Key names what a cloud counts calls against.
type Key struct {
	Provider posture.Provider
	Account  posture.AccountID
	Region   string
	Service  string
}

// Limiter keeps calls under what a cloud allows. Full runs and events share one,
// so that they cannot together ask for more than each alone.
type Limiter interface {
	// Wait returns when a call may be made, or ctx's error, which it may know
	// before ctx ends.
	Wait(ctx context.Context, k Key) error

	// Throttled says that the cloud refused a call, and when it wants to be asked
	// again; zero when it did not say.
	Throttled(k Key, after time.Duration)
}

// Rates are the calls a second that start each limit: half of what the clouds
// publish, so that the customer's own programs have the other half. Where calls
// of a service have limits of their own, it is half of the least that is used.
var Rates = map[string]float64{
	"": 10, // a service that is not listed

	"ec2":        10, // AWS: 20/s refill for most Describe calls
	"iam":        7,  // 15/s, account wide
	"s3":         50, // 100s/s for bucket reads
	"kms":        25,
	"sts":        25,
	"rds":        10,
	"lambda":     5,   // 10/s for lists
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
	burst       = 2.0              // seconds of a limit that may be spent at once
	slower      = 0.6              // of the rate is left after a throttle
	slowest     = 0.05             // of the first rate is the least
	recoverTime = 30 * time.Second // to get from the least rate to the first
	idleAfter   = 10 * time.Minute // a limit that nobody used may be forgotten
)

// Limits is a Limiter that slows down when it is throttled and recovers while
// it is not.
type Limits struct {
	now func() time.Time

	mu        sync.Mutex
	limits    map[Key]*limit
	processes int // that share the limits
	swept     time.Time
}

type limit struct {
	*rate.Limiter
	first   rate.Limit
	resume  time.Time // no call before
	slowed  time.Time // when it was last made slower
	touched time.Time
}

// NewLimits returns limits that go by the given clock.
func NewLimits(now func() time.Time) *Limits {
	return &Limits{now: now, limits: map[Key]*limit{}, processes: 1, swept: now()}
}

// SetProcesses says how many processes call the clouds. Each takes an equal part of
// every limit, so that all together stay under it.
func (l *Limits) SetProcesses(n int) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n = max(1, n); n == l.processes {
		return
	}
	factor := rate.Limit(l.processes) / rate.Limit(n)
	l.processes = n
	for _, m := range l.limits {
		m.first *= factor
		m.SetLimitAt(now, m.Limit()*factor)
		m.SetBurstAt(now, burstOf(m.first))
	}
}

// burstOf returns how many calls may be made at once under a limit.
func burstOf(first rate.Limit) int { return max(1, int(first*burst)) }

// Wait implements [Limiter].
func (l *Limits) Wait(ctx context.Context, k Key) error {
	limit, pause := l.prepare(k)
	if pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := limit.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return context.DeadlineExceeded // its turn would come after that
	}
	return nil
}

// prepare returns the limit of a key, recovered for the time that has passed,
// and how long to pause before it may be used.
func (l *Limits) prepare(k Key) (*rate.Limiter, time.Duration) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	m := l.limit(k, now)
	if m.Limit() < m.first {
		gained := m.first * rate.Limit(now.Sub(m.touched).Seconds()/recoverTime.Seconds())
		m.SetLimitAt(now, min(m.first, m.Limit()+gained))
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
	// Calls that were under way together are refused together: that is one
	// reason to slow down, not many.
	if now.Sub(m.slowed) < time.Second {
		return
	}
	m.slowed, m.touched = now, now
	m.SetLimitAt(now, max(m.first*slowest, m.Limit()*slower))
}

// limit returns the limit of a key. The caller holds mu.
func (l *Limits) limit(k Key, now time.Time) *limit {
	m, ok := l.limits[k]
	if !ok {
		first, known := Rates[k.Service]
		if !known {
			first = Rates[""]
		}
		share := rate.Limit(first / float64(l.processes))
		m = &limit{Limiter: rate.NewLimiter(share, burstOf(share)), first: share, touched: now}
		l.limits[k] = m
	}
	return m
}

// sweep forgets limits that nobody uses, now and then. The caller holds mu.
func (l *Limits) sweep(now time.Time) {
	if now.Sub(l.swept) < idleAfter {
		return
	}
	l.swept = now
	for k, m := range l.limits {
		if now.Sub(m.touched) > idleAfter {
			delete(l.limits, k)
		}
	}
}
