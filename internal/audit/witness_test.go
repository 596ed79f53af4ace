package audit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"vigil/internal/audit"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb/dbtest"
)

// memoryWitness is an in-memory witness that can be unreachable.
type memoryWitness struct {
	got chan audit.Checkpoint

	mu      sync.Mutex
	lastErr bool
	stored  audit.Checkpoint
}

func (*memoryWitness) Name() string { return "memory" }

func (r *memoryWitness) Put(_ context.Context, c audit.Checkpoint) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastErr {
		return errors.New("connection refused")
	}
	r.stored = c
	r.got <- c
	return nil
}

func (r *memoryWitness) Newest(context.Context) (audit.Checkpoint, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastErr {
		return audit.Checkpoint{}, errors.New("connection refused")
	}
	return r.stored, nil
}

func (r *memoryWitness) set(lastErr bool, stored audit.Checkpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastErr, r.stored = lastErr, stored
}

// rounds runs Publish until notice and metric have the wanted values.
func rounds(t *testing.T, w *audit.Witnesses, level float64, notice string) (log string) {
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
	if got := w.Notice(); got == "" != (notice == "") || !strings.Contains(got, notice) {
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
	witness := &memoryWitness{got: make(chan audit.Checkpoint, 100), lastErr: true, stored: seen}
	start := func() *audit.Witnesses {
		w := audit.NewWitnesses(open(t, db, box), witness)
		if err := w.Compare(t.Context()); err != nil {
			t.Fatalf("an unreachable witness prevents the start: %v", err)
		}
		return w
	}

	w := start()
	if log := rounds(t, w, 2, "could not be asked since the start"); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "place=memory") {
		t.Errorf("the log does not report the unreachable witness: %s", log)
	}
	if strings.Contains(w.Notice(), "memory") {
		t.Error("the notice contains the address of the witness")
	}
	witness.set(false, seen)
	rounds(t, w, 0, "")
	<-witness.got

	witness.set(true, seen)
	exec(t, db, `DELETE FROM audit_record WHERE number > 3`, `UPDATE audit_chain SET number = 3, hash = (SELECT hash FROM audit_record WHERE number = 3)`)
	w = start()
	rounds(t, w, 2, "could not be asked")
	witness.set(false, seen)
	if log := rounds(t, w, 3, "missing"); !strings.Contains(log, "audit records are missing") {
		t.Errorf("the log does not report the loss: %s", log)
	}
	if len(witness.got) != 0 {
		t.Error("the evidence of the loss was overwritten")
	}
	if known, err := w.Known(t.Context()); err != nil || len(known) != 1 || known[0].Number != 5 {
		t.Errorf("known: %v, %v", known, err)
	}
	if err := audit.NewWitnesses(open(t, db, box), witness).Compare(t.Context()); !errors.Is(err, audit.ErrTruncated) {
		t.Errorf("the next start: %v", err)
	}
	if err := w.Replace(t.Context()); err != nil {
		t.Fatal(err)
	}
	rounds(t, w, 0, "")
}
