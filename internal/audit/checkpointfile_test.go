package audit_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/audit"
	"vigil/internal/audit/auditdb"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestLostRecordsAreDetectedAtStart removes the newest records together with
// the head of the chain, as a restored backup would.
func TestLostRecordsAreDetectedAtStart(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		box, path := secrettest.NewBox(t), filepath.Join(t.TempDir(), "audit.checkpoint")
		start := func() *audit.Log {
			l := open(t, db, box)
			t.Cleanup(func() { _ = l.Close() })
			return l
		}
		keep := func(l *audit.Log) {
			t.Helper()
			if err := l.KeepCheckpoint(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
		l := start()
		keep(l)
		fill(t, l, 5)
		// Record 6 is committed with a change.
		var committed bool
		if err := db.Write(withAttachment(t.Context(), l, "r", &committed), func(*sqldb.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if c, err := audit.ReadCheckpointFile(path); err != nil || c.Number != 6 {
			t.Errorf("checkpoint %+v, %v; want record 6", c, err)
		}
		keep(start()) // a start without a loss succeeds
		exec(t, db, `DELETE FROM audit_record WHERE number > 3`,
			`UPDATE audit_chain SET number = 3, hash = (SELECT hash FROM audit_record WHERE number = 3)`)
		l = start()
		if r := verify(t, l); r.Broken != nil {
			t.Fatalf("the chain by itself: %v", r.Broken)
		}
		c, err := audit.ReadCheckpointFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if r := verify(t, l, c); r.Broken == nil {
			t.Error("the checkpoint did not reveal the loss")
		}
		if err := l.KeepCheckpoint(t.Context(), path); !errors.Is(err, audit.ErrTruncated) {
			t.Errorf("started without the newest records: %v", err)
		}
		if lost, err := l.AcceptLoss(t.Context(), path); !lost || err != nil {
			t.Fatalf("accept the loss: %t, %v; want true", lost, err)
		}
		page, err := auditdb.NewStore(db).Page(t.Context(), audit.Filter{Operation: "audit.acceptLoss", Limit: 10})
		if err != nil || len(page) != 1 || page[0].Targets["had"] != "6" || page[0].Targets["has"] != "3" {
			t.Errorf("the loss is recorded as %+v, %v", page, err)
		}
		keep(start()) // the next start succeeds
	})
}

// TestAcceptLossRecordsOnlyALoss accepts a loss that only a witness reveals, because the checkpoint
// file is lost too. AcceptLoss before and after that finds no loss and records nothing.
func TestAcceptLossRecordsOnlyALoss(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		box, path := secrettest.NewBox(t), filepath.Join(t.TempDir(), "audit.checkpoint")
		l := open(t, db, box)
		defer l.Close()
		fill(t, l, 5)
		published, err := l.Checkpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if lost, err := l.AcceptLoss(t.Context(), path, published); lost || err != nil {
			t.Errorf("nothing is lost: %t, %v", lost, err)
		}
		exec(t, db, `DELETE FROM audit_record WHERE number > 3`,
			`UPDATE audit_chain SET number = 3, hash = (SELECT hash FROM audit_record WHERE number = 3)`)
		for _, want := range []bool{true, false} {
			l := open(t, db, box)
			defer l.Close()
			if lost, err := l.AcceptLoss(t.Context(), path, published); lost != want || err != nil {
				t.Errorf("accept: %t, %v, want %t", lost, err, want)
			}
			page, err := auditdb.NewStore(db).Page(t.Context(), audit.Filter{Operation: "audit.acceptLoss", Limit: 10})
			if err != nil || len(page) != 1 || page[0].Targets["had"] != "5" || page[0].Targets["has"] != "3" {
				t.Errorf("the loss is recorded as %+v, %v; want one record, of 5 records of which 3 are left", page, err)
			}
			if published, err = l.Checkpoint(t.Context()); err != nil { // after a loss was accepted, the witness stores this one
				t.Fatal(err)
			}
		}
	})
}

// TestDeletedRecordsPreventStart deletes records and keeps the head of the
// chain.
func TestDeletedRecordsPreventStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		statement    string
		has, missing string // recorded with the accepted loss
	}{
		"the newest 30":   {`DELETE FROM audit_record WHERE number > 5`, "5", "30"},
		"some in between": {`DELETE FROM audit_record WHERE number BETWEEN 10 AND 12`, "35", "3"},
		"all":             {`DELETE FROM audit_record`, "0", "35"},
		"a changed hash":  {`UPDATE audit_record SET hash = prev WHERE number = 35`, "35", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
				box, path := secrettest.NewBox(t), filepath.Join(t.TempDir(), "audit.checkpoint")
				l := open(t, db, box)
				fill(t, l, 35)
				exec(t, db, tt.statement)
				l = open(t, db, box)
				t.Cleanup(func() { _ = l.Close() })
				if err := l.KeepCheckpoint(t.Context(), path); !errors.Is(err, audit.ErrTruncated) {
					t.Fatalf("started: %v", err)
				}
				if r := verify(t, l); r.Broken == nil {
					t.Error("verify finds nothing")
				}
				if lost, err := l.AcceptLoss(t.Context(), path); !lost || err != nil {
					t.Fatalf("accept the loss: %t, %v; want true", lost, err)
				}
				page, err := auditdb.NewStore(db).Page(t.Context(), audit.Filter{Operation: "audit.acceptLoss", Limit: 10})
				if err != nil || len(page) != 1 {
					t.Fatalf("the loss is recorded as %+v, %v", page, err)
				}
				want := map[string]string{"had": "35", "has": tt.has, "missing": tt.missing}
				if diff := cmp.Diff(want, page[0].Targets); diff != "" {
					t.Errorf("the loss is recorded as (-want +got):\n%s", diff)
				}
				fill(t, l, 2)
				second := open(t, db, box)
				t.Cleanup(func() { _ = second.Close() })
				if err := second.KeepCheckpoint(t.Context(), path); err != nil {
					t.Errorf("after the loss was accepted: %v", err)
				}
				if r := verify(t, second); r.Broken != nil || r.First != 36 || r.Last != 38 {
					t.Errorf("the chain after the loss: %+v, want records 36 to 38", r)
				}
			})
		})
	}
}

