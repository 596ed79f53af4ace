package job_test

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"vigil/internal/job"
	"vigil/internal/sqldb"
	"vigil/internal/telemetry/tracing"
)

func TestMetricsCountWaitingRunningAndFinishedJobs(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		running, release := make(chan struct{}), make(chan struct{})
		reg := prometheus.NewPedanticRegistry()
		q := newQueue(t, db, job.Config{Metrics: reg})
		start(t, q, func(context.Context, job.Job[greet]) error {
			running <- struct{}{}
			<-release
			return nil
		})
		insert(t, db, q, "x", job.Options{})
		next(t, running)
		insert(t, db, q, "later", job.Options{At: time.Now().Add(time.Hour)})
		if got := values(t, reg); got["vigil_jobs_running"] != 1 || got["vigil_jobs_waiting"] != 1 || got["vigil_jobs_total"] != 0 {
			t.Errorf("while one runs and one waits: %v", got)
		}
		release <- struct{}{}
		waitForState(t, db, map[string]int{"completed": 1, "scheduled": 1})
		if got := values(t, reg); got["vigil_jobs_running"] != 0 || got["vigil_jobs_total"] != 1 || got["vigil_job_wait_seconds"] != 1 {
			t.Errorf("after one was done: %v, want one sample of the wait", got)
		}
	})
}

// TestWaitIsNotMeasuredForLaterAttemptsOfSharedJobs runs a job with a share twice. The scheduled_at of such
// a job determines its position in the queue and is no time at which it was due: see turnTime.
func TestWaitIsNotMeasuredForLaterAttemptsOfSharedJobs(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		reg := prometheus.NewPedanticRegistry()
		q := newQueue(t, db, job.Config{Metrics: reg})
		var attempts atomic.Int32
		start(t, q, func(context.Context, job.Job[greet]) error {
			if attempts.Add(1) == 1 {
				return job.Later(time.Millisecond)
			}
			return nil
		})
		insert(t, db, q, "x", job.Options{Share: "a"})
		waitForState(t, db, map[string]int{"completed": 1})
		if got := values(t, reg); got["vigil_jobs_total"] != 2 || got["vigil_job_wait_seconds"] != 1 {
			t.Errorf("%v, want two attempts, of which one has waited for a known time", got)
		}
	})
}

func TestPanicEndsTheAttemptInMetricsAndTraces(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		reg, spans := prometheus.NewPedanticRegistry(), tracetest.NewInMemoryExporter()
		tracer, err := tracing.New(tracing.Options{Sample: 1, Exporter: spans})
		if err != nil {
			t.Fatal(err)
		}
		q := newQueue(t, db, job.Config{Metrics: reg, Tracer: tracer})
		start(t, q, func(context.Context, job.Job[greet]) error { panic("a bug") })
		insert(t, db, q, "x", job.Options{Attempts: 1})
		waitForState(t, db, map[string]int{"discarded": 1})
		if got := values(t, reg); got["vigil_jobs_running"] != 0 || got["vigil_jobs_total"] != 1 || got["vigil_job_duration_seconds"] != 1 {
			t.Errorf("after a panic: %v", got)
		}
		isAttempt := func(s tracetest.SpanStub) bool { return s.Name == "job greet" && s.Status.Code == codes.Error }
		if got := spans.GetSpans(); !slices.ContainsFunc(got, isAttempt) {
			t.Errorf("the span of the attempt has not ended with an error: %v", got)
		}
	})
}

func TestAttemptThatTheProcessInterruptsIsNotAFailure(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		reg, spans := prometheus.NewPedanticRegistry(), tracetest.NewInMemoryExporter()
		tracer, err := tracing.New(tracing.Options{Sample: 1, Exporter: spans})
		if err != nil {
			t.Fatal(err)
		}
		running := make(chan struct{})
		q := newQueue(t, db, job.Config{Metrics: reg, Tracer: tracer})
		start(t, q, func(ctx context.Context, _ job.Job[greet]) error {
			running <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		insert(t, db, q, "x", job.Options{})
		next(t, running)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := q.Stop(ended); err != nil { // cancels running jobs without waiting for them to finish
			t.Fatal(err)
		}
		if got := outcomes(t, reg); !maps.Equal(got, map[string]float64{"interrupted": 1}) {
			t.Errorf("outcomes of attempts: %v, want one that was interrupted", got)
		}
		for _, s := range spans.GetSpans() {
			if s.Name == "job greet" && s.Status.Code == codes.Error {
				t.Errorf("the span of the attempt has an error: %v", s.Status)
			}
		}
	})
}

// outcomes returns the number of ended attempts by outcome.
func outcomes(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == "vigil_jobs_total" && l.GetName() == "outcome" {
					n[l.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}

// values returns the sum of each metric, and of histograms the count.
func values(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			sums[f.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sums
}
