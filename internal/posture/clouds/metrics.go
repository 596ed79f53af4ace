package clouds

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/egress"
)

// metrics measures the calls to the clouds. The number of label values is bounded: a
// cloud has a limited number of services, and accounts are not labels.
type metrics struct {
	latency   *prometheus.HistogramVec
	answers   *prometheus.CounterVec
	throttles *prometheus.CounterVec
	waited    *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	service := []string{"provider", "service"}
	m := &metrics{
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vigil_cloud_call_seconds", Help: "Time from a request to a cloud to the header of its response, or to its failure.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2.5, 9), // to 15 s
		}, service),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vigil_cloud_answers_total", Help: "Responses of the clouds by status class, 2xx to 5xx; none if there was no response.",
		}, []string{"provider", "service", "status"}),
		throttles: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vigil_cloud_throttles_total", Help: "Calls that a cloud throttled.",
		}, service),
		waited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vigil_cloud_wait_seconds_total", Help: "Time that calls waited for the rate limiter.",
		}, service),
	}
	for _, c := range []prometheus.Collector{m.latency, m.answers, m.throttles, m.waited} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// observe records a call.
func (m *metrics) observe(c egress.Call) {
	provider, service := serviceOf(c.Host)
	status := "none"
	if c.Status > 0 {
		status = strconv.Itoa(c.Status/100) + "xx"
	}
	m.latency.WithLabelValues(provider, service).Observe(c.Took.Seconds())
	m.answers.WithLabelValues(provider, service, status).Inc()
}

// azureServices maps the first label of a host to the Azure service.
var azureServices = map[string]string{"management": "arm", "graph": "graph", "dod-graph": "graph", "microsoftgraph": "graph", "login": "login"}

// awsRegion matches the part of a host that names a region of AWS.
var awsRegion = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]$`)

// serviceOf returns the provider and the service of a host.
func serviceOf(host string) (provider, service string) {
	if name, ok := strings.CutSuffix(host, ".googleapis.com"); ok {
		return string(posture.GCP), name
	}
	for _, suffix := range []string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws"} {
		name, ok := strings.CutSuffix(host, suffix)
		if !ok {
			continue
		}
		parts := strings.Split(name, ".")
		if n := len(parts); n > 1 && awsRegion.MatchString(parts[n-1]) {
			parts = parts[:n-1]
		}
		return string(posture.AWS), parts[len(parts)-1] // a bucket or an account may precede the service
	}
	first, _, _ := strings.Cut(host, ".")
	if service, ok := azureServices[first]; ok {
		return string(posture.Azure), service
	}
	return string(posture.Azure), "vault" // the other hosts in egress.Clouds are key vaults
}

// measured is a limiter that counts throttles and waiting time.
type measured struct {
	limiter collect.Limiter // nil for no limit
	metrics *metrics
}

// Wait implements [collect.Limiter].
func (m measured) Wait(ctx context.Context, k collect.Key) error {
	if m.limiter == nil {
		return ctx.Err()
	}
	begin := time.Now()
	err := m.limiter.Wait(ctx, k)
	m.metrics.waited.WithLabelValues(string(k.Provider), k.Service).Add(time.Since(begin).Seconds())
	return err
}

// Throttled implements [collect.Limiter].
func (m measured) Throttled(k collect.Key, after time.Duration) {
	m.metrics.throttles.WithLabelValues(string(k.Provider), k.Service).Inc()
	if m.limiter != nil {
		m.limiter.Throttled(k, after)
	}
}
