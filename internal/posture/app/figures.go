package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
)

// databaseMetrics exports counts of findings and accounts from the database as metrics. It
// queries the database at each scrape, so all processes on one database export the same
// values.
type databaseMetrics struct {
	read       func(ctx context.Context, now time.Time) (store.Figures, error)
	now        func() time.Time
	findings   *prometheus.Desc
	accounts   *prometheus.Desc
	overdue    *prometheus.Desc
	oldestRead *prometheus.Desc
}

func newDatabaseMetrics(s *store.Store, now func() time.Time) *databaseMetrics {
	return &databaseMetrics{
		read: s.Figures, now: now,
		findings:   prometheus.NewDesc("vigil_findings", "Open findings of all organisations, by level and whether they are suppressed.", []string{"level", "suppressed"}, nil),
		accounts:   prometheus.NewDesc("vigil_accounts", "Cloud accounts by cloud and state: scheduled, paused, or draft (not linked yet).", []string{"provider", "state"}, nil),
		overdue:    prometheus.NewDesc("vigil_accounts_overdue", "Cloud accounts whose collection is late by more than an hour.", nil, nil),
		oldestRead: prometheus.NewDesc("vigil_account_oldest_collection_seconds", "Time since the last completed collection of the account that was collected least recently; a week if the runs of the last week all failed.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (f *databaseMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- f.findings
	ch <- f.accounts
	ch <- f.overdue
	ch <- f.oldestRead
}

// Collect implements [prometheus.Collector]. If the database does not answer, it omits
// these metrics, so that the others are still exported.
func (f *databaseMetrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	got, err := f.read(ctx, f.now())
	if err != nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for _, level := range posture.FindingLevels {
		gauge(f.findings, float64(got.Open[level]-got.Suppressed[level]), string(level), "false")
		gauge(f.findings, float64(got.Suppressed[level]), string(level), "true")
	}
	for _, p := range posture.Providers {
		for _, state := range store.AccountStates {
			gauge(f.accounts, float64(got.Accounts[store.AccountGroup{Provider: p, State: state}]), string(p), string(state))
		}
	}
	gauge(f.overdue, float64(got.Overdue))
	gauge(f.oldestRead, got.OldestRead.Seconds())
}
