package meter_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/desktop/meter"
)

// memoryStore is an in-memory store of samples.
type memoryStore struct {
	desktop.SampleStore
	broken bool
	points map[time.Duration]map[desktop.Series][]desktop.Point
}

// AddSamples implements [desktop.SampleStore].
func (s *memoryStore) AddSamples(_ context.Context, step time.Duration, samples []desktop.Sample) error {
	if s.broken {
		return errors.New("the store is not available")
	}
	if s.points[step] == nil {
		s.points[step] = map[desktop.Series][]desktop.Point{}
	}
	for _, v := range samples {
		s.points[step][v.Series] = append(s.points[step][v.Series], v.Point)
	}
	return nil
}

func TestSamplerStoresMeasuresOverTime(t *testing.T) {
	t.Parallel()
	host := func(id desktop.ID, sessions, load int32) desktop.Record {
		return desktop.RDSServerMonitor{ID: id, SessionCount: &sessions, LoadIndex: &load}
	}
	b := board{host("r1", 2, 10), host("r2", 4, 50)}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := &memoryStore{points: map[time.Duration]map[desktop.Series][]desktop.Point{}}
	s := &meter.Sampler{Board: b, Store: store, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
	for range 11 { // 12:00 to 12:10
		s.Sample(t.Context())
		now = now.Add(time.Minute)
	}
	total := desktop.Series{Kind: desktop.KindRDSServer, Measure: "session_count"}
	ofServer := desktop.Series{Kind: desktop.KindRDSServer, ID: "r2", Measure: "session_count"}
	averageLoad := desktop.Series{Kind: desktop.KindRDSServer, Measure: "load_index"}
	point := func(minute int, n, sum, value int64) desktop.Point {
		return desktop.Point{At: time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC), Count: n, Sum: sum, Min: value, Max: value}
	}
	fine := store.points[desktop.FineStep]
	for series, want := range map[desktop.Series][]desktop.Point{
		total:       {point(0, 5, 30, 6), point(5, 5, 30, 6)},
		ofServer:    {point(0, 5, 20, 4), point(5, 5, 20, 4)},
		averageLoad: {point(0, 5, 150, 30), point(5, 5, 150, 30)},
	} {
		if diff := cmp.Diff(want, fine[series]); diff != "" {
			t.Errorf("%+v: %s", series, diff)
		}
	}
	if len(store.points[desktop.CoarseStep]) != 0 {
		t.Error("the hour is stored before it has passed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Run(ctx) // ctx is done: takes a twelfth sample and stores the open points
	if diff := cmp.Diff([]desktop.Point{point(0, 12, 72, 6)}, store.points[desktop.CoarseStep][total]); diff != "" {
		t.Errorf("the open hour: %s", diff)
	}
}

func TestSamplerContinuesAfterAStoreFailure(t *testing.T) {
	t.Parallel()
	sessions := int32(3)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := &memoryStore{points: map[time.Duration]map[desktop.Series][]desktop.Point{}, broken: true}
	s := &meter.Sampler{
		Board: board{desktop.RDSServerMonitor{ID: "r1", SessionCount: &sessions}}, Store: store,
		Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	}
	for i := range 12 {
		store.broken = i < 6 // until the points of 12:00 to 12:04 were due, at 12:05
		s.Sample(t.Context())
		now = now.Add(time.Minute)
	}
	points := store.points[desktop.FineStep][desktop.Series{Kind: desktop.KindRDSServer, ID: "r1", Measure: "session_count"}]
	if len(points) != 1 || points[0].Count != 5 || points[0].At.Minute() != 5 {
		t.Errorf("points %+v, want the five minutes from 12:05", points)
	}
}
