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

// A crowd is writers that all wait for one that is under way.
type crowd struct {
	t     *testing.T
	db    *sqldb.DB
	begin func(*sqldb.DB, context.Context, func(tx *sqldb.Tx) error) error

	mu     sync.Mutex
	shared bool // somebody saw what was not committed
}

// write has everybody write at once and returns what became of each. Each is
// passed to told as soon as it is known.
func (c *crowd) write(writers []func(tx *sqldb.Tx) error, told func(i int, err error)) []error {
	c.t.Helper()
	errs := make([]error, len(writers))
	begun, goOn := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) }) // what was shared and failed is done again
	var all sync.WaitGroup
	all.Go(func() {
		err := c.db.Write(c.t.Context(), func(tx *sqldb.Tx) error {
			begin()
			<-goOn
			return nil
		})
		if err != nil {
			c.t.Error(err)
		}
	})
	<-begun
	for i, fn := range writers {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			errs[i] = c.begin(c.db, c.t.Context(), func(tx *sqldb.Tx) error {
				c.look(tx)
				return fn(tx)
			})
			told(i, errs[i])
		})
	}
	for c.db.Dialect() == sqldb.SQLite && c.db.Waiting() < len(writers) {
		runtime.Gosched()
	}
	close(goOn)
	all.Wait()
	return errs
}

// look sees whether there is more than others can see. On PostgreSQL there never
// is, and all connections may be taken.
func (c *crowd) look(tx *sqldb.Tx) {
	if tx.Dialect() != sqldb.SQLite {
		return
	}
	inside, err := sqldb.Query(tx, sqldb.Scalar[string], "SELECT name FROM crowd")
	if err != nil {
		c.t.Error(err)
	}
	outside := c.names()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared = c.shared || len(inside) > len(outside)
}

// names returns who is known to have written.
func (c *crowd) names() (all []string) {
	err := c.db.Read(c.t.Context(), func(tx *sqldb.Tx) (err error) {
		all, err = sqldb.Query(tx, sqldb.Scalar[string], "SELECT name FROM crowd ORDER BY name")
		return err
	})
	if err != nil {
		c.t.Error(err)
	}
	return all
}

func newCrowd(t *testing.T, db *sqldb.DB) *crowd {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec("CREATE TABLE crowd (name TEXT NOT NULL PRIMARY KEY)"); err != nil {
			return err
		}
		_, err := tx.Exec("CREATE TABLE friend (of TEXT NOT NULL REFERENCES crowd (name) DEFERRABLE INITIALLY DEFERRED)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return &crowd{t: t, db: db, begin: (*sqldb.DB).Write}
}

// TestWritersShareATransaction has writers fail in every way among others that do
// not: each gets what it would get alone.
func TestWritersShareATransaction(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, bad := range map[string]func(tx *sqldb.Tx) error{
		"by itself":     func(*sqldb.Tx) error { return failed },
		"by panic":      func(*sqldb.Tx) error { panic("on purpose") },
		"in the middle": func(tx *sqldb.Tx) error { _, err := tx.Exec("INSERT INTO crowd (name) VALUES (NULL)"); return err },
		"at the end":    func(tx *sqldb.Tx) error { _, err := tx.Exec("INSERT INTO friend (of) VALUES ('nobody')"); return err },
		"late":          func(tx *sqldb.Tx) error { tx.Defer(func() error { return failed }, calls{}); return nil },
		"late by panic": func(tx *sqldb.Tx) error { tx.Defer(func() error { panic("on purpose") }, calls{}); return nil },
	} {
		for how, begin := range map[string]func(*sqldb.DB, context.Context, func(tx *sqldb.Tx) error) error{
			"isolated": (*sqldb.DB).Write, "cooperative": (*sqldb.DB).WriteCooperative,
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				run(t, func(t *testing.T, db *sqldb.DB) {
					c := newCrowd(t, db)
					c.begin = begin
					c.failSome(bad)
				})
			})
		}
	}
}

