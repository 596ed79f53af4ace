package sqldb

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"modernc.org/sqlite"
)

// Visit runs a query of two columns, a BIGINT and bytes, and calls f for every row
// until it fails. The bytes are valid until f returns. f must not use the transaction.
//
// It is for queries that read very many rows: on SQLite f is called from within the
// query, which takes a third of the time of fetching rows.
func (tx *Tx) Visit(f func(id int64, data []byte) error, text string, args ...any) error {
	v := &visit{f: f}
	err := v.run(tx, text, args)
	if v.thrown != nil {
		panic(v.thrown)
	}
	if v.err != nil {
		return v.err
	}
	return err
}

// A visit is the state of one call of Visit.
type visit struct {
	f      func(int64, []byte) error
	err    error
	thrown any // the value that f panicked with; a panic must not unwind through the drivers
}

func (v *visit) run(tx *Tx, text string, args []any) (err error) {
	if tx.db.dialect == Postgres {
		end := tx.observe(text, args)
		defer func() { end(err) }()
		return classify(tx.raw(func(c *pgx.Conn) error { return visitRaw(tx.ctx, c, v.call, text, args) }))
	}
	number := visits.Add(1)
	visiting.Store(number, v)
	defer visiting.Delete(number)
	// The aggregate function vigil_visit calls v.call for each row, and returns NULL.
	_, err = QueryOne(tx, Scalar[*int64], fmt.Sprintf(`
		WITH vigil_rows(id, data) AS (%s) SELECT vigil_visit($%d, id, data) FROM vigil_rows`, text, len(args)+1), append(args, number)...)
	return err
}

func (v *visit) call(id int64, data []byte) (err error) {
	defer func() {
		v.thrown = recover()
		if v.thrown != nil {
			err = fmt.Errorf("panic: %v", v.thrown)
		}
	}()
	v.err = v.f(id, data)
	return v.err
}

// visitRaw calls f for rows as they arrive from the server.
func visitRaw(ctx context.Context, c *pgx.Conn, f func(int64, []byte) error, text string, args []any) error {
	rows, err := c.Query(ctx, text, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		v := rows.RawValues()
		if len(v) != 2 || len(v[0]) != 8 {
			return errors.New("Visit needs the columns BIGINT and BYTEA")
		}
		if err := f(int64(binary.BigEndian.Uint64(v[0])), v[1]); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A SQLite function is registered for all connections of the process, so it finds its
// visit in a table of the process.
var (
	visits   atomic.Int64
	visiting sync.Map // of *visit by number
)

func init() {
	sqlite.MustRegisterFunction("vigil_visit", &sqlite.FunctionImpl{
		NArgs: 3, VolatileArgs: true,
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return new(visitor), nil },
	})
}

// A visitor is the aggregate function vigil_visit in one run of a query.
type visitor struct{ visit *visit }

func (v *visitor) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if v.visit == nil {
		found, ok := visiting.Load(args[0])
		if !ok {
			return fmt.Errorf("there is no visit %v", args[0])
		}
		v.visit = found.(*visit)
	}
	id, _ := args[1].(int64)
	data, _ := args[2].([]byte)
	return v.visit.call(id, data)
}

func (v *visitor) WindowInverse(*sqlite.FunctionContext, []driver.Value) error { return nil }

func (v *visitor) WindowValue(*sqlite.FunctionContext) (driver.Value, error) { return nil, nil }

func (v *visitor) Final(*sqlite.FunctionContext) {}
