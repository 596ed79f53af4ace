package stream

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/posture"
	"vigil/internal/posture/stream/refusal"
)

// Metrics count messages and the reads that they cause. A nil *Metrics counts
// nothing.
type Metrics struct {
	messages *prometheus.CounterVec
	refusals *prometheus.CounterVec
	rereads  *prometheus.CounterVec
	stages   *prometheus.HistogramVec
}

// NewMetrics registers the metrics of event streams.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vigil_stream_messages_total", Help: "Verified messages of event streams, by outcome: fresh or duplicate.",
		}, []string{"provider", "outcome"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vigil_stream_refusals_total", Help: "Messages of event streams that failed verification, by reason.",
		}, []string{"provider", "reason"}),
		rereads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vigil_stream_rereads_total", Help: "Reads of resources because of messages, by outcome: found, gone, skipped, failed or given up.",
		}, []string{"provider", "outcome"}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vigil_stream_stage_seconds", Help: "Time that messages and their targets spend in each stage.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 14), // to 16 s
		}, []string{"stage"}),
	}
	for _, c := range []prometheus.Collector{m.messages, m.refusals, m.rereads, m.stages} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) countAccepted(p posture.Provider, o posture.StreamOutcome) {
	if m == nil {
		return
	}
	m.messages.WithLabelValues(string(p), "fresh").Add(float64(o.Fresh))
	m.messages.WithLabelValues(string(p), "duplicate").Add(float64(o.Duplicates))
}

func (m *Metrics) countRefused(p posture.Provider, r refusal.Reason) {
	if m != nil {
		m.refusals.WithLabelValues(string(p), string(r)).Inc()
	}
}

func (m *Metrics) reread(p posture.Provider, outcome string) {
	if m != nil {
		m.rereads.WithLabelValues(string(p), outcome).Inc()
	}
}

// stage records the duration of a stage once for each of count messages or targets.
func (m *Metrics) stage(name string, elapsed time.Duration, count int) {
	if m == nil {
		return
	}
	for range count {
		m.stages.WithLabelValues(name).Observe(elapsed.Seconds())
	}
}
