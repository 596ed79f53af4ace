package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func TestCompareAndSetHasOneWinner(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, "INSERT INTO thing (id, size) VALUES ('a', 0)")
		for version := range 5 {
			var won atomic.Int64
			var wg sync.WaitGroup
			for range 64 {
				wg.Go(func() {
					err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
						n, err := tx.Exec("UPDATE thing SET size = size + 1 WHERE id = 'a' AND size = $1", version)
						tx.AfterCommit(func() { won.Add(n) })
						return err
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 {
				t.Fatalf("%d of 64 writers changed version %d", won.Load(), version)
			}
		}
	})
}

// TestLocksSerialiseReadModifyWrite increments two rows concurrently: one under Tx.Lock, the other
// by SELECT FOR UPDATE.
func TestLocksSerialiseReadModifyWrite(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, "INSERT INTO thing (id, size) VALUES ('locked', 0), ('selected', 0)")
		increment := func(lock bool, id string) error {
			return db.Write(t.Context(), func(tx *sqldb.Tx) error {
				suffix := tx.ForUpdate()
				if lock {
					suffix = ""
					if err := tx.Lock("thing/" + id); err != nil {
						return err
					}
				}
				n, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], "SELECT size FROM thing WHERE id = $1"+suffix, id)
				if err != nil {
					return err
				}
				_, err = tx.Exec("UPDATE thing SET size = $1 WHERE id = $2", n+1, id)
				return err
			})
		}
		const each = 50
		var wg sync.WaitGroup
		for range each {
			wg.Go(func() {
				if err := errors.Join(increment(true, "locked"), increment(false, "selected")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			sizes, err := sqldb.Query(tx, sqldb.Scalar[int64], "SELECT size FROM thing ORDER BY id")
			if len(sizes) != 2 || sizes[0] != each || sizes[1] != each {
				t.Errorf("after %d increments of each row their sizes are %v", each, sizes)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestDeadlockIsTriedAgain has two transactions take two row locks in opposite order.
// That deadlocks on PostgreSQL; SQLite runs one writer at a time.
func TestDeadlockIsTriedAgain(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, "INSERT INTO thing (id) VALUES ('a'), ('b')")
		var runs atomic.Int64
		var meet sync.WaitGroup // waits until both hold their first lock (PostgreSQL only)
		meet.Add(2)
		touch := func(first, second string) error {
			once := sync.OnceFunc(meet.Done)
			return db.Write(t.Context(), func(tx *sqldb.Tx) error {
				runs.Add(1)
				if _, err := tx.Exec("UPDATE thing SET size = size + 1 WHERE id = $1", first); err != nil {
					return err
				}
				once()
				if db.Dialect() == sqldb.Postgres {
					meet.Wait()
				}
				_, err := tx.Exec("UPDATE thing SET size = size + 1 WHERE id = $1", second)
				return err
			})
		}
		var wg sync.WaitGroup
		for _, ids := range [][2]string{{"a", "b"}, {"b", "a"}} {
			wg.Go(func() {
				if err := touch(ids[0], ids[1]); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if db.Dialect() == sqldb.Postgres && runs.Load() < 3 {
			t.Errorf("%d runs: there was no deadlock to test with", runs.Load())
		}
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			sum, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], "SELECT CAST(sum(size) AS BIGINT) FROM thing")
			if sum != 4 {
				t.Errorf("sum %d after two transactions that add 2 each, want 4", sum)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestCancelledCallersDoNotWedgeTheWriter cancels requests at all stages of their
// transactions, for every way to write, and then checks that a write succeeds.
func TestCancelledCallersDoNotWedgeTheWriter(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		const callers, calls = 8, 40
		var committed atomic.Int64
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := range calls {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*50)*time.Microsecond)
					id := fmt.Sprintf("%d-%d", c, i)
					err := db.Write(ctx, func(tx *sqldb.Tx) error {
						if _, err := tx.Exec("INSERT INTO thing (id) VALUES ($1)", id); err != nil {
							return err
						}
						_, err := sqldb.Query(tx, sqldb.Scalar[string], "SELECT id FROM thing ORDER BY note, id")
						return err
					})
					if err == nil {
						committed.Add(1)
					} else if !errors.Is(err, context.DeadlineExceeded) && !fault.Is(err, fault.Unavailable) {
						t.Errorf("write: %v", err)
					}
					_ = db.Read(ctx, func(tx *sqldb.Tx) error { // slow enough to be cancelled
						_, err := sqldb.Query(tx, sqldb.Scalar[string], "SELECT a.id FROM thing a, thing b")
						return err
					})
					// Like the job queue: outside of DB.Write, and with the request's
					// context.
					_, _ = db.Pool().ExecContext(ctx, "UPDATE thing SET size = size + 1")
					cancel()
				}
			})
		}
		wg.Wait()
		write(t, db, "INSERT INTO thing (id) VALUES ('last')")
		if got, want := int64(len(ids(t, db))), committed.Load()+1; got != want {
			t.Errorf("%d rows, and %d writes were acknowledged", got, want)
		}
		if committed.Load() == 0 || committed.Load() == callers*calls {
			t.Errorf("%d of %d writes succeeded, want some to succeed and some to be cancelled", committed.Load(), callers*calls)
		}
		if err := db.IntegrityCheck(t.Context()); err != nil {
			t.Error(err)
		}
		if db.Dialect() == sqldb.SQLite {
			// A connection that was closed during a read would block the checkpoint.
			var busy, pages, moved int
			err := db.Pool().QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
			if err != nil || busy != 0 {
				t.Errorf("checkpoint: busy %d, error %v", busy, err)
			}
		}
	})
}

