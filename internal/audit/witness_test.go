package audit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"vigil/internal/audit"
	"vigil/internal/audit/auditdb"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb/dbtest"
)

// memoryWitness is an in-memory witness that can be unreachable.
type memoryWitness struct {
	got chan audit.Checkpoint // every checkpoint that Put stored

	mu          sync.Mutex
	unreachable bool
	stored      audit.Checkpoint
}

func (*memoryWitness) Name() string { return "memory" }

func (w *memoryWitness) Put(_ context.Context, c audit.Checkpoint) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unreachable {
		return errors.New("connection refused")
	}
	w.stored = c
	w.got <- c
	return nil
}

func (w *memoryWitness) Newest(context.Context) (audit.Checkpoint, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unreachable {
		return audit.Checkpoint{}, errors.New("connection refused")
	}
	return w.stored, nil
}

func (w *memoryWitness) setUnreachable() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unreachable = true
}

// setReachable makes the witness reachable, with a stored checkpoint.
func (w *memoryWitness) setReachable(stored audit.Checkpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unreachable, w.stored = false, stored
}

// The values of the metric vigil_audit_witness_level that the test expects.
const (
	allAgree = 0
	notAsked = 2 // a witness could not be asked since the start
	lossSeen = 3 // records that a checkpoint covers are missing
)

// publishUntil runs Publish until the metric has the wanted level, then checks the notice.
// It returns the text of the log.
func publishUntil(t *testing.T, w *audit.Witnesses, level float64, notice string) (log string) {
	t.Helper()
	var text bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Publish(ctx, slog.New(slog.NewTextHandler(&text, nil)), time.Millisecond)
	}()
	for end := time.Now().Add(time.Minute); testutil.ToFloat64(w.Collector()) != level && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	cancel()
	<-done
	if got := testutil.ToFloat64(w.Collector()); got != level {
		t.Errorf("level %v, want %v", got, level)
	}
	got := w.Notice()
	if isEmpty, wantEmpty := got == "", notice == ""; isEmpty != wantEmpty || !strings.Contains(got, notice) {
		t.Errorf("notice %q, want %q", got, notice)
	}
	return text.String()
}

// TestUnreachableWitnessIsComparedLater starts without the witness, and checks
// that this is reported, and that the witness's checkpoint is not overwritten
// before it was compared.
func TestUnreachableWitnessIsComparedLater(t *testing.T) {
	t.Parallel()
	db, box := dbtest.Open(t, dbtest.SQLite(t)), secrettest.NewBox(t)
	l := open(t, db, box)
	fill(t, l, 5)
	seen, err := l.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	witness := &memoryWitness{got: make(chan audit.Checkpoint, 100), unreachable: true, stored: seen}
	start := func() *audit.Witnesses {
		w := audit.NewWitnesses(open(t, db, box), witness)
		if err := w.Compare(t.Context()); err != nil {
			t.Fatalf("an unreachable witness prevents the start: %v", err)
		}
		return w
	}

	w := start()
	if log := publishUntil(t, w, notAsked, "could not be asked since the start"); !regexp.MustCompile(`level=ERROR .*witness=memory`).MatchString(log) {
		t.Errorf("the log does not report the unreachable witness: %s", log)
	}
	if strings.Contains(w.Notice(), "memory") {
		t.Error("the notice contains the address of the witness")
	}
	witness.setReachable(seen)
	publishUntil(t, w, allAgree, "")
	<-witness.got // the checkpoint that was published

	witness.setUnreachable()
	exec(t, db, `DELETE FROM audit_record WHERE number > 3`, `UPDATE audit_chain SET number = 3, hash = (SELECT hash FROM audit_record WHERE number = 3)`)
	w = start()
	publishUntil(t, w, notAsked, "could not be asked")
	witness.setReachable(seen)
	if log := publishUntil(t, w, lossSeen, "missing"); !strings.Contains(log, "audit records are missing") {
		t.Errorf("the log does not report the loss: %s", log)
	}
	if len(witness.got) != 0 {
		t.Error("the evidence of the loss was overwritten")
	}
	if known, err := w.Known(t.Context()); err != nil || len(known) != 1 || known[0].Number != 5 {
		t.Errorf("known: %v, %v; want the checkpoint of record 5", known, err)
	}
	if err := audit.NewWitnesses(open(t, db, box), witness).Compare(t.Context()); !errors.Is(err, audit.ErrTruncated) {
		t.Errorf("the next start: %v", err)
	}
	if err := w.Replace(t.Context()); err != nil {
		t.Fatal(err)
	}
	publishUntil(t, w, allAgree, "")
}

// headlessStore is a store whose head cannot be read.
type headlessStore struct{ audit.Store }

func (headlessStore) Head(context.Context) (audit.Head, error) {
	return audit.Head{}, errors.New("disk I/O error")
}

// TestFailedComparisonIsReported starts with a database that cannot be compared with the witness.
func TestFailedComparisonIsReported(t *testing.T) {
	t.Parallel()
	db, box := dbtest.Open(t, dbtest.SQLite(t)), secrettest.NewBox(t)
	fill(t, open(t, db, box), 5)
	l, err := audit.Open(t.Context(), headlessStore{auditdb.NewStore(db)}, box, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := audit.NewWitnesses(l, &memoryWitness{})
	if err := w.Compare(t.Context()); err != nil {
		t.Errorf("a comparison that is tried again prevents the start: %v", err)
	}
	if got := testutil.ToFloat64(w.Collector()); got != notAsked || !strings.Contains(w.Notice(), "since the start") {
		t.Errorf("level %v, notice %q; want level %v and that the witness was not asked since the start", got, w.Notice(), notAsked)
	}
}
