package meter

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"vigil/internal/desktop"
)

// sampled are the measures that are stored over time.
var sampled = []string{
	"session_count", "load_index", "connection_count", "tunnel_connection_count", "active_connection_count", "blast_connection_count",
	"pcoip_connection_count", "roundtrip_time", "desktops_count", "free_space_percent", "event_count",
}

// Sampled reports whether a measure is stored over time.
func Sampled(name string) bool { return slices.Contains(sampled, name) }

// averaged are the measures whose aggregate over all components of a kind is
// the mean; for all others it is the sum.
var averaged = []string{"load_index", "roundtrip_time", "free_space_percent"}

// A Sampler stores the measures of the board over time. It aggregates values in
// memory and stores them when their time step has passed, and when it stops.
type Sampler struct {
	Board Board
	Store desktop.SampleStore
	Every time.Duration // how often the board is read; 30 s when zero
	Now   func() time.Time
	Log   *slog.Logger

	open map[time.Duration]map[desktop.Series]*desktop.Point // step -> points of the current step
}

// Run samples until ctx is done.
func (s *Sampler) Run(ctx context.Context) {
	tick := time.NewTicker(cmp.Or(s.Every, 30*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			s.Sample(last)
			s.flush(last, time.Time{}) // store the open points
			return
		case <-tick.C:
			s.Sample(ctx)
		}
	}
}

// Sample reads the board once and stores the points whose step has passed.
func (s *Sampler) Sample(ctx context.Context) {
	now := s.Now()
	s.flush(ctx, now)
	for _, k := range desktop.Kinds() {
		for series, value := range Values(s.Board.Records(k), k) {
			s.add(series, value, now)
		}
	}
}

// Values returns the current measures of the records of a kind: of each
// component, and aggregated over all.
func Values(records []desktop.Record, k desktop.Kind) map[desktop.Series]int64 {
	out := make(map[desktop.Series]int64)
	counts := make(map[desktop.Series]int64)
	for _, r := range records {
		for _, m := range Of(r) {
			if !Sampled(m.Name) {
				continue
			}
			out[desktop.Series{Kind: k, ID: r.Ref().ID, Part: m.Part, Measure: m.Name}] = m.Value
			all := desktop.Series{Kind: k, Measure: m.Name} // no ID: over all components
			out[all] += m.Value
			counts[all]++
		}
	}
	for all, n := range counts {
		if slices.Contains(averaged, all.Measure) {
			out[all] /= n
		}
	}
	return out
}

func (s *Sampler) add(series desktop.Series, value int64, now time.Time) {
	if s.open == nil {
		s.open = make(map[time.Duration]map[desktop.Series]*desktop.Point)
	}
	for _, step := range []time.Duration{desktop.FineStep, desktop.CoarseStep} {
		if s.open[step] == nil {
			s.open[step] = make(map[desktop.Series]*desktop.Point)
		}
		p := s.open[step][series]
		if p == nil {
			p = &desktop.Point{At: now.UTC().Truncate(step)}
			s.open[step][series] = p
		}
		p.Add(value)
	}
}

// flush stores the points of the steps that have passed at the time now, or all
// points if now is zero. Points that cannot be stored are lost.
func (s *Sampler) flush(ctx context.Context, now time.Time) {
	for step, points := range s.open {
		var due []desktop.Sample
		for series, p := range points {
			if now.IsZero() || !now.Before(p.At.Add(step)) {
				due = append(due, desktop.Sample{Series: series, Point: *p})
			}
		}
		if len(due) == 0 {
			continue
		}
		if err := s.Store.AddSamples(ctx, step, due); err != nil {
			s.Log.ErrorContext(ctx, "store samples", "number", len(due), "error", err)
			s.drop(step, points, now)
			continue
		}
		for _, v := range due {
			delete(points, v.Series)
		}
	}
}

// drop drops points that could not be stored, so that they are not mixed with
// those of the next step.
func (s *Sampler) drop(step time.Duration, points map[desktop.Series]*desktop.Point, now time.Time) {
	if now.IsZero() {
		return
	}
	maps.DeleteFunc(points, func(_ desktop.Series, p *desktop.Point) bool { return !now.Before(p.At.Add(step)) })
}
