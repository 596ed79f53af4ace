package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"vigil/internal/posture"
)

// A question is a query that is run at both sizes.
type question struct {
	name   string
	filter posture.FindingFilter
	sorts  []posture.FindingSort
	deep   bool // query the page at 80 % of the list
	counts map[string]posture.Aggregation
}

var (
	isOpen = posture.FindingFilter{Statuses: []posture.FindingStatus{posture.FindingOpen}}
	no     = false
	newest = []posture.FindingSort{{Field: "creationTime", Desc: true}}

	isListed = posture.FindingFilter{Statuses: isOpen.Statuses, Suppressed: &no} // the list that the console opens with
)

var questions = []question{
	{name: "first page"},
	{name: "first page, open", filter: isOpen},
	{name: "first page, open and not suppressed", filter: isListed},
	{name: "first page, newest first", sorts: newest},
	{name: "first page, open, newest first", filter: isListed, sorts: newest},
	{name: "first page, open, oldest first", filter: isListed, sorts: []posture.FindingSort{{Field: "creationTime"}}},
	{name: "first page, open, last changed first", filter: isListed, sorts: []posture.FindingSort{{Field: "lastUpdateTime", Desc: true}}},
	{name: "deep page", deep: true},
	{name: "deep page, open", filter: isOpen, deep: true},
	{name: "deep page, newest first", sorts: newest, deep: true},
	{name: "substring of a resource name", filter: posture.FindingFilter{Text: "-0001234"}},
	{name: "substring, open and of one service", filter: posture.FindingFilter{Text: "cache-0001", Statuses: isOpen.Statuses, Services: []string{"S3"}}},
	{name: "levels, services and rules", counts: nestedAggregation("level", "service", "ruleId")},
	{name: "accounts and levels, open", filter: isOpen, counts: nestedAggregation("cloudAccountId", "level")},
	{name: "accounts and rules", counts: nestedAggregation("cloudAccountId", "ruleId")},
	{name: "rules, regions and levels, not suppressed", filter: posture.FindingFilter{Suppressed: &no}, counts: nestedAggregation("ruleId", "region", "level")},
}

// nestedAggregation returns an aggregation by nested fields.
func nestedAggregation(fields ...string) map[string]posture.Aggregation {
	a := posture.Aggregation{Of: posture.Attribute{Name: fields[0]}}
	if len(fields) > 1 {
		a.Sub = nestedAggregation(fields[1:]...)
	}
	return map[string]posture.Aggregation{fields[0]: a}
}

const pageSize = 100

// measure returns the time of the fastest round.
func (w *world) measure(ctx context.Context, q question, rounds int) (time.Duration, error) {
	page := posture.Page{Size: pageSize}
	if q.deep {
		if err := w.seek(ctx, q, &page); err != nil {
			return 0, err
		}
	}
	best := time.Duration(1<<63 - 1)
	for range rounds + 1 { // the first is a warm-up
		runtime.GC()
		start := time.Now()
		if err := w.run(ctx, q, page); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return best, nil
}

func (w *world) run(ctx context.Context, q question, page posture.Page) error {
	if q.counts != nil {
		total, _, err := w.store.AggregateFindings(ctx, org, q.filter, q.counts, now)
		if err == nil && total == 0 {
			err = fmt.Errorf("nothing was counted")
		}
		return err
	}
	found, err := w.store.Findings(ctx, org, q.filter, q.sorts, page, now)
	if err == nil && len(found.Findings) == 0 {
		err = fmt.Errorf("nothing was found")
	}
	return err
}

// seek moves to 80 % of the list, page by page.
func (w *world) seek(ctx context.Context, q question, page *posture.Page) error {
	p := posture.Page{Size: 1000}
	for seen := 0; seen < w.size*8/10; seen += p.Size {
		found, err := w.store.Findings(ctx, org, q.filter, q.sorts, p, now)
		if err != nil {
			return fmt.Errorf("page after %d: %w", seen, err)
		}
		if found.Next == "" {
			return fmt.Errorf("the list has only %d findings", seen+len(found.Findings))
		}
		p.After = found.Next
	}
	page.After = p.After
	return nil
}
