package stream

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"vigil/internal/posture"
)

func TestReadsAreCountedByOutcome(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	m, err := NewMetrics(reg)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(ReaderOptions{Metrics: m, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	access := posture.Access{Account: posture.Account{Provider: posture.AWS}}
	failure := errors.New("failed")
	var results posture.ReadResults
	for _, entry := range []read{
		{found: []posture.Entity{{}}},
		{removed: []posture.EntityID{"a"}},
		{skipped: true},
		{err: failure},
		{err: failure, PendingRead: posture.PendingRead{Tries: maxTries - 1}},
	} {
		r.classify(t.Context(), access, entry, &results)
	}
	const name = "vigil_stream_rereads_total"
	want := "# HELP " + name + " Reads of resources because of messages, by outcome: found, gone, skipped, failed or given up.\n# TYPE " + name + " counter\n"
	for _, outcome := range []string{"failed", "found", "given up", "gone", "skipped"} {
		want += name + `{outcome="` + outcome + `",provider="aws"} 1` + "\n"
	}
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), name); err != nil {
		t.Error(err)
	}
	if len(results.Done) != 4 || len(results.Failed) != 1 {
		t.Errorf("%d reads are done and %d failed, want 4 and 1", len(results.Done), len(results.Failed))
	}
}
