package httpapi

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count requests. Labels are bounded: the route's pattern, never the
// path, and the class of the status. A nil *Metrics counts nothing.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// NewMetrics registers the metrics of one server. The label "server" has its
// name.
func NewMetrics(reg prometheus.Registerer, server string) (*Metrics, error) {
	labels := prometheus.Labels{"server": server}
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vigil_http_requests_total", Help: "Requests answered.", ConstLabels: labels,
		}, []string{"route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vigil_http_request_duration_seconds", Help: "Time from the first byte of a request to the last of its answer.",
			ConstLabels: labels, Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route", "status"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "vigil_http_requests_in_flight", Help: "Requests being answered.", ConstLabels: labels,
		}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.duration, m.inFlight} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) begin() {
	if m != nil {
		m.inFlight.Inc()
	}
}

// end counts an answered request. The duration of a stream says nothing about
// the server's speed and is left out.
func (m *Metrics) end(route string, status int, elapsed time.Duration, stream bool) {
	if m == nil {
		return
	}
	m.inFlight.Dec()
	class := "none"
	if status > 0 {
		class = strconv.Itoa(status/100) + "xx"
	}
	m.requests.WithLabelValues(route, class).Inc()
	if stream && status < 400 {
		return
	}
	m.duration.WithLabelValues(route, class).Observe(elapsed.Seconds())
}
