package desktop

import (
	"context"
	"time"
)

// A Series identifies one measure of a component, or of a part of it, over
// time.
type Series struct {
	Kind    Kind
	ID      ID     // empty for all components of the kind together
	Part    string // empty for the component itself
	Measure string
}

// A Point aggregates the values measured in one time step of a series.
type Point struct {
	At       time.Time // start of the step
	Count    int64     // number of values
	Sum      int64
	Min, Max int64
}

// Add adds one value.
func (p *Point) Add(v int64) { p.Merge(Point{Count: 1, Sum: v, Min: v, Max: v}) }

// Merge adds the values of another point.
func (p *Point) Merge(o Point) {
	if p.Count == 0 {
		p.Min, p.Max = o.Min, o.Max
	}
	p.Count, p.Sum = p.Count+o.Count, p.Sum+o.Sum
	p.Min, p.Max = min(p.Min, o.Min), max(p.Max, o.Max)
}

// A Sample is a point of a series.
type Sample struct {
	Series Series
	Point  Point
}

// The time steps of stored samples. Fine samples are kept for a week.
const (
	FineStep   = 5 * time.Minute
	CoarseStep = time.Hour

	FineKept = 7 * 24 * time.Hour
)

// A SampleFilter selects points of series.
type SampleFilter struct {
	Step    time.Duration // FineStep or CoarseStep
	Kind    Kind
	ID      ID // empty for the series of all components together
	Measure string
	Since   time.Time
	Until   time.Time // exclusive
}

// SampleStore stores samples.
//
// Methods are safe for concurrent use.
type SampleStore interface {
	// AddSamples stores samples of a step. A point whose time is already in the
	// series is merged.
	AddSamples(ctx context.Context, step time.Duration, samples []Sample) error

	// Samples returns the selected points, ordered by part, then oldest first.
	Samples(ctx context.Context, f SampleFilter) ([]Sample, error)

	// ForgetSamples deletes samples of a step from before the given time. Samples
	// that share a stored block with newer ones are kept.
	ForgetSamples(ctx context.Context, step time.Duration, before time.Time) error
}
