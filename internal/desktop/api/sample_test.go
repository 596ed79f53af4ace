package api

import (
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// TestStepsThatAreNotKeptAreRefused covers ranges that begin before and after the oldest sample of FineStep. Before it, only samples
// of CoarseStep exist.
func TestStepsThatAreNotKeptAreRefused(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.Date(2026, 3, 1, 12, 3, 4, 0, time.UTC)
	for _, tt := range []struct {
		name        string
		ago, length time.Duration // how long before now the range begins, and how long it is
		step        time.Duration // 0 for the default
		stored      time.Duration // 0 if the request is refused
	}{
		{"fine steps of the last day", day, day, 5 * time.Minute, desktop.FineStep},
		{"fine steps of a week", 7 * day, 7 * day, 10 * time.Minute, desktop.FineStep},
		{"fine steps of a week whose beginning was rounded down to a minute", 7*day + 4*time.Second, 7 * day, 10 * time.Minute, desktop.FineStep},
		{"fine steps of eight days", 8 * day, 8 * day, 10 * time.Minute, 0},
		{"fine steps of a day that ended a week ago", 8 * day, day, 5 * time.Minute, 0},
		{"a step of 90 minutes, not a multiple of an hour", 30 * day, 30 * day, 90 * time.Minute, 0},
		{"hours of a month", 30 * day, 30 * day, time.Hour, desktop.CoarseStep},
		{"days of a month", 30 * day, 30 * day, day, desktop.CoarseStep},
		{"1999 steps, in parts of 2000 hours", 100 * day, 1999 * time.Hour, time.Hour, desktop.CoarseStep},
		{"2000 steps, in parts of 2001 hours", 100 * day, 2000 * time.Hour, time.Hour, 0},
		{"the default of eight days", 8 * day, 8 * day, 0, desktop.CoarseStep},
		{"the default of a year", 365 * day, 365 * day, 0, desktop.CoarseStep},
	} {
		since := now.Add(-tt.ago)
		q := sampleQuery{Since: since.UnixMilli(), Until: since.Add(tt.length).UnixMilli(), Step: int64(tt.step / time.Second)}
		f, step, err := q.filter(now)
		switch {
		case tt.stored == 0:
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: error %v, want a refusal of the step", tt.name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case f.Step != tt.stored || step%f.Step != 0 || tt.step != 0 && step != tt.step:
			t.Errorf("%s: a step of %s from samples of %s, want samples of %s", tt.name, step, f.Step, tt.stored)
		}
	}
}
