package dbcopy

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"vigil/internal/sqldb"
)

// Limits of one transaction on the target.
const (
	maxRows  = 2000
	maxBytes = 4 << 20
)

// A batch collects and writes changes of a table.
type batch struct {
	ctx     context.Context
	copier  *copier
	table   table
	changes []Change
	bytes   int
	written int64
}

func (c *copier) writer(ctx context.Context, t table) *batch {
	return &batch{ctx: ctx, copier: c, table: t}
}

// add adds a change, and writes the batch when it is full.
func (b *batch) add(c Change) error {
	b.changes = append(b.changes, c)
	if c.After != nil {
		b.bytes += len(c.After.code)
	}
	if len(b.changes) < maxRows && b.bytes < maxBytes {
		return nil
	}
	return b.flush()
}

// done writes the rest, unless there was an error, and returns the number of changes
// written.
func (b *batch) done(err error) (int64, error) {
	if err == nil {
		err = b.flush()
	}
	return b.written, err
}

func (b *batch) flush() error {
	if len(b.changes) == 0 {
		return nil
	}
	err := b.copier.to.WriteExclusive(b.ctx, func(tx *sqldb.Tx) error {
		if err := holdRun(tx, b.copier.run); err != nil {
			return err
		}
		writeRows := func() error { return b.table.write(tx, b.changes) }
		if w := b.table.writer; w != nil {
			return w.Write(tx, b.changes, writeRows)
		}
		return writeRows()
	})
	if err != nil {
		if row := b.changes[0].After; row != nil && !errors.Is(err, sqldb.ErrUnique) {
			err = fmt.Errorf("rows from %v: %w", row.key(), err)
		}
		return err
	}
	b.written += int64(len(b.changes))
	b.changes, b.bytes = b.changes[:0], 0
	return nil
}

// write applies changes to a table.
func (t table) write(tx *sqldb.Tx, changes []Change) error {
	// pick yields the arguments of the included changes.
	pick := func(include func(Change) bool, args func(Change) []any) iter.Seq[[]any] {
		return func(yield func([]any) bool) {
			for _, c := range changes {
				if include(c) && !yield(args(c)) {
					return
				}
			}
		}
	}
	values := func(c Change) []any { return c.After.values }
	if _, err := tx.ExecEach(t.deletion(tx.Dialect()), pick(
		func(c Change) bool { return c.After == nil }, func(c Change) []any { return c.Before.key() })); err != nil {
		return err
	}
	if t.unique { // otherwise the key is the whole row, and a row with the same key needs no update
		if _, err := tx.ExecEach(t.insertion(tx.Dialect(), true), pick(
			func(c Change) bool { return c.Before != nil && c.After != nil }, values)); err != nil {
			return err
		}
	}
	inserted := pick(func(c Change) bool { return c.Before == nil }, values)
	if !t.isSimple() {
		_, err := tx.ExecEach(t.insertion(tx.Dialect(), false), inserted)
		return err
	}
	var names []string
	for _, c := range t.columns {
		names = append(names, t.columnName(tx.Dialect(), c))
	}
	_, err := tx.Load(t.name, names, inserted)
	return err
}

// columnName returns the name for [sqldb.Tx.Load], without quotes for PostgreSQL, whose
// COPY adds them.
func (t table) columnName(d sqldb.Dialect, c column) string {
	if d == sqldb.Postgres {
		return c.name
	}
	return quote(c.name)
}

// isSimple reports whether no column needs conversion.
func (t table) isSimple() bool {
	for _, c := range t.columns {
		if !c.isSimple() {
			return false
		}
	}
	return true
}

// deletion returns the statement that deletes a row by its key.
func (t table) deletion(d sqldb.Dialect) string {
	var terms []string
	for n, i := range t.key {
		c := t.columns[i]
		terms = append(terms, quote(c.name)+" = "+c.write(d, "$"+strconv.Itoa(n+1)))
	}
	return `DELETE FROM ` + quote(t.name) + ` WHERE ` + strings.Join(terms, " AND ")
}

// insertion returns the statement that inserts a row or, if replace is true, replaces the
// row with the same key.
func (t table) insertion(d sqldb.Dialect, replace bool) string {
	var names, values, key, set []string
	for i, c := range t.columns {
		names = append(names, quote(c.name))
		values = append(values, c.write(d, "$"+strconv.Itoa(i+1)))
		set = append(set, quote(c.name)+" = excluded."+quote(c.name))
	}
	for _, i := range t.key {
		key = append(key, quote(t.columns[i].name))
	}
	statement := `INSERT INTO ` + quote(t.name) + ` (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(values, ", ") + `)`
	if replace {
		statement += ` ON CONFLICT (` + strings.Join(key, ", ") + `) DO UPDATE SET ` + strings.Join(set, ", ")
	}
	return statement
}

// setSequences sets the sequences of PostgreSQL beyond the copied rows and updates its
// statistics. SQLite needs neither: it has no sequences, and is used without statistics.
func setSequences(ctx context.Context, db *sqldb.DB) error {
	if db.Dialect() != sqldb.Postgres {
		return nil
	}
	return db.Exclusive(ctx, func(tx *sqldb.Tx) error {
		type serial struct{ table, column string }
		found, err := sqldb.Query(tx, func(r sqldb.Row) (s serial, err error) {
			err = r.Scan(&s.table, &s.column)
			return s, err
		}, `
			SELECT table_name::text, column_name::text
			FROM information_schema.columns
			WHERE table_schema = current_schema() AND column_default LIKE 'nextval(%'`)
		if err != nil {
			return err
		}
		for _, s := range found {
			if _, err := tx.Exec(`
				SELECT setval(pg_get_serial_sequence('` + quote(s.table) + `', '` + s.column + `'), max(` + quote(s.column) + `))
				FROM ` + quote(s.table) + ` HAVING count(*) > 0`); err != nil {
				return err
			}
		}
		tables, err := tableNames(tx)
		if err != nil {
			return err
		}
		for _, name := range tables {
			if _, err := tx.Exec(`ANALYZE ` + quote(name)); err != nil {
				return err
			}
		}
		return nil
	})
}
