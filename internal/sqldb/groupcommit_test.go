package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/sqldb"
)

// A writerGroup runs writers that all queue behind a first one, so that they share a
// transaction.
type writerGroup struct {
	t      *testing.T
	db     *sqldb.DB
	method func(*sqldb.DB, context.Context, func(tx *sqldb.Tx) error) error

	mu     sync.Mutex
	shared bool // a writer saw uncommitted rows of another
}

// write runs all writers concurrently and returns their errors. It calls done for each
// writer as soon as its result is known.
func (g *writerGroup) write(writers []func(tx *sqldb.Tx) error, done func(i int, err error)) []error {
	g.t.Helper()
	errs := make([]error, len(writers))
	started, proceed := make(chan struct{}), make(chan struct{})
	signal := sync.OnceFunc(func() { close(started) }) // the writer runs again if the shared transaction failed
	var all sync.WaitGroup
	all.Go(func() {
		err := g.db.Write(g.t.Context(), func(tx *sqldb.Tx) error {
			signal()
			<-proceed
			return nil
		})
		if err != nil {
			g.t.Error(err)
		}
	})
	<-started
	for i, fn := range writers {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			errs[i] = g.method(g.db, g.t.Context(), func(tx *sqldb.Tx) error {
				g.checkShared(tx)
				return fn(tx)
			})
			done(i, errs[i])
		})
	}
	for g.db.Dialect() == sqldb.SQLite && g.db.Waiting() < len(writers) {
		runtime.Gosched()
	}
	close(proceed)
	all.Wait()
	return errs
}

// checkShared records whether the transaction sees more rows than are committed. It
// skips PostgreSQL, where transactions are not shared and all connections may be in
// use.
func (g *writerGroup) checkShared(tx *sqldb.Tx) {
	if tx.Dialect() != sqldb.SQLite {
		return
	}
	inside, err := sqldb.Query(tx, sqldb.Scalar[string], "SELECT name FROM written")
	if err != nil {
		g.t.Error(err)
	}
	outside := g.names()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shared = g.shared || len(inside) > len(outside)
}

// names returns the committed names.
func (g *writerGroup) names() (all []string) {
	err := g.db.Read(g.t.Context(), func(tx *sqldb.Tx) (err error) {
		all, err = sqldb.Query(tx, sqldb.Scalar[string], "SELECT name FROM written ORDER BY name")
		return err
	})
	if err != nil {
		g.t.Error(err)
	}
	return all
}

