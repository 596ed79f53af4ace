package job

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river/rivertype"

	"vigil/internal/sqldb"
)

// metrics collects the metrics of a queue. It counts the waiting jobs in the database
// at each scrape.
type metrics struct {
	db       *sqldb.DB
	waiting  *prometheus.Desc
	running  *prometheus.GaugeVec
	ended    *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	duration *prometheus.HistogramVec
}

func newMetrics(db *sqldb.DB) *metrics {
	buckets := prometheus.ExponentialBuckets(0.005, 4, 10) // to 20 minutes
	return &metrics{
		db: db,
		waiting: prometheus.NewDesc("vigil_jobs_waiting",
			"Waiting jobs in the database, by state: pending (beyond the quota of the organisation), available, scheduled or retryable.", []string{"queue", "state"}, nil),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vigil_jobs_running", Help: "Jobs running in this process.",
		}, []string{"queue", "kind"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vigil_jobs_total", Help: "Ended attempts of jobs in this process, by outcome: done, later (the job asked to run again), interrupted (the process stopped, the job returned to the queue) or failed.",
		}, []string{"queue", "kind", "outcome"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vigil_job_wait_seconds", Help: "Time from when a job was due to its start.", Buckets: buckets,
		}, []string{"queue"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vigil_job_duration_seconds", Help: "Duration of attempts of jobs.", Buckets: buckets,
		}, []string{"kind"}),
	}
}

// due returns the time at which the wait of a job for its start began, or zero if that is
// unknown. For a job with a share, ScheduledAt is not a real time but holds its turn
// (share.go), so the time is known only at its first attempt: when it was inserted.
func due(job *rivertype.JobRow, meta metadata) time.Time {
	switch {
	case meta.Turn == 0:
		return job.ScheduledAt
	case job.Attempt == 1 && meta.Snoozes == 0:
		return job.CreatedAt
	}
	return time.Time{}
}

// begin records the start of an attempt of a job and, unless due is zero, how long the job
// has waited since that time. The returned function records the end of the attempt and its outcome.
func (m *metrics) begin(job *rivertype.JobRow, due time.Time) func(error) {
	start := time.Now()
	if !due.IsZero() {
		m.latency.WithLabelValues(job.Queue).Observe(max(0, start.Sub(due).Seconds()))
	}
	running := m.running.WithLabelValues(job.Queue, job.Kind)
	running.Inc()
	return func(err error) {
		running.Dec()
		m.duration.WithLabelValues(job.Kind).Observe(time.Since(start).Seconds())
		m.ended.WithLabelValues(job.Queue, job.Kind, outcome(err)).Inc()
	}
}

// outcome returns the label of the metrics for an attempt that ended with err: "done",
// "later" if the handler asked to be called again, "interrupted" if the process stopped and
// the job returned to the queue, or "failed".
func outcome(err error) string {
	if err == nil {
		return "done"
	}
	if _, ok := errors.AsType[*laterError](err); ok {
		return "later"
	}
	if errors.Is(err, errInterrupted) {
		return "interrupted"
	}
	return "failed"
}

// Describe implements [prometheus.Collector].
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.waiting
	m.running.Describe(ch)
	m.ended.Describe(ch)
	m.latency.Describe(ch)
	m.duration.Describe(ch)
}

// Collect implements [prometheus.Collector].
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	m.running.Collect(ch)
	m.ended.Collect(ch)
	m.latency.Collect(ch)
	m.duration.Collect(ch)

	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	// If the database does not answer, only this series is missing.
	_ = m.db.Read(ctx, func(tx *sqldb.Tx) error {
		type count struct {
			queue, state string
			n            float64
		}
		counts, err := sqldb.Query(tx, func(r sqldb.Row) (c count, err error) {
			err = r.Scan(&c.queue, &c.state, &c.n)
			return c, err
		}, `
			SELECT queue, state, count(*)
			FROM river_job
			WHERE state IN ('available', 'pending', 'scheduled', 'retryable')
			GROUP BY queue, state`)
		for _, c := range counts {
			ch <- prometheus.MustNewConstMetric(m.waiting, prometheus.GaugeValue, c.n, c.queue, c.state)
		}
		return err
	})
}
