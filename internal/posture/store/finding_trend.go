package store

import (
	"context"
	"slices"
	"strconv"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// trendLength is how many intervals a trend covers.
var trendLength = map[string]int{"day": 30, "week": 13, "month": 12}

// trendStart returns the beginning of the interval that t lies in.
func trendStart(t time.Time, interval string) time.Time {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch interval {
	case "week": // begins on Monday
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case "month":
		return day.AddDate(0, 0, 1-day.Day())
	}
	return day
}

// trendNext returns the beginning of the interval after.
func trendNext(t time.Time, interval string) time.Time {
	switch interval {
	case "week":
		return t.AddDate(0, 0, 7)
	case "month":
		return t.AddDate(0, 1, 0)
	}
	return t.AddDate(0, 0, 1)
}

// Trends implements [posture.FindingStore]. The number that is open now is
// known; what it was before follows from what came and went since.
func (s *Store) Trends(ctx context.Context, org posture.OrgID, f posture.FindingFilter, interval string, now time.Time) ([]posture.Trend, error) {
	length, ok := trendLength[interval]
	if !ok {
		return nil, fault.Field("interval", "must be day, week or month")
	}
	trends := trendFrame(interval, length, now)
	open := 0
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		isOpen := f
		isOpen.Statuses = []posture.FindingStatus{posture.FindingOpen}
		if len(f.Statuses) == 0 || slices.Contains(f.Statuses, posture.FindingOpen) {
			if open, err = countFindings(tx, org, isOpen, now); err != nil {
				return err
			}
		}
		where, args, _ := findingWhere(tx, org, f, now)
		args = append(args, sqldb.Millis(trends[0].Start))
		for e, err := range sqldb.Each(tx, scanTrendEvent, `
			SELECT e.at, e.what, tags
			FROM finding_event e
			JOIN (SELECT n, tags FROM finding WHERE `+where+`) f ON f.n = e.n
			WHERE e.org = $1 AND e.at >= $`+strconv.Itoa(len(args)), args...) {
			if err != nil {
				return err
			}
			if tagged(e.tags, f.Tags) {
				countTrend(trends, e)
			}
		}
		return nil
	})
	for i := len(trends) - 1; i >= 0; i-- {
		trends[i].Open = max(0, open)
		open += trends[i].Resolved - trends[i].New
	}
	return trends, err
}

// trendFrame returns the empty intervals up to now, oldest first.
func trendFrame(interval string, length int, now time.Time) []posture.Trend {
	start := trendStart(now, interval)
	for range length - 1 {
		start = trendStart(start.AddDate(0, 0, -1), interval)
	}
	trends := make([]posture.Trend, length)
	for i := range trends {
		trends[i].Start = start
		start = trendNext(start, interval)
	}
	return trends
}

type trendEvent struct {
	at   time.Time
	what string
	tags map[string]string
}

func scanTrendEvent(row sqldb.Row) (e trendEvent, err error) {
	var (
		at   int64
		tags *string
	)
	if err := row.Scan(&at, &e.what, &tags); err != nil {
		return e, err
	}
	e.at = sqldb.Time(at)
	if tags != nil {
		err = fromJSON(*tags, &e.tags)
	}
	return e, err
}

// countTrend counts an event in the interval that it lies in.
func countTrend(trends []posture.Trend, e trendEvent) {
	for i := len(trends) - 1; i >= 0; i-- {
		if e.at.Before(trends[i].Start) {
			continue
		}
		switch e.what {
		case "raised":
			trends[i].New++
		case "resolved":
			trends[i].Resolved++
		}
		return
	}
}
