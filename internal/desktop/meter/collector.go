package meter

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/desktop"
)

// Board provides the current monitor records of the components.
type Board interface {
	Records(k desktop.Kind) []desktop.Record
}

// Collector is a Prometheus collector of the state of every component. It reads
// the board at each scrape and has no state.
type Collector struct {
	board    Board
	status   *prometheus.Desc
	updated  *prometheus.Desc
	notAfter *prometheus.Desc
	valid    *prometheus.Desc
	measures map[string]*prometheus.Desc
}

// NewCollector returns a collector that reads from a board.
func NewCollector(b Board) *Collector {
	labels := []string{"kind", "id", "name", "part"}
	c := &Collector{
		board: b,
		status: prometheus.NewDesc("vigil_desktop_status",
			"Always 1: the label status has the current status of a component or of a part of it.", append(labels, "status"), nil),
		updated: prometheus.NewDesc("vigil_desktop_last_updated_timestamp_seconds",
			"When a component was last checked.", labels, nil),
		notAfter: prometheus.NewDesc("vigil_desktop_certificate_not_after_timestamp_seconds",
			"When a certificate of a component expires.", labels, nil),
		valid: prometheus.NewDesc("vigil_desktop_certificate_valid",
			"Whether a certificate of a component is valid.", labels, nil),
		measures: map[string]*prometheus.Desc{},
	}
	for _, name := range Names() {
		c.measures[name] = prometheus.NewDesc("vigil_desktop_"+name,
			"The "+strings.ReplaceAll(name, "_", " ")+" of a component.", labels, nil)
	}
	return c
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.status
	out <- c.updated
	out <- c.notAfter
	out <- c.valid
	for _, d := range c.measures {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	for _, kind := range desktop.Kinds() {
		for _, r := range c.board.Records(kind) {
			c.collect(out, r)
		}
	}
}

func (c *Collector) collect(out chan<- prometheus.Metric, r desktop.Record) {
	ref := r.Ref()
	seen := map[string]bool{} // duplicate labels would fail the whole scrape
	send := func(d *prometheus.Desc, value float64, part string, more ...string) {
		labels := append([]string{string(ref.Kind), string(ref.ID), ref.Name, part}, more...)
		key := d.String() + "\x00" + strings.Join(labels, "\x00")
		if !seen[key] {
			seen[key] = true
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
		}
	}
	for _, s := range r.Statuses() {
		send(c.status, 1, s.Part, s.Status)
	}
	if updated := r.Fresh().LastUpdated; updated != 0 {
		send(c.updated, float64(updated)/1000, "")
	}
	for _, p := range r.Certificates() {
		send(c.notAfter, float64(p.Certificate.ValidTo)/1000, p.Part)
		valid := 0.0
		if p.Certificate.Valid {
			valid = 1
		}
		send(c.valid, valid, p.Part)
	}
	for _, m := range Of(r) {
		send(c.measures[m.Name], float64(m.Value), m.Part)
	}
}
