package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// trendLength is the number of intervals of a trend.
var trendLength = map[string]int{"day": 30, "week": 13, "month": 12}

// trendStart returns the start of the interval that contains t.
func trendStart(t time.Time, interval string) time.Time {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch interval {
	case "week":
		daysSinceMonday := (int(day.Weekday()) + 6) % 7
		return day.AddDate(0, 0, -daysSinceMonday)
	case "month":
		return day.AddDate(0, 0, 1-day.Day())
	}
	return day
}

// trendNext returns the start of the next interval.
func trendNext(t time.Time, interval string) time.Time {
	switch interval {
	case "week":
		return t.AddDate(0, 0, 7)
	case "month":
		return t.AddDate(0, 1, 0)
	}
	return t.AddDate(0, 0, 1)
}

// Trends implements [posture.FindingStore]. It starts from the current number of open
// findings and computes earlier numbers from the events since.
func (s *Store) Trends(ctx context.Context, org posture.OrgID, f posture.FindingFilter, interval, groupBy string, now time.Time) (posture.Trends, error) {
	length, ok := trendLength[interval]
	if !ok {
		return posture.Trends{}, fault.Field("interval", "must be day, week or month")
	}
	column, ok := trendColumns[strings.ToLower(groupBy)]
	if !ok {
		return posture.Trends{}, fault.Field("groupBy", "must be level, cloudProvider, cloudAccountId, service or ruleId")
	}
	t := &trendCounter{frame: trendFrame(interval, length, now), open: map[string]int{}, groups: map[string][]posture.Trend{}}
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		if len(f.Statuses) == 0 || slices.Contains(f.Statuses, posture.FindingOpen) {
			if t.open, err = openByGroup(tx, org, f, groupBy, column, now); err != nil {
				return err
			}
		}
		where, args, _ := findingWhere(tx, org, f, now)
		args = append(args, sqldb.Millis(t.frame[0].Start))
		for e, err := range sqldb.Each(tx, scanTrendEvent, `
			SELECT e.at, e.what, tags, grouped
			FROM finding_event e
			JOIN (SELECT n, tags, `+column+` AS grouped FROM finding WHERE `+where+`) f ON f.n = e.n
			WHERE e.org = $1 AND e.at >= $`+strconv.Itoa(len(args)), args...) {
			if err != nil {
				return err
			}
			if hasTags(e.tags, f.Tags) {
				countTrend(t.group(e.group), e)
			}
		}
		return nil
	})
	return t.trends(groupBy != ""), err
}

// trendColumns maps the fields that trends can be grouped by to columns.
var trendColumns = map[string]string{
	"":      "''", // no grouping: all findings are in one group without a name
	"level": "level", "cloudprovider": "provider", "cloudaccountid": "account", "service": "service", "ruleid": "rule",
}

// openByGroup returns the number of open findings by the value of a column.
func openByGroup(tx *sqldb.Tx, org posture.OrgID, f posture.FindingFilter, groupBy, column string, now time.Time) (map[string]int, error) {
	f.Statuses = []posture.FindingStatus{posture.FindingOpen}
	open := map[string]int{}
	if groupBy == "" {
		n, err := countFindings(tx, org, f, now)
		open[""] = n
		return open, err
	}
	g := &grouping{tx: tx, org: org, filter: f, now: now, fields: map[string]string{groupBy: column}}
	rows, err := g.group([]step{{groupBy, posture.Aggregation{Of: posture.Attribute{Name: groupBy}}}}, f)
	for _, r := range rows {
		open[r.values[0]] = r.count
	}
	return open, err
}

// A trendCounter counts events by group and interval.
type trendCounter struct {
	frame  []posture.Trend // intervals without counts
	open   map[string]int  // current number by group
	groups map[string][]posture.Trend
}

// group returns the intervals of a group.
func (t *trendCounter) group(name string) []posture.Trend {
	if t.groups[name] == nil {
		t.groups[name] = slices.Clone(t.frame)
	}
	return t.groups[name]
}

// trends computes the number of open findings in each interval, and adds up the groups.
func (t *trendCounter) trends(grouped bool) posture.Trends {
	for name := range t.open {
		t.group(name)
	}
	out := posture.Trends{All: slices.Clone(t.frame)}
	for name, g := range t.groups {
		open := t.open[name]
		for i := len(g) - 1; i >= 0; i-- { // backwards: open is the number at the end of interval i
			g[i].Open = max(0, open)
			open += g[i].Resolved - g[i].New
			all := &out.All[i]
			all.Open, all.New, all.Resolved = all.Open+g[i].Open, all.New+g[i].New, all.Resolved+g[i].Resolved
		}
	}
	if grouped {
		out.Groups = t.groups
	}
	return out
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

	group string
}

func scanTrendEvent(row sqldb.Row) (e trendEvent, err error) {
	var (
		at   int64
		tags *string
	)
	if err := row.Scan(&at, &e.what, &tags, &e.group); err != nil {
		return e, err
	}
	e.at = sqldb.Time(at)
	if tags != nil {
		err = fromJSON(*tags, &e.tags)
	}
	return e, err
}

// countTrend counts an event in its interval.
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
