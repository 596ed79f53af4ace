package sqldb

import (
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Load adds rows to a table, by the quickest way the database has, and returns
// how many. A row that is already there fails all of it.
//
// The table and the columns are names from the program's text, never input.
func (tx *Tx) Load(table string, columns []string, rows iter.Seq[[]any]) (int64, error) {
	var n int64
	var err error
	if tx.db.dialect == Postgres {
		n, err = tx.copyRows(table, columns, rows)
	} else {
		n, err = tx.insertRows(table, columns, rows)
	}
	if err != nil {
		return 0, classify(fmt.Errorf("load into %s: %w", table, err))
	}
	return n, nil
}

// copyRows loads by COPY.
func (tx *Tx) copyRows(table string, columns []string, rows iter.Seq[[]any]) (n int64, err error) {
	next, stop := iter.Pull(rows)
	defer stop()
	source := pgx.CopyFromFunc(func() ([]any, error) {
		row, _ := next() // nil at the end
		return row, nil
	})
	err = tx.raw(func(c *pgx.Conn) error {
		n, err = c.CopyFrom(tx.ctx, pgx.Identifier{table}, columns, source)
		return err
	})
	return n, err
}

// batches are how many rows SQLite is given at a time: the most that fit, and then
// fewer. More gain nothing.
var batches = []int{64, 16, 4, 1}

// insertRows loads by INSERT. OR FAIL leaves the rows before one that fails to the
// transaction, which is undone anyway: otherwise SQLite would copy every page
// first that a statement of several rows changes.
func (tx *Tx) insertRows(table string, columns []string, rows iter.Seq[[]any]) (n int64, err error) {
	head := "INSERT OR FAIL INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES "
	args := make([]any, 0, batches[0]*len(columns))
	for row := range rows {
		if len(row) != len(columns) {
			return 0, fmt.Errorf("row %d has %d values for %d columns", n, len(row), len(columns))
		}
		n++
		if args = append(args, row...); len(args) == cap(args) {
			if err := tx.insertBatches(head, len(columns), args); err != nil {
				return 0, err
			}
			args = args[:0]
		}
	}
	return n, tx.insertBatches(head, len(columns), args)
}

func (tx *Tx) insertBatches(head string, columns int, args []any) error {
	for _, size := range batches {
		for len(args) >= size*columns {
			if _, err := tx.tx.ExecContext(tx.ctx, head+rowParameters(size, columns), args[:size*columns]...); err != nil {
				return err
			}
			args = args[size*columns:]
		}
	}
	return nil
}

// rowParameters returns "(?, ?), (?, ?)" and so on. SQLite looks up each $1 among
// all before it, which takes long where there are hundreds.
func rowParameters(rows, columns int) string {
	row := "(" + strings.Repeat("?, ", columns-1) + "?)"
	return strings.Repeat(row+", ", rows-1) + row
}

// ExecEach runs one statement for each set of arguments and returns how many
// rows were changed in all. It prepares the statement once, and spares
// PostgreSQL the wait for each answer.
func (tx *Tx) ExecEach(text string, args iter.Seq[[]any]) (int64, error) {
	if tx.db.dialect == Postgres {
		n, err := tx.execBatches(text, args)
		return n, classify(err)
	}
	stmt, err := tx.tx.PrepareContext(tx.ctx, text)
	if err != nil {
		return 0, classify(err)
	}
	defer stmt.Close()
	var total int64
	for a := range args {
		res, err := stmt.ExecContext(tx.ctx, a...)
		if err != nil {
			return 0, classify(err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return 0, classify(err)
		}
		total += n
	}
	return total, nil
}

// execBatches sends the statements by the thousand.
func (tx *Tx) execBatches(text string, args iter.Seq[[]any]) (total int64, err error) {
	err = tx.raw(func(c *pgx.Conn) error {
		batch := new(pgx.Batch)
		send := func() error {
			res := c.SendBatch(tx.ctx, batch)
			for range batch.Len() {
				tag, err := res.Exec()
				if err != nil {
					_ = res.Close()
					return err
				}
				total += tag.RowsAffected()
			}
			batch = new(pgx.Batch)
			return res.Close()
		}
		for a := range args {
			if batch.Queue(text, a...); batch.Len() < 1000 {
				continue
			}
			if err := send(); err != nil {
				return err
			}
		}
		if batch.Len() == 0 {
			return nil
		}
		return send()
	})
	return total, err
}

// raw gives f the PostgreSQL connection of the transaction. What f does is part
// of the transaction.
func (tx *Tx) raw(f func(c *pgx.Conn) error) error {
	return tx.conn.Raw(func(c any) error { return f(c.(*stdlib.Conn).Conn()) })
}
