// Package dbcopy copies all tables of a SQLite database to PostgreSQL, or back.
//
// Tables, columns, keys and references are read from the schemas of both databases. A
// [Writer] writes tables from which an engine derives data, such as a search index.
//
// A copy reads the source in one transaction, so that it is a consistent snapshot. It
// compares source and target row by row in the order of keys and writes only
// differences. So an interrupted copy continues when it is started again, and a later
// copy applies the changes of the source. At the end both are compared again.
//
// The target must be empty at first and is then marked (see mark.go). A database with
// other data is rejected as a target, and an unfinished copy cannot be opened for use.
package dbcopy

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"vigil/internal/fault"
	"vigil/internal/sqldb"
)

// Options configure a copy.
type Options struct {
	// Source identifies the source. A copy to the same target continues only from the
	// same source.
	Source string

	// BeforeRead, if not nil, is called after the target was accepted and before the
	// source is read.
	BeforeRead func(context.Context) error

	// Migrate creates the tables of the target.
	Migrate func(context.Context, *sqldb.DB) error

	// Skip lists tables that are not copied, such as internal tables of an engine.
	Skip []string

	// Writers write tables from which an engine derives data.
	Writers []Writer

	// Progress, if not nil, is called periodically.
	Progress func(Progress)
}

// A Writer writes the rows of one table instead of the default code.
type Writer struct {
	Table string
	Needs []string // tables that must be copied before

	// Columns are columns that only one engine has and that Write fills.
	Columns []string

	// Write applies changes to the target. writeRows applies them without derived data.
	Write func(tx *sqldb.Tx, changes []Change, writeRows func() error) error
}

// A Change is a change of a row: an insert if Before is nil, a delete if After is nil,
// otherwise an update.
type Change struct{ Before, After *Row }

// Progress is the progress of a copy.
type Progress struct {
	Step   string // "compare", "copy" or "verify"
	Table  string
	Number int // of the table, from 1
	Tables int
	Rows   int64 // rows of the table read so far
}

// A TableReport is the result of copying a table.
type TableReport struct {
	Table   string
	Rows    int64
	Written int64  // rows inserted, replaced or removed in the target
	Hash    string // SHA-256 of all rows, the same in source and target
}

// Copy makes the target equal to the source. It returns a report for each table.
func Copy(ctx context.Context, from, to *sqldb.DB, opts Options) ([]TableReport, error) {
	if from.Dialect() == to.Dialect() {
		return nil, fault.New(fault.Invalid, "source and target are both %s; use the tools of the database for that", from.Dialect())
	}
	run, err := begin(ctx, to, opts.Source)
	if err != nil {
		return nil, err
	}
	if opts.BeforeRead != nil {
		if err := opts.BeforeRead(ctx); err != nil {
			return nil, err
		}
	}
	if err := opts.Migrate(ctx, to); err != nil {
		return nil, fmt.Errorf("create the tables of the target: %w", err)
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

// A copier is the state of one call of Copy.
type copier struct {
	from, to *sqldb.DB
	opts     Options
	run      string
	tables   []table // in the order of references: referenced tables first
}

func (c *copier) copyAll(ctx context.Context, source *sqldb.Tx) ([]TableReport, error) {
	written := make([]int64, len(c.tables))
	// Delete first, referencing tables before referenced ones. An empty table needs no
	// deletion, so a first copy does not read the source for this.
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

// removeGone deletes the rows of the target that are not in the source.
func (c *copier) removeGone(ctx context.Context, source *sqldb.Tx, i int) (int64, error) {
	t := c.tables[i]
	empty, err := t.empty(ctx, c.to)
	if err != nil || empty {
		return 0, err
	}
	w := c.writer(ctx, t)
	_, err = c.compare(ctx, source, i, "compare", func(targetRow, sourceRow *Row) error {
		if sourceRow != nil {
			return nil
		}
		return w.add(Change{Before: targetRow})
	})
	return w.done(err)
}

// copyTable inserts missing rows into the target and updates different ones.
func (c *copier) copyTable(ctx context.Context, source *sqldb.Tx, i int) (int64, error) {
	w := c.writer(ctx, c.tables[i])
	change := func(targetRow, sourceRow *Row) error {
		if sourceRow == nil || targetRow != nil && targetRow.equal(sourceRow) {
			return nil
		}
		return w.add(Change{targetRow, sourceRow})
	}
	_, err := c.compare(ctx, source, i, "copy", change)
	n, err := w.done(err)
	if !errors.Is(err, sqldb.ErrUnique) {
		return n, err
	}
	// A unique value moved from one row to another. The update of the new row conflicts with
	// the old row, which is updated later. Delete all rows that differ, then copy again.
	w = c.writer(ctx, c.tables[i])
	_, err = c.compare(ctx, source, i, "compare", func(targetRow, sourceRow *Row) error {
		if targetRow == nil || sourceRow != nil && targetRow.equal(sourceRow) {
			return nil
		}
		return w.add(Change{Before: targetRow})
	})
	if _, err := w.done(err); err != nil {
		return n, err
	}
	w = c.writer(ctx, c.tables[i])
	_, err = c.compare(ctx, source, i, "copy", change)
	again, err := w.done(err) // writes every deleted row again
	return n + again, err
}

// verify compares all rows of both sides again.
func (c *copier) verify(ctx context.Context, source *sqldb.Tx, i int) (TableReport, error) {
	t := c.tables[i]
	differ := 0
	sum, err := c.compare(ctx, source, i, "verify", func(targetRow, sourceRow *Row) error {
		if targetRow == nil || sourceRow == nil || !targetRow.equal(sourceRow) {
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