// TestFailedWriteChangedNothing writes as the job queue does, with contexts that
// end at any time. Without the type uncancelled, the SQLite driver would report some
// committed writes as failed.
func TestFailedWriteChangedNothing(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t))
	if err := db.Migrate(t.Context(), "test", things); err != nil {
		t.Fatal(err)
	}
	const callers, calls = 4, 200
	const text = "INSERT INTO thing (id) VALUES ($1)"
	inTx := func(ctx context.Context, id string) error {
		tx, err := db.Pool().BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.ExecContext(ctx, text, id); err != nil {
			return err
		}
		return tx.Commit()
	}
	var succeeded atomic.Int64
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range calls {
				timeout := time.Duration(i*20) * time.Microsecond
				if i == calls-1 {
					timeout = time.Hour // so that a write succeeds, however slow the machine is
				}
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				if _, err := db.Pool().ExecContext(ctx, text, fmt.Sprintf("alone %d-%d", c, i)); err == nil {
					succeeded.Add(1)
				}
				if err := inTx(ctx, fmt.Sprintf("in tx %d-%d", c, i)); err == nil {
					succeeded.Add(1)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if got, want := int64(len(ids(t, db))), succeeded.Load(); got != want {
		t.Errorf("%d rows, and %d writes were acknowledged", got, want)
	}
	if n := succeeded.Load(); n == 0 || n == 2*callers*calls {
		t.Errorf("%d of %d writes succeeded, want some to succeed and some to be cancelled", n, 2*callers*calls)
	}
}

func TestWriteIsNotCancelledWithItsCaller(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Write(ctx, func(tx *sqldb.Tx) error {
			cancel()
			_, err := tx.Exec("INSERT INTO thing (id) VALUES ('a')")
			return err
		})
		if err != nil || len(ids(t, db)) != 1 {
			t.Errorf("a write whose context was cancelled: error %v, rows %v", err, ids(t, db))
		}
		err = db.Write(ctx, func(tx *sqldb.Tx) error {
			t.Error("a write began with a cancelled context")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
}

func TestWritersTimeOut(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		// On a busy machine, a new connection can take longer than WaitTimeout.
		options := sqldb.Options{Connections: 1, WaitTimeout: time.Second, WriteTimeout: 3 * time.Second}
		db, err := sqldb.Open(t.Context(), dsn, options)
		for attempt := 0; attempt < 60 && fault.Is(err, fault.Unavailable); attempt++ {
			db, err = sqldb.Open(t.Context(), dsn, options)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		noop := func(*sqldb.Tx) error { return nil }
		err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
			// With t.Context(), the inner write waits like that of any other caller. With
			// tx.Context(), it would be refused at once as a write within a write.
			return db.Write(t.Context(), noop)
		})
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("a writer that waited too long: got %v, want fault.Unavailable", err)
		}
		err = db.Write(t.Context(), func(tx *sqldb.Tx) error { return db.Write(tx.Context(), noop) })
		if err == nil {
			t.Error("a write within a write succeeded with one connection")
		}
		err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
			<-tx.Context().Done()
			_, err := tx.Exec("CREATE TABLE late (n BIGINT)")
			return err
		})
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("a writer that took too long: got %v, want fault.Unavailable", err)
		}
		// The pool replaces the late writer's connection.
		err = db.Write(t.Context(), noop)
		for attempt := 0; attempt < 60 && fault.Is(err, fault.Unavailable); attempt++ {
			err = db.Write(t.Context(), noop)
		}
		if err != nil {
			t.Errorf("a write after writers that failed: %v", err)
		}
	})
}

func TestWritersAreServedInOrder(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t))
	const writers = 20
	// A busy machine may suspend a goroutine before it enters the queue, so the best of
	// a few attempts counts.
	longest := int64(math.MaxInt64)
	for attempt := 0; attempt < 5 && longest > 3*writers; attempt++ {
		longest = min(longest, longestWait(t, db, writers))
	}
	if longest > 3*writers {
		t.Errorf("one of %d writers waited for %d turns", writers, longest)
	}
}

// longestWait runs writers concurrently and returns the largest number of writers that
// were served while one of them waited.
func longestWait(t *testing.T, db *sqldb.DB, writers int) int64 {
	var turns, longest atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range 50 {
				requested := turns.Load()
				err := db.Write(t.Context(), func(*sqldb.Tx) error {
					if waited := turns.Add(1) - requested; waited > longest.Load() {
						longest.Store(waited) // there is one writer at a time
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return longest.Load()
}