func newWriterGroup(t *testing.T, db *sqldb.DB) *writerGroup {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec("CREATE TABLE written (name TEXT NOT NULL PRIMARY KEY)"); err != nil {
			return err
		}
		_, err := tx.Exec("CREATE TABLE child (parent TEXT NOT NULL REFERENCES written (name) DEFERRABLE INITIALLY DEFERRED)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return &writerGroup{t: t, db: db, method: (*sqldb.DB).Write}
}

// TestWritersShareATransaction makes some writers of a shared transaction fail in
// different ways. Every writer must get the result that it would get in its own
// transaction.
func TestWritersShareATransaction(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, bad := range map[string]func(tx *sqldb.Tx) error{
		"returns error":   func(*sqldb.Tx) error { return failed },
		"panics":          func(*sqldb.Tx) error { panic("on purpose") },
		"statement fails": func(tx *sqldb.Tx) error { _, err := tx.Exec("INSERT INTO written (name) VALUES (NULL)"); return err },
		"commit fails": func(tx *sqldb.Tx) error {
			_, err := tx.Exec("INSERT INTO child (parent) VALUES ('missing')")
			return err
		},
		"finisher fails":  func(tx *sqldb.Tx) error { tx.Defer(func() error { return failed }, calls{}); return nil },
		"finisher panics": func(tx *sqldb.Tx) error { tx.Defer(func() error { panic("on purpose") }, calls{}); return nil },
	} {
		for variant, method := range map[string]func(*sqldb.DB, context.Context, func(tx *sqldb.Tx) error) error{
			"isolated": (*sqldb.DB).Write, "cooperative": (*sqldb.DB).WriteCooperative,
		} {
			t.Run(name+"/"+variant, func(t *testing.T) {
				t.Parallel()
				run(t, func(t *testing.T, db *sqldb.DB) {
					g := newWriterGroup(t, db)
					g.method = method
					g.failSome(bad)
				})
			})
		}
	}
}

// failSome runs 12 writers of which every fourth fails.
func (g *writerGroup) failSome(bad func(tx *sqldb.Tx) error) {
	g.t.Helper()
	var writers []func(tx *sqldb.Tx) error
	var want []string
	for i := range 12 {
		writers = append(writers, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec("INSERT INTO written (name) VALUES ($1)", fmt.Sprint(i)); err != nil || i%4 != 3 {
				return err
			}
			return bad(tx)
		})
		if i%4 != 3 {
			want = append(want, fmt.Sprint(i))
		}
	}
	done := func(i int, err error) {
		if err == nil && !slices.Contains(g.names(), fmt.Sprint(i)) {
			g.t.Errorf("writer %d returned before its commit was visible", i)
		}
	}
	for i, err := range g.write(writers, done) {
		if (err == nil) != (i%4 != 3) {
			g.t.Errorf("writer %d: %v", i, err)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, g.names()); diff != "" {
		g.t.Errorf("committed names (-want +got):\n%s", diff)
	}
	if g.db.Dialect() == sqldb.SQLite && !g.shared {
		g.t.Error("no transaction was shared")
	}
}

// calls is a finisher that calls the deferred functions.
type calls struct{}

func (calls) Finish(_ *sqldb.Tx, work []any) error {
	for _, f := range work {
		if err := f.(func() error)(); err != nil {
			return err
		}
	}
	return nil
}

// A register is a finisher that inserts the deferred names.
type register struct {
	deferred []any // names in the order in which writers deferred them
	inserted []any
	largest  int // largest number of names inserted by one call
}

func (r *register) Finish(tx *sqldb.Tx, work []any) error {
	r.inserted, r.largest = append(r.inserted, work...), max(r.largest, len(work))
	for _, name := range work {
		if _, err := tx.Exec("INSERT INTO written (name) VALUES ($1)", name); err != nil {
			return err
		}
	}
	return nil
}

// TestDeferredWorkIsDoneTogether has writers defer work to the end of their shared
// transaction: one call of the finisher does it, in the order of the writers.
func TestDeferredWorkIsDoneTogether(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		g := newWriterGroup(t, db)
		all := make([]register, 12) // one each on PostgreSQL, where writers run concurrently
		registerOf := func(i int) *register {
			if db.Dialect() == sqldb.SQLite {
				return &all[0]
			}
			return &all[i]
		}
		var writers []func(tx *sqldb.Tx) error
		for i := range all {
			writers = append(writers, func(tx *sqldb.Tx) error {
				r, name := registerOf(i), fmt.Sprint(i)
				r.deferred = append(r.deferred, name)
				tx.Defer(name, r)
				return nil
			})
		}
		done := func(i int, err error) {
			if err != nil || !slices.Contains(g.names(), fmt.Sprint(i)) {
				t.Errorf("writer %d returned %v; the committed names are %v", i, err, g.names())
			}
		}
		g.write(writers, done)
		for _, r := range all {
			if diff := cmp.Diff(r.deferred, r.inserted); diff != "" {
				t.Errorf("inserted in another order than deferred (-deferred +inserted):\n%s", diff)
			}
		}
		if db.Dialect() == sqldb.SQLite && all[0].largest < 2 {
			t.Error("no two writers shared a call of the finisher")
		}
	})
}

// TestFailureIsReportedAfterItsCauseIsVisible runs writers of which the first succeeds
// and the others fail because of it. They must not return before the first one's commit
// is visible.
func TestFailureIsReportedAfterItsCauseIsVisible(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		g := newWriterGroup(t, db)
		tooLate := errors.New("too late")
		writers := slices.Repeat([]func(tx *sqldb.Tx) error{func(tx *sqldb.Tx) error {
			n, err := tx.Exec("INSERT INTO written (name) VALUES ('the first') ON CONFLICT DO NOTHING")
			if err == nil && n == 0 {
				err = tooLate
			}
			return err
		}}, 12)
		failed := 0
		for _, err := range g.write(writers, func(i int, err error) {
			if len(g.names()) == 0 {
				t.Errorf("writer %d returned (%v) before the cause was committed", i, err)
			}
		}) {
			if errors.Is(err, tooLate) {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if failed != len(writers)-1 {
			t.Errorf("%d of %d writers were too late, want all but one", failed, len(writers))
		}
	})
}
