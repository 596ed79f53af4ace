package httpapi

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A Check returns why a part of the server does not work, or nil.
type Check func(context.Context) error

// Health runs the readiness checks of a server. The zero value has no checks
// and is ready.
type Health struct {
	// Warning is shown in the health response: something that users must not
	// overlook, such as that the server shows simulated data.
	Warning string

	mu       sync.Mutex
	names    []string
	checks   map[string]Check
	notices  map[string]func() string
	stopping atomic.Bool
}

// Add adds a named check. The health response shows the message of a fault; any
// other error is shown as internal.
func (h *Health) Add(name string, c Check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checks == nil {
		h.checks = make(map[string]Check)
	}
	if h.checks[name] == nil {
		h.names = append(h.names, name)
		slices.Sort(h.names)
	}
	h.checks[name] = c
}

// AddNotice adds a named text that the health response shows, unless it is
// empty. It does not affect readiness.
func (h *Health) AddNotice(name string, text func() string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.notices == nil {
		h.notices = make(map[string]func() string)
	}
	h.notices[name] = text
}

// Stopping marks the server as not ready, because it is about to stop.
func (h *Health) Stopping() { h.stopping.Store(true) }

// checkTime limits the duration of all checks together.
const checkTime = 5 * time.Second

type health struct {
	Status  string            `json:"status"`
	Warning string            `json:"warning,omitempty"`
	Checks  map[string]string `json:"checks,omitempty"`
}

// ready runs the checks. It answers 503 with the failed checks if any failed.
func (h *Health) ready(ctx context.Context, _ None) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	h.mu.Lock()
	names := slices.Clone(h.names)
	checks := make([]Check, len(names))
	for i, name := range names {
		checks[i] = h.checks[name]
	}
	notices := maps.Clone(h.notices)
	h.mu.Unlock()

	answer := health{Status: "ok", Checks: map[string]string{"server": "ok"}}
	if h.stopping.Load() {
		answer = health{Status: "stopping", Checks: map[string]string{"server": "stopping"}}
	}
	answer.Warning = h.Warning
	for name, notice := range notices {
		answer.Checks[name] = "ok"
		if text := notice(); text != "" {
			answer.Checks[name] = text
		}
	}
	for i, name := range names {
		answer.Checks[name] = "ok"
		if err := checks[i](ctx); err != nil {
			answer.Status = "unavailable"
			answer.Checks[name] = problemOf(err).Message
		}
	}
	if answer.Status != "ok" {
		return Reply{Status: http.StatusServiceUnavailable, Body: answer}.With("Retry-After", "1"), nil
	}
	return OK(answer), nil
}

// HealthRoutes returns the health routes: /healthz succeeds while the process
// runs, /readyz when all checks pass.
func HealthRoutes(h *Health) []Route {
	return []Route{
		{Pattern: "GET /healthz", Need: Public, Operation: "getHealth", Quiet: true, Monitor: true, Hidden: true,
			Handler: JSON(func(context.Context, None) (health, error) {
				return health{Status: "ok", Warning: h.Warning}, nil
			})},
		{Pattern: "GET /readyz", Need: Public, Operation: "getReadiness", Quiet: true, Monitor: true, Hidden: true, Handler: JSON(h.ready)},
	}
}

// MetricsRoute returns a route that serves the metrics in the format of
// Prometheus.
func MetricsRoute(g prometheus.Gatherer, need string) Route {
	h := promhttp.HandlerFor(g, promhttp.HandlerOpts{DisableCompression: true})
	return Route{Pattern: "GET /metrics", Need: need, Operation: "getMetrics", Quiet: true, Monitor: true, Hidden: true, Handler: Plain(h)}
}