// failSome has many write and some of them fail.
func (c *crowd) failSome(bad func(tx *sqldb.Tx) error) {
	c.t.Helper()
	var writers []func(tx *sqldb.Tx) error
	var want []string
	for i := range 12 {
		writers = append(writers, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec("INSERT INTO crowd (name) VALUES ($1)", fmt.Sprint(i)); err != nil || i%4 != 3 {
				return err
			}
			return bad(tx)
		})
		if i%4 != 3 {
			want = append(want, fmt.Sprint(i))
		}
	}
	told := func(i int, err error) {
		if err == nil && !slices.Contains(c.names(), fmt.Sprint(i)) {
			c.t.Errorf("writer %d was told of a commit that nobody sees", i)
		}
	}
	for i, err := range c.write(writers, told) {
		if (err == nil) != (i%4 != 3) {
			c.t.Errorf("writer %d: %v", i, err)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, c.names()); diff != "" {
		c.t.Errorf("(-want +got):\n%s", diff)
	}
	if c.db.Dialect() == sqldb.SQLite && !c.shared {
		c.t.Error("nobody shared a transaction")
	}
}

// calls calls the functions that are left to it.
type calls struct{}

func (calls) Finish(_ *sqldb.Tx, work []any) error {
	for _, f := range work {
		if err := f.(func() error)(); err != nil {
			return err
		}
	}
	return nil
}

// A register enters the names that are left to it.
type register struct {
	begun, entered []any
	most           int // that it entered at once
}

func (r *register) Finish(tx *sqldb.Tx, work []any) error {
	r.entered, r.most = append(r.entered, work...), max(r.most, len(work))
	for _, name := range work {
		if _, err := tx.Exec("INSERT INTO crowd (name) VALUES ($1)", name); err != nil {
			return err
		}
	}
	return nil
}

// TestWhatIsLeftToTheEndIsDoneTogether has writers leave their work to the end of
// the transaction that they share: it is done at once, in the order of their turns.
func TestWhatIsLeftToTheEndIsDoneTogether(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		c := newCrowd(t, db)
		all := make([]register, 12) // each has its own on PostgreSQL, where they write side by side
		of := func(i int) *register {
			if db.Dialect() == sqldb.SQLite {
				return &all[0]
			}
			return &all[i]
		}
		var writers []func(tx *sqldb.Tx) error
		for i := range all {
			writers = append(writers, func(tx *sqldb.Tx) error {
				r, name := of(i), fmt.Sprint(i)
				r.begun = append(r.begun, name)
				tx.Defer(name, r)
				return nil
			})
		}
		told := func(i int, err error) {
			if err != nil || !slices.Contains(c.names(), fmt.Sprint(i)) {
				t.Errorf("writer %d: %v, and there are %v", i, err, c.names())
			}
		}
		c.write(writers, told)
		for _, r := range all {
			if diff := cmp.Diff(r.begun, r.entered); diff != "" {
				t.Errorf("entered in another order than begun (-begun +entered):\n%s", diff)
			}
		}
		if db.Dialect() == sqldb.SQLite && all[0].most < 2 {
			t.Error("everybody was entered alone")
		}
	})
}

// TestAFailureIsNotToldBeforeItsCause has writers of whom one is the first and all
// others find that they are too late: they know it when everybody can.
func TestAFailureIsNotToldBeforeItsCause(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		c := newCrowd(t, db)
		late := errors.New("too late")
		writers := slices.Repeat([]func(tx *sqldb.Tx) error{func(tx *sqldb.Tx) error {
			n, err := tx.Exec("INSERT INTO crowd (name) VALUES ('the first') ON CONFLICT DO NOTHING")
			if err == nil && n == 0 {
				err = late
			}
			return err
		}}, 12)
		failed := 0
		for _, err := range c.write(writers, func(i int, err error) {
			if len(c.names()) == 0 {
				t.Errorf("writer %d knows (%v) what nobody sees", i, err)
			}
		}) {
			if errors.Is(err, late) {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if failed != len(writers)-1 {
			t.Errorf("%d of %d were too late", failed, len(writers))
		}
	})
}
