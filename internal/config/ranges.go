package config

import (
	"fmt"
	"time"
)

// Upper limits of durations. They detect a mistyped unit when the settings are
// read.
const (
	hour     = time.Hour
	day      = 24 * time.Hour
	tenYears = 10 * 365 * day
)

// A span is a setting with its valid range. With zeroAllowed, 0 is valid too: it
// means the default or no limit.
type span struct {
	name     string
	value    int64
	min, max int64

	zeroAllowed bool
	isDuration  bool // the values are durations
}

func number(name string, value, min, max int64) span {
	return span{name: name, value: value, min: min, max: max}
}

func duration(name string, value, min, max time.Duration) span {
	return span{name: name, value: int64(value), min: int64(min), max: int64(max), isDuration: true}
}

// orZero allows zero too.
func (s span) orZero() span {
	s.zeroAllowed = true
	return s
}

// outside returns the settings that are out of range, as pairs of setting and
// message.
func outside(spans ...span) [][2]string {
	var bad [][2]string
	for _, s := range spans {
		if s.value >= s.min && s.value <= s.max || s.zeroAllowed && s.value == 0 {
			continue
		}
		lowest, highest := fmt.Sprint(s.min), fmt.Sprint(s.max)
		if s.isDuration {
			lowest, highest = time.Duration(s.min).String(), time.Duration(s.max).String()
		}
		switch {
		case s.value >= s.min:
			bad = append(bad, [2]string{s.name, "must be at most " + highest})
		case s.value < 0:
			bad = append(bad, [2]string{s.name, "must not be negative"})
		default:
			bad = append(bad, [2]string{s.name, "must be at least " + lowest})
		}
	}
	return bad
}

// ranges returns the settings of both servers that are out of range.
func (c Config) ranges() [][2]string {
	problems := outside(
		duration("token_life", c.TokenLife, hour, tenYears).orZero(),
		number("min_free_mb", c.MinFreeMB, 1, 1<<30).orZero(),
		duration("audit.kept", c.Audit.Kept, day, tenYears).orZero(),
		duration("audit.checkpoint_every", c.Audit.CheckpointEvery, time.Second, day).orZero(),
		number("audit.max_records", c.Audit.MaxRecords, 1000, 1e12).orZero(),
	)
	return append(problems, append(c.Posture.ranges(), c.Desktop.ranges()...)...)
}

// ranges returns the settings of the posture server that are out of range.
func (p Posture) ranges() [][2]string {
	g, q := p.Graph, p.Quota
	return outside(
		number("posture.workers", int64(p.Workers), 1, 1000),
		number("posture.rate", int64(p.Rate), 1, 1_000_000),
		duration("posture.timeout", p.Timeout, time.Second, 10*time.Minute).orZero(),
		duration("posture.changes_kept", p.ChangesKept, hour, tenYears).orZero(),
		number("posture.graph.queries", int64(g.Queries), 1, 1000).orZero(),
		number("posture.graph.org_queries", int64(g.OrgQueries), 1, 1000).orZero(),
		number("posture.graph.token_queries", int64(g.TokenQueries), 1, 1000).orZero(),
		number("posture.graph.waiting", int64(g.Waiting), 1, 100_000).orZero(),
		duration("posture.graph.wait", g.Wait, time.Millisecond, time.Minute).orZero(),
		number("posture.graph.work", g.Work, 1, 1e12).orZero(),
		number("posture.graph.results", g.Results, 1, 1e7).orZero(),
		duration("posture.graph.time", g.Time, time.Millisecond, 10*time.Minute).orZero(),
		number("posture.graph.memory_mb", g.MemoryMB, 1, 1<<20).orZero(),
		number("posture.graph.cache_mb", g.CacheMB, 1, 1<<20).orZero(),
		number("posture.quota.requests", int64(q.Requests), 1, 1_000_000).orZero(),
		number("posture.quota.accounts", int64(q.Accounts), 1, 1<<20).orZero(),
		number("posture.quota.collections", int64(q.Collections), 1, 100_000).orZero(),
		number("posture.quota.waiting", int64(q.Waiting), 1, 1_000_000).orZero(),
	)
}

// ranges returns the settings of the desktop server that are out of range.
func (d Desktop) ranges() [][2]string {
	return outside(
		duration("desktop.access_life", d.AccessLife, time.Minute, day).orZero(),
		duration("desktop.refresh_life", d.RefreshLife, time.Minute, 30*day).orZero(),
		duration("desktop.history_kept", d.HistoryKept, hour, tenYears).orZero(),
		number("desktop.login.failures_per_user", int64(d.Login.FailuresPerUser), 1, 1000).orZero(),
		number("desktop.login.failures_per_address", int64(d.Login.FailuresPerAddress), 1, 1_000_000).orZero(),
		duration("desktop.login.window", d.Login.Window, time.Second, day).orZero(),
		duration("desktop.login.max_wait", d.Login.MaxWait, time.Millisecond, 10*time.Minute).orZero(),
		duration("desktop.probe.interval", d.Probe.Interval, time.Second, day).orZero(),
		duration("desktop.probe.timeout", d.Probe.Timeout, 100*time.Millisecond, hour).orZero(),
		duration("desktop.probe.max_backoff", d.Probe.MaxBackoff, 100*time.Millisecond, day).orZero(),
		duration("desktop.probe.refused_pause", d.Probe.RefusedPause, 100*time.Millisecond, day).orZero(),
	)
}
