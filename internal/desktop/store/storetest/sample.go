package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
)

func sample(part string, offset time.Duration, value int64) desktop.Sample {
	return desktop.Sample{
		Series: desktop.Series{Kind: desktop.KindFarm, ID: "f1", Part: part, Measure: "session_count"},
		Point:  desktop.Point{At: after(offset), Count: 1, Sum: value, Min: value, Max: value},
	}
}

func samplesInOrder(t *testing.T, s Store) {
	ctx := t.Context()
	var all []desktop.Sample
	for i := range 30 { // over several blocks
		all = append(all, sample("", time.Duration(i)*5*time.Minute, int64(i)))
	}
	other := sample("b", 0, 7)
	must(t, s.AddSamples(ctx, desktop.FineStep, append([]desktop.Sample{other}, all[10:]...)))
	must(t, s.AddSamples(ctx, desktop.FineStep, all[:10]))
	must(t, s.AddSamples(ctx, desktop.FineStep, nil))
	filter := desktop.SampleFilter{Step: desktop.FineStep, Kind: desktop.KindFarm, ID: "f1", Measure: "session_count"}
	got, err := s.Samples(ctx, filter)
	must(t, err)
	if diff := cmp.Diff(append(append([]desktop.Sample{}, all...), other), got); diff != "" {
		t.Error(diff)
	}
	filter.Since, filter.Until = after(10*time.Minute), after(80*time.Minute)
	got, err = s.Samples(ctx, filter)
	if err != nil || cmp.Diff(all[2:16], got) != "" {
		t.Errorf("a range: %v, %s", err, cmp.Diff(all[2:16], got))
	}
	filter.ID = "f2"
	got, err = s.Samples(ctx, filter)
	if err != nil || len(got) != 0 {
		t.Errorf("another component: %v, %v", got, err)
	}
}

func samplesMerged(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddSamples(ctx, desktop.CoarseStep, []desktop.Sample{sample("", 0, 4)}))
	must(t, s.AddSamples(ctx, desktop.CoarseStep, []desktop.Sample{sample("", 0, 10), sample("", time.Hour, 1)}))
	must(t, s.AddSamples(ctx, desktop.CoarseStep, []desktop.Sample{sample("", 72*time.Hour, 1)}))
	filter := desktop.SampleFilter{Step: desktop.CoarseStep, Kind: desktop.KindFarm, ID: "f1", Measure: "session_count"}
	got, err := s.Samples(ctx, filter)
	must(t, err)
	want := []desktop.Sample{sample("", 0, 0), sample("", time.Hour, 1), sample("", 72*time.Hour, 1)}
	want[0].Point = desktop.Point{At: now, Count: 2, Sum: 14, Min: 4, Max: 10}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	must(t, s.ForgetSamples(ctx, desktop.CoarseStep, after(72*time.Hour)))
	got, err = s.Samples(ctx, filter)
	if err != nil || len(got) != 1 {
		t.Errorf("after forgetting: %v, %v", got, err)
	}
}
