package desktop

import (
	"context"
	"time"
)

// A Series is one measure of a component, or of a part of it, over time.
type Series struct {
	Kind    Kind
	ID      ID     // empty: of all components of the kind together
	Part    string // empty: of the component itself
	Measure string
}

// A Point is what was measured within one step of a series.
type Point struct {
	At       time.Time // when the step began
	Count    int64     // how often it was measured
	Sum      int64
	Min, Max int64
}

// Add counts one more value.
func (p *Point) Add(v int64) { p.Merge(Point{Count: 1, Sum: v, Min: v, Max: v}) }

// Merge adds what another point counted.
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

// The steps that samples are kept in. Fine ones are kept for a week.
const (
	FineStep   = 5 * time.Minute
	CoarseStep = time.Hour

	FineKept = 7 * 24 * time.Hour
)

// A SampleFilter selects points of series.
type SampleFilter struct {
	Step    time.Duration // FineStep or CoarseStep
	Kind    Kind
	ID      ID // empty: the series of all components together
	Measure string
	Since   time.Time
	Until   time.Time // exclusive
}

// SampleStore keeps samples.
//
// Methods are safe for concurrent use.
type SampleStore interface {
	// AddSamples keeps samples of a step. A point of a moment that the series has
	// already is merged with it.
	AddSamples(ctx context.Context, step time.Duration, samples []Sample) error

	// Samples returns the points that a filter selects: by part, and oldest first.
	Samples(ctx context.Context, f SampleFilter) ([]Sample, error)

	// ForgetSamples removes samples of a step that are older than the time, as
	// far as they are kept together with none that is newer.
	ForgetSamples(ctx context.Context, step time.Duration, before time.Time) error
}
