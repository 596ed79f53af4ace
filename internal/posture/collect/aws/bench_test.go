package aws_test

import (
	"testing"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/world"
)

// BenchmarkListVolumes reads the volumes of a large account.
func BenchmarkListVolumes(b *testing.B) {
	c := start(b, simaws.Options{Seed: 1, Size: 50_000, Regions: []string{"us-east-1"}, Shares: world.Shares{Default: 0.1}})
	session, err := aws.New(c.options).Open(b.Context(), c.access(0))
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	unit, _ := session.Unit("AWS.EC2.Volume", "us-east-1")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := unit.List(b.Context(), func(*collect.Resource) error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "resources/s")
}
