// Package dbcopy copies all tables of a SQLite database to PostgreSQL, or back.
//
// Tables, columns, keys and references come from the schemas of the two databases;
// nothing is listed twice. What an engine derives from the rows of a table, such as
// a search index, is written by a [Writer].
//
// A copy reads the source in one transaction, so that it is the source at one moment
// whatever others write meanwhile. It compares source and target row by row in the
// order of keys and writes only what differs: a copy that was interrupted goes on
// when it is started again, and a copy of a source that has changed since brings the
// target up to date. At the end both are compared again.
//
// A target is empty at first, and is marked from then on (see mark.go): a database
// with other data is refused, and so is a half-made copy when it is opened for use.
package dbcopy

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"vigil/internal/fault"
	"vigil/internal/sqldb"
)

// Options say what a copy needs to know beyond the schemas.
type Options struct {
	// Source identifies the source: a target is continued from the same one only.
	Source string

	// Accepted is called once the target was accepted and before the source is read.
	// It may be nil.
	Accepted func(context.Context) error

	// Migrate makes the tables of the target.
	Migrate func(context.Context, *sqldb.DB) error

	// Skip names tables that are not copied: what an engine keeps about itself.
	Skip []string

	// Writers write tables from which an engine derives something.
	Writers []Writer

	// Progress is called now and then. It may be nil.
	Progress func(Progress)
}

// A Writer writes the rows of one table in place of the copy.
type Writer struct {
	Table string
	Needs []string // tables that are copied before it

	// Columns are columns that one engine alone has, and that Write fills.
	Columns []string

	// Write makes changes in the target. Calling plain writes the rows as they are.
	Write func(tx *sqldb.Tx, changes []Change, plain func() error) error
}

// A Change is what is done to a row: it is inserted if Was is nil, removed if Is is
// nil, and replaced otherwise.
type Change struct{ Was, Is *Row }

// Progress says how far a copy has come.
type Progress struct {
	Step   string // "compare", "copy" or "verify"
	Table  string
	Number int // of the table, from 1
	Tables int
	Rows   int64 // of the table that were read
}

// A TableReport says what was copied of a table.
type TableReport struct {
	Table   string
	Rows    int64
	Written int64  // rows inserted, replaced or removed in the target
	Hash    string // SHA-256 of all rows, the same in source and target
}

// Copy makes the target equal to the source. It returns what there is in both.
func Copy(ctx context.Context, from, to *sqldb.DB, opts Options) ([]TableReport, error) {
	if from.Dialect() == to.Dialect() {
		return nil, fault.New(fault.Invalid, "source and target are both %s; use the tools of the database for that", from.Dialect())
	}
	run, err := begin(ctx, to, opts.Source)
	if err != nil {
		return nil, err
	}
	if opts.Accepted != nil {
		if err := opts.Accepted(ctx); err != nil {
			return nil, err
		}
	}
	if err := opts.Migrate(ctx, to); err != nil {
		return nil, fmt.Errorf("make the tables of the target: %w", err)
	}
	c := &copier{from: from, to: to, opts: opts, run: run}
	if c.tables, err = plan(ctx, from, to, opts); err != nil {
		return nil, err
	}
	var reports []TableReport
	err = from.Read(ctx, func(source *sqldb.Tx) error {
		reports, err = c.copyAll(ctx, source)
		return err
	})
	if err != nil {
		return nil, err
	}
	return reports, finish(ctx, to, run)
}

// A copier is one call of Copy.
type copier struct {
	from, to *sqldb.DB
	opts     Options
	run      string
	tables   []table // referenced ones first
}

func (c *copier) copyAll(ctx context.Context, source *sqldb.Tx) ([]TableReport, error) {
	written := make([]int64, len(c.tables))
	// Removals go first, references before what they refer to. An empty table has
	// nothing to remove, so a first copy does not read the source for this.
	for i := len(c.tables) - 1; i >= 0; i-- {
		n, err := c.removeGone(ctx, source, i)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", c.tables[i].name, err)
		}
		written[i] += n
	}
	for i, t := range c.tables {
		n, err := c.copyTable(ctx, source, i)
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", t.name, err)
		}
		written[i] += n
	}
	if err := setSequences(ctx, c.to); err != nil {
		return nil, err
	}
	var reports []TableReport
	for i, t := range c.tables {
		report, err := c.verify(ctx, source, i)
		if err != nil {
			return nil, fmt.Errorf("verify %s: %w", t.name, err)
		}
		report.Written = written[i]
		reports = append(reports, report)
	}
	return reports, nil
}

// removeGone removes what is in the target and not in the source.
func (c *copier) removeGone(ctx context.Context, source *sqldb.Tx, i int) (int64, error) {
	t := c.tables[i]
	empty, err := t.empty(ctx, c.to)
	if err != nil || empty {
		return 0, err
	}
	w := c.writer(ctx, t)
	_, err = c.compare(ctx, source, i, "compare", func(was, is *Row) error {
		if is != nil {
			return nil
		}
		return w.add(Change{Was: was})
	})
	return w.done(err)
}

// copyTable inserts what is missing in the target and replaces what differs.
func (c *copier) copyTable(ctx context.Context, source *sqldb.Tx, i int) (int64, error) {
	w := c.writer(ctx, c.tables[i])
	change := func(was, is *Row) error {
		if is == nil || was != nil && was.equal(is) {
			return nil
		}
		return w.add(Change{was, is})
	}
	_, err := c.compare(ctx, source, i, "copy", change)
	n, err := w.done(err)
	if !errors.Is(err, sqldb.ErrUnique) {
		return n, err
	}
	// A row has a value that is unique and that another row still has, which changes
	// later in the order of keys: rows that differ are removed first.
	w = c.writer(ctx, c.tables[i])
	_, err = c.compare(ctx, source, i, "compare", func(was, is *Row) error {
		if was == nil || is != nil && was.equal(is) {
			return nil
		}
		return w.add(Change{Was: was})
	})
	if _, err := w.done(err); err != nil {
		return n, err
	}
	w = c.writer(ctx, c.tables[i])
	_, err = c.compare(ctx, source, i, "copy", change)
	return w.done(err)
}

// verify reads both sides again and compares them.
func (c *copier) verify(ctx context.Context, source *sqldb.Tx, i int) (TableReport, error) {
	t := c.tables[i]
	differ := 0
	sum, err := c.compare(ctx, source, i, "verify", func(was, is *Row) error {
		if was == nil || is == nil || !was.equal(is) {
			differ++
		}
		return nil
	})
	if err != nil {
		return TableReport{}, err
	}
	if differ > 0 || sum.source != sum.target {
		return TableReport{}, fault.New(fault.Conflict, "%d rows differ from the source; copy again", differ)
	}
	return TableReport{Table: t.name, Rows: sum.source.rows, Hash: hex.EncodeToString(sum.source.hash[:])}, nil
}
