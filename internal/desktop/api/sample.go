package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/meter"
	"vigil/internal/fault"
)

type sampleQuery struct {
	Kind    string `query:"kind" required:"true"`
	ID      string `query:"id"`
	Measure string `query:"measure" required:"true"`
	Since   int64  `query:"since"`
	Until   int64  `query:"until"`
	Step    int64  `query:"step"`
}

// maxPoints limits the points of a series in a response.
const maxPoints = 2000

// Validate checks the parameters.
func (q *sampleQuery) Validate() error {
	q.Kind = strings.ToUpper(q.Kind)
	switch {
	case !slices.Contains(desktop.Kinds(), desktop.Kind(q.Kind)):
		return fault.Field("kind", "is not a kind of component")
	case !meter.Sampled(q.Measure) || !meter.Has(desktop.Kind(q.Kind), q.Measure):
		return fault.Field("measure", "is not kept over time for this kind")
	case q.Since < 0:
		return fault.Field("since", "must not be negative")
	case q.Until < 0:
		return fault.Field("until", "must not be negative")
	case q.Step < 0 || q.Step%300 != 0 || q.Step > 7*24*3600:
		return fault.Field("step", "must be a multiple of 300 seconds, and a week at most")
	}
	return nil
}

// filter returns the filter of the query. The default range is the last day;
// the default step keeps the series within maxPoints. The filter selects stored samples of
// f.Step; seriesOf merges them into points of the returned step.
func (q sampleQuery) filter(now time.Time) (f desktop.SampleFilter, step time.Duration, err error) {
	f = desktop.SampleFilter{
		Kind: desktop.Kind(q.Kind), Measure: q.Measure, Since: desktop.Millis(q.Since).Time(), Until: desktop.Millis(q.Until).Time(),
	}
	if f.Until.IsZero() {
		f.Until = now.Add(time.Second)
	}
	if f.Since.IsZero() {
		f.Since = f.Until.Add(-24 * time.Hour)
	}
	length := f.Until.Sub(f.Since)
	if length <= 0 {
		return f, 0, fault.Field("until", "must be after since")
	}
	step = time.Duration(q.Step) * time.Second
	if step == 0 {
		step = desktop.FineStep
		if length > 2*24*time.Hour || f.Since.Before(now.Add(-desktop.FineKept)) {
			step = desktop.CoarseStep
		}
		for pointsIn(f, step) > maxPoints {
			step *= 2
		}
	}
	if pointsIn(f, step) > maxPoints {
		return f, 0, fault.Field("step", "must be larger: a series has at most %d points", maxPoints)
	}
	oldest := now.Add(-desktop.FineKept - desktop.FineStep) // with tolerance: a client may round the beginning of its range down
	f.Step = desktop.FineStep
	if step%desktop.CoarseStep == 0 {
		f.Step = desktop.CoarseStep
	} else if f.Since.Before(oldest) {
		return f, 0, fault.Field("step", "must be a multiple of 3600 seconds, because the range begins more than a week ago")
	}
	return f, step, nil
}

// pointsIn returns how many points a series can have in the range of a filter. The steps begin at
// multiples of their length, so that the first and the last one can be partly outside the range.
func pointsIn(f desktop.SampleFilter, step time.Duration) int64 {
	first, last := f.Since.Truncate(step), f.Until.Add(-1).Truncate(step)
	return int64(last.Sub(first)/step) + 1
}

type samplePoint struct {
	Timestamp desktop.Millis `json:"timestamp"`
	Average   float64        `json:"average"`
	Minimum   int64          `json:"minimum"`
	Maximum   int64          `json:"maximum"`
}

type sampleSeries struct {
	Part   string        `json:"part,omitempty"`
	Points []samplePoint `json:"points"`
}

type samples struct {
	Kind    desktop.Kind   `json:"kind"`
	ID      desktop.ID     `json:"id,omitempty"`
	Measure string         `json:"measure"`
	Step    int64          `json:"step_seconds"`
	Since   desktop.Millis `json:"since"`
	Until   desktop.Millis `json:"until"`
	Series  []sampleSeries `json:"series"`
}

func (a *API) listSamples(ctx context.Context, q sampleQuery) (samples, error) {
	f, step, err := q.filter(a.Now())
	if err != nil {
		return samples{}, err
	}
	f.ID = a.Board.ComponentID(desktop.ID(q.ID))
	found, err := a.Samples.Samples(ctx, f)
	if err != nil {
		return samples{}, err
	}
	return samples{
		Kind: f.Kind, ID: desktop.ID(q.ID), Measure: q.Measure, Step: int64(step / time.Second),
		Since: desktop.MillisOf(f.Since), Until: desktop.MillisOf(f.Until), Series: seriesOf(found, step),
	}, nil
}

// seriesOf groups points by part and merges those of the same step. The points
// must be ordered by part, then oldest first.
func seriesOf(found []desktop.Sample, step time.Duration) []sampleSeries {
	out := []sampleSeries{}
	var current desktop.Point // the samples of the current step, merged
	flush := func() {
		if current.Count == 0 {
			return
		}
		last := &out[len(out)-1]
		last.Points = append(last.Points, samplePoint{
			desktop.MillisOf(current.At), float64(current.Sum) / float64(current.Count), current.Min, current.Max,
		})
		current = desktop.Point{}
	}
	for i, v := range found {
		bucketStart := v.Point.At.Truncate(step)
		if i == 0 || v.Series.Part != found[i-1].Series.Part {
			flush()
			out = append(out, sampleSeries{Part: v.Series.Part, Points: []samplePoint{}})
		} else if !current.At.Equal(bucketStart) {
			flush()
		}
		current.Merge(v.Point)
		current.At = bucketStart
	}
	flush()
	return out
}
