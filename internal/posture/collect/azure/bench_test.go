package azure_test

import (
	"sync/atomic"
	"testing"

	"vigil/internal/posture/collect"

	simazure "vigil/internal/sim/azure"
)

// BenchmarkSubscription reads a subscription of 20,000 resources. The time includes the
// simulation.
func BenchmarkSubscription(b *testing.B) {
	r := newFixture(b, simazure.Options{Size: 20_000, Page: 500})
	s, err := r.source.Open(b.Context(), r.access(0))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	units, err := s.Units(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var n atomic.Int64
		for _, u := range units {
			if err := u.List(b.Context(), func(*collect.Resource) error { n.Add(1); return nil }); err != nil {
				b.Fatal(u.Type, err)
			}
		}
		b.ReportMetric(float64(n.Load()), "entities/op")
	}
}
