package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/desktop"
	"vigil/internal/desktop/meter"
)

// metrics are the metrics of the server's own work. Package meter exports those
// of the monitored components.
type metrics struct {
	logins *prometheus.CounterVec
	probes *prometheus.HistogramVec
	beats  *prometheus.CounterVec
}

func (m *metrics) register(reg prometheus.Registerer, board *desktop.Board) error {
	m.logins = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vigil_desktop_logins_total", Help: "Logins, by outcome.",
	}, []string{"outcome"})
	m.probes = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "vigil_desktop_probe_duration_seconds", Help: "Duration of probes, by kind and outcome.",
		Buckets: []float64{.005, .02, .1, .5, 1, 2.5, 5, 10, 20},
	}, []string{"kind", "outcome"})
	m.beats = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vigil_desktop_heartbeats_total", Help: "Accepted heartbeats of gateways and agents, by kind.",
	}, []string{"kind"})
	inventory := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vigil_desktop_inventory_refused", Help: "1 while the inventory file is refused and an older one is in use.",
	}, func() float64 {
		if board.Refused() != nil {
			return 1
		}
		return 0
	})
	for _, c := range []prometheus.Collector{meter.NewCollector(board), inventory, m.logins, m.probes, m.beats} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// observe handles the result of a probe.
func (a *App) observe(o desktop.Observation) {
	outcome := "good"
	if o.Failure != nil {
		outcome = "failed"
	}
	a.metrics.probes.WithLabelValues(string(o.Kind), outcome).Observe(o.Took.Seconds())
	a.board.Observe(o)
}

// reportBeat handles a heartbeat of a gateway or an agent.
func (a *App) reportBeat(o desktop.Observation) {
	a.metrics.beats.WithLabelValues(string(o.Kind)).Inc()
	a.board.Observe(o)
}
