package sqldb

import (
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// Row is what a scan function reads one record from.
type Row interface {
	Scan(dest ...any) error
}

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(text string, args ...any) (int64, error) {
	res, err := tx.tx.ExecContext(tx.ctx, text, args...)
	if err != nil {
		return 0, classify(err)
	}
	n, err := res.RowsAffected()
	return n, classify(err)
}

// QueryRow runs a query of which one row is wanted. Scan fails with
// [sql.ErrNoRows] when there is none.
func (tx *Tx) QueryRow(text string, args ...any) Row {
	return row{tx.tx.QueryRowContext(tx.ctx, text, args...)}
}

type row struct{ *sql.Row }

func (r row) Scan(dest ...any) error { return classify(r.Row.Scan(dest...)) }

// Each runs a query and yields its rows as they come. The transaction cannot
// run another statement before the loop ends. It ends after an error.
func Each[T any](tx *Tx, scan func(Row) (T, error), text string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		rows, err := tx.tx.QueryContext(tx.ctx, text, args...)
		if err != nil {
			yield(zero, classify(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				yield(zero, classify(err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(zero, classify(err))
		}
	}
}

// Query runs a query and returns its rows, each read by scan. No rows are an
// empty slice, not nil.
func Query[T any](tx *Tx, scan func(Row) (T, error), text string, args ...any) ([]T, error) {
	out := []T{}
	for v, err := range Each(tx, scan, text, args...) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// QueryOne runs a query and returns its first row. It fails with
// [sql.ErrNoRows] when there is none: what is missing, and whether that is a
// fault.NotFound, is known to the caller.
func QueryOne[T any](tx *Tx, scan func(Row) (T, error), text string, args ...any) (T, error) {
	for v, err := range Each(tx, scan, text, args...) {
		return v, err
	}
	var zero T
	return zero, sql.ErrNoRows
}

// Scalar reads a row of one column.
func Scalar[T any](r Row) (T, error) {
	var v T
	err := r.Scan(&v)
	return v, err
}

// Missing reports whether err says that a wanted row is not there.
func Missing(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// List appends values to args and returns the parameters that stand for them,
// to be put after IN: "($3, $4)". Without values it is a list nothing is in.
// SQLite takes 32766 parameters at most.
//
// The last value is repeated until there are 1, 2, 4, 8 and so on: databases
// remember how they run a text, and few lists have the same length.
func List[T any](args *[]any, values []T) string {
	if len(values) == 0 {
		return "(NULL)"
	}
	n := len(values)
	if n <= maxPadded {
		n = 1 << bits.Len(uint(n-1))
	}
	var b strings.Builder
	for i := range n {
		*args = append(*args, values[min(i, len(values)-1)])
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(len(*args)))
	}
	return "(" + b.String() + ")"
}

// maxListed is how many texts [Dialect.TextList] passes one by one on SQLite,
// whose time to read a statement grows with the square of its parameters.
const maxListed = 64

// TextList is [List] for texts that a caller chose, and that may be many.
func (d Dialect) TextList(args *[]any, values []string) string {
	if d != SQLite || len(values) <= maxListed {
		return List(args, values)
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // texts always encode
	}
	*args = append(*args, string(text))
	return "(SELECT value FROM json_each($" + strconv.Itoa(len(*args)) + "))"
}

// maxPadded is how long lists are whose length is rounded up.
const maxPadded = 1024

// Strings returns values of a string type as strings, for [Dialect.TextList].
func Strings[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// Lower returns texts as lower() of the database does, if they are ASCII.
func Lower(values []string) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = strings.ToLower(v)
	}
	return all
}
