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

// A Check says why a part of the server cannot do its work, or nil.
type Check func(context.Context) error

// Health knows whether a server can do its work. The zero value is ready to
// use and healthy.
type Health struct {
	// Warning is shown to whoever asks how the server is: something that must
	// not be overlooked, such as that what it shows is not real.
	Warning string

	mu       sync.Mutex
	names    []string
	checks   map[string]Check
	notices  map[string]func() string
	stopping atomic.Bool
}

// Add enters a named check. What it reports is shown to whoever asks: the
// message of a fault as it is, any other error as an internal one.
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

// AddNotice enters a named text that is shown beside the checks, unless it is
// empty. It does not make the server unready.
func (h *Health) AddNotice(name string, text func() string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.notices == nil {
		h.notices = make(map[string]func() string)
	}
	h.notices[name] = text
}

// Stopping says that the server is about to stop: from now on it is not ready.
func (h *Health) Stopping() { h.stopping.Store(true) }

// checkTime is how long all checks together may take.
const checkTime = 5 * time.Second

type health struct {
	Status  string            `json:"status"`
	Warning string            `json:"warning,omitempty"`
	Checks  map[string]string `json:"checks,omitempty"`
}

// ready runs the checks. A server that is not ready says so with 503, and which
// part is to blame.
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

// HealthRoutes are the routes by which others learn how the server is: /healthz
// says that the process lives, /readyz that it can do its work.
func HealthRoutes(h *Health) []Route {
	return []Route{
		{Pattern: "GET /healthz", Need: Public, Operation: "getHealth", Quiet: true, Monitor: true, Hidden: true,
			Handler: JSON(func(context.Context, None) (health, error) {
				return health{Status: "ok", Warning: h.Warning}, nil
			})},
		{Pattern: "GET /readyz", Need: Public, Operation: "getReadiness", Quiet: true, Monitor: true, Hidden: true, Handler: JSON(h.ready)},
	}
}

// MetricsRoute serves what was gathered, in the format of Prometheus.
func MetricsRoute(g prometheus.Gatherer, need string) Route {
	h := promhttp.HandlerFor(g, promhttp.HandlerOpts{DisableCompression: true})
	return Route{Pattern: "GET /metrics", Need: need, Operation: "getMetrics", Quiet: true, Monitor: true, Hidden: true, Handler: Plain(h)}
}
