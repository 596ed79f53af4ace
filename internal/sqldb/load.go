package sqldb

import (
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Load bulk-inserts rows by the fastest method of the database and returns their
// number. It fails if one of the rows exists already. The caller must then fail too,
// because on SQLite the rows before that one remain until the rollback.
//
// The table and the columns must be constants of the program, never input.
func (tx *Tx) Load(table string, columns []string, rows iter.Seq[[]any]) (int64, error) {
	var n int64
	var err error
	end := tx.observe("COPY "+table, nil)
	defer func() { end(err) }()
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

// batches are the numbers of rows per INSERT on SQLite, tried from the largest. Larger
// batches are not faster.
var batches = []int{64, 16, 4, 1}

// insertRows loads with INSERT OR FAIL, which does not undo the rows before a failing one.
// Without OR FAIL, SQLite would journal every page that a multi-row statement changes to
// be able to undo it.
func (tx *Tx) insertRows(table string, columns []string, rows iter.Seq[[]any]) (n int64, err error) {
	head := "INSERT OR FAIL INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES "
	args := make([]any, 0, batches[0]*len(columns))
	for row := range rows {
		if len(row) != len(columns) {
			return 0, fmt.Errorf("row %d has %d values for %d columns", n, len(row), len(columns))
		}
		n++
		args = append(args, row...)
		if len(args) == cap(args) { // the largest batch is full
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

// rowParameters returns "(?, ?), (?, ?)" and so on. SQLite searches all earlier
// parameters for each $1, which is slow with hundreds of them; ? needs no search.
func rowParameters(rows, columns int) string {
	row := "(" + strings.Repeat("?, ", columns-1) + "?)"
	return strings.Repeat(row+", ", rows-1) + row
}

// ExecEach runs one statement for each set of arguments and returns the total number of
// changed rows. It prepares the statement once and pipelines the executions on
// PostgreSQL.
func (tx *Tx) ExecEach(text string, args iter.Seq[[]any]) (total int64, err error) {
	args, end := tx.observeEach(text, args)
	defer func() { end(err) }()
	if tx.db.dialect == Postgres {
		n, err := tx.execBatches(text, args)
		return n, classify(err)
	}
	stmt, err := tx.tx.PrepareContext(tx.ctx, text)
	if err != nil {
		return 0, classify(err)
	}
	defer stmt.Close()
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

// execBatches pipelines the statements in batches of 1000.
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
			batch.Queue(text, a...)
			if batch.Len() < 1000 {
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

// raw calls f with the transaction's PostgreSQL connection. What f does is part of the
// transaction.
func (tx *Tx) raw(f func(c *pgx.Conn) error) error {
	return tx.conn.Raw(func(c any) error { return f(c.(*stdlib.Conn).Conn()) })
}