func TestWitnessesDetectALossWithoutCheckpointFile(t *testing.T) {
	t.Parallel()
	db, box := dbtest.Open(t, dbtest.SQLite(t)), secrettest.NewBox(t)
	l := open(t, db, box)
	fill(t, l, 5)
	w := &memoryWitness{got: make(chan audit.Checkpoint, 10)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		audit.NewWitnesses(l, w).Publish(ctx, slog.New(slog.DiscardHandler), time.Millisecond)
	}()
	seen := <-w.got
	cancel()
	<-done
	if len(w.got) != 0 || seen.Number != 5 {
		t.Errorf("published record %d, and %d times more without a change; want record 5, once", seen.Number, len(w.got))
	}
	if err := l.CheckAgainst(t.Context(), seen); err != nil {
		t.Errorf("nothing is lost: %v", err)
	}
	exec(t, db, `DELETE FROM audit_record WHERE number > 3`, `UPDATE audit_chain SET number = 3, hash = (SELECT hash FROM audit_record WHERE number = 3)`)
	if err := open(t, db, box).CheckAgainst(t.Context(), seen); !errors.Is(err, audit.ErrTruncated) {
		t.Errorf("the loss was not detected: %v", err)
	}
}

func TestInterruptedWriteKeepsThePreviousCheckpoint(t *testing.T) {
	t.Parallel()
	db, path := dbtest.Open(t, dbtest.SQLite(t)), filepath.Join(t.TempDir(), "audit.checkpoint")
	l := open(t, db, secrettest.NewBox(t))
	defer l.Close()
	if err := l.KeepCheckpoint(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 4) // the fourth is in the second slot, which begins at byte 512
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("garbage"), 600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if c, err := audit.ReadCheckpointFile(path); err != nil || c.Number != 3 {
		t.Errorf("checkpoint %+v, %v; want record 3", c, err)
	}
}

// TestFirstWriteAfterAStartKeepsTheNewestCheckpoint starts with the newest checkpoint in either slot.
func TestFirstWriteAfterAStartKeepsTheNewestCheckpoint(t *testing.T) {
	t.Parallel()
	for _, records := range []int{1, 2, 3, 4} {
		db, box, path := dbtest.Open(t, dbtest.SQLite(t)), secrettest.NewBox(t), filepath.Join(t.TempDir(), "audit.checkpoint")
		appendAndStop := func(n int) {
			l := open(t, db, box)
			defer l.Close()
			if err := l.KeepCheckpoint(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			fill(t, l, n)
		}
		appendAndStop(records)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		appendAndStop(1)
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		written := 0
		for written < len(before) && before[written] == after[written] {
			written++
		}
		copy(after[written:], "garbage") // the write was interrupted
		if err := os.WriteFile(path, after, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := audit.ReadCheckpointFile(path); err != nil || c.Number != int64(records) {
			t.Errorf("checkpoint %+v, %v; want record %d", c, err, records)
		}
	}
}

// TestWrongClockDoesNotPrune starts with a clock that is years ahead.
func TestWrongClockDoesNotPrune(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		box := secrettest.NewBox(t)
		fill(t, open(t, db, box), 35)
		ahead, err := audit.Open(t.Context(), auditdb.NewStore(db), box, func() time.Time { return noon.AddDate(20, 0, 0) })
		if err != nil {
			t.Fatal(err)
		}
		year := audit.Retention{Age: 365 * 24 * time.Hour}
		for range 3 {
			if n, err := ahead.Prune(t.Context(), year); n != 0 || err != nil {
				t.Fatalf("%d records removed, %v; want none", n, err)
			}
			if err := ahead.Append(t.Context(), audit.Record{Operation: "x", Outcome: audit.Success}); err != nil {
				t.Fatal(err)
			}
		}
		// Pruning by number does not depend on the clock.
		if n, err := ahead.Prune(t.Context(), audit.Retention{Records: 30}); n != 8 || err != nil {
			t.Errorf("%d records removed by number, %v; want 8", n, err)
		}
		if r := verify(t, ahead); r.Broken != nil || r.First != 9 {
			t.Errorf("verify: %+v, want records from 9 on", r)
		}
	})
}
