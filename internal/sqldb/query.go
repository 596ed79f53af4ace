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

// Row is the row that a scan function reads.
type Row interface {
	Scan(dest ...any) error
}

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(text string, args ...any) (n int64, err error) {
	end := tx.observe(text, args)
	defer func() { end(err) }()
	res, err := tx.tx.ExecContext(tx.ctx, text, args...)
	if err != nil {
		return 0, classify(err)
	}
	n, err = res.RowsAffected()
	return n, classify(err)
}

// QueryRow runs a query that returns at most one row. Scan fails with [sql.ErrNoRows]
// if there is none.
func (tx *Tx) QueryRow(text string, args ...any) Row {
	end := tx.observe(text, args)
	return row{tx.tx.QueryRowContext(tx.ctx, text, args...), end}
}

type row struct {
	*sql.Row
	end func(error)
}

func (r row) Scan(dest ...any) error {
	err := classify(r.Row.Scan(dest...))
	r.end(err)
	return err
}

// Each runs a query and yields its rows as they arrive. The transaction cannot run
// another statement before the loop ends. The loop ends after an error.
func Each[T any](tx *Tx, scan func(Row) (T, error), text string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		var err error
		end := tx.observe(text, args)
		defer func() { end(err) }()
		rows, err := tx.tx.QueryContext(tx.ctx, text, args...)
		if err != nil {
			yield(zero, classify(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var v T
			if v, err = scan(rows); err != nil {
				yield(zero, classify(err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err = rows.Err(); err != nil {
			yield(zero, classify(err))
		}
	}
}

// Query runs a query and returns its rows, each read by scan. Without rows it returns
// an empty slice, not nil.
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

// QueryOne runs a query and returns its first row. It fails with [sql.ErrNoRows] if
// there is none; the caller decides whether that is a fault.NotFound.
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

// Missing reports whether err means that a row does not exist.
func Missing(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// List appends values to args and returns the parameter list for them, to be put after
// IN: "($3, $4)". For no values it returns "(NULL)", with which neither IN nor NOT IN is
// true. SQLite allows at most 32766 parameters.
//
// The last value is repeated until the length is a power of two, so that fewer distinct
// statements occur and the databases reuse their prepared ones.
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

// maxListed is the longest list that [Dialect.TextList] passes as parameters on SQLite,
// whose parsing time grows with the square of their number.
const maxListed = 64

// TextList is [List] for texts from requests, of which there may be many. On SQLite it
// passes long lists as one JSON array.
func (d Dialect) TextList(args *[]any, values []string) string {
	if d != SQLite || len(values) <= maxListed {
		return List(args, values)
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // strings always encode
	}
	*args = append(*args, string(text))
	return "(SELECT value FROM json_each($" + strconv.Itoa(len(*args)) + "))"
}

// maxPadded is the longest list that is padded to a power of two.
const maxPadded = 1024

// Strings returns values of a string type as strings, for [Dialect.TextList].
func Strings[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// Lower returns the texts with ASCII letters in lower case, like lower() of both databases.
func Lower(values []string) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, v)
	}
	return all
}
