package dbcopy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"iter"
	"math"

	"vigil/internal/sqldb"
)

// A Row is a row of a table.
type Row struct {
	table  *table
	values []any
	code   []byte // encoding of all values, for comparison
}

// Value returns the value of a column: int64, string, []byte, bool, float64 or nil.
func (r *Row) Value(column string) any {
	for i, c := range r.table.columns {
		if c.name == column {
			return r.values[i]
		}
	}
	return nil
}

func (r *Row) equal(other *Row) bool { return bytes.Equal(r.code, other.code) }

// key returns the values of the columns that rows are ordered by.
func (r *Row) key() (key []any) {
	for _, i := range r.table.key {
		key = append(key, r.values[i])
	}
	return key
}

// order compares the keys of two rows in the order of the databases.
func (r *Row) order(other *Row) int {
	for _, i := range r.table.key {
		n := 0
		switch v := r.values[i].(type) {
		case int64:
			n = cmp.Compare(v, other.values[i].(int64))
		case string:
			n = cmp.Compare(v, other.values[i].(string))
		case []byte:
			n = bytes.Compare(v, other.values[i].([]byte))
		}
		if n != 0 {
			return n
		}
	}
	return 0
}

// encode encodes the values so that different rows have different encodings.
func encode(values []any) []byte {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			b = append(b, 'n')
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v))
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(v))
		case bool:
			b = append(b, 'F')
			if v {
				b[len(b)-1] = 'T'
			}
		case string:
			b = append(binary.AppendUvarint(append(b, 's'), uint64(len(v))), v...)
		case []byte:
			b = append(binary.AppendUvarint(append(b, 'b'), uint64(len(v))), v...)
		}
	}
	return b
}

// rows yields the rows of a table in the order of keys.
func (t *table) rows(tx *sqldb.Tx) iter.Seq2[*Row, error] {
	pointers, read := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range read {
		pointers[i] = &read[i]
	}
	return sqldb.Each(tx, func(r sqldb.Row) (*Row, error) {
		if err := r.Scan(pointers...); err != nil {
			return nil, err
		}
		row := &Row{table: t, values: make([]any, len(read))}
		for i, c := range t.columns {
			v, err := c.value(read[i])
			if err != nil {
				return nil, err
			}
			if c.required && v == nil {
				return nil, fmt.Errorf("column %s is null", c.name)
			}
			row.values[i] = v
		}
		row.code = encode(row.values)
		return row, nil
	}, t.selectRows(tx.Dialect()))
}

// A total is the number of rows of a table and a hash over them.
type total struct {
	rows int64
	hash [sha256.Size]byte
}

// A comparison holds the totals of source and target.
type comparison struct{ source, target total }

// compare reads a table of both databases (merge join) and calls visit for every key,
// with nil for a missing row. It does not read an empty table of the target.
func (c *copier) compare(ctx context.Context, source *sqldb.Tx, i int, step string, visit func(targetRow, sourceRow *Row) error) (sum comparison, err error) {
	t := &c.tables[i]
	progress := Progress{Step: step, Table: t.name, Number: i + 1, Tables: len(c.tables)}
	mergeWith := func(target iter.Seq2[*Row, error]) error {
		m := newMerge(t.rows(source), target)
		defer m.stop()
		for {
			targetRow, sourceRow, err := m.next()
			if err != nil {
				return err
			}
			if targetRow == nil && sourceRow == nil {
				sum = comparison{m.source.total(), m.target.total()}
				return nil
			}
			if err := visit(targetRow, sourceRow); err != nil {
				return err
			}
			progress.Rows = m.source.rows
			if c.opts.Progress != nil && progress.Rows%1000 == 1 {
				c.opts.Progress(progress)
			}
		}
	}
	empty, err := t.empty(ctx, c.to)
	if err != nil {
		return sum, err
	}
	if empty {
		// Merge with an empty sequence instead: without a transaction on the target, SQLite
		// can checkpoint its write-ahead log while the table is filled.
		return sum, mergeWith(func(func(*Row, error) bool) {})
	}
	err = c.to.Read(ctx, func(tx *sqldb.Tx) error { return mergeWith(t.rows(tx)) })
	return sum, err
}

// A merge iterates over two ordered sequences of rows.
type merge struct{ source, target *side }

func newMerge(source, target iter.Seq2[*Row, error]) *merge {
	return &merge{newSide(source), newSide(target)}
}

func (m *merge) stop() {
	m.source.stop()
	m.target.stop()
}

// next returns the rows with the next key, or nil at the end.
func (m *merge) next() (targetRow, sourceRow *Row, err error) {
	if sourceRow, err = m.source.peek(); err != nil {
		return nil, nil, fmt.Errorf("read the source: %w", err)
	}
	if targetRow, err = m.target.peek(); err != nil {
		return nil, nil, fmt.Errorf("read the target: %w", err)
	}
	switch {
	case targetRow == nil || sourceRow == nil:
	case sourceRow.order(targetRow) < 0:
		targetRow = nil
	case sourceRow.order(targetRow) > 0:
		sourceRow = nil
	}
	if sourceRow != nil {
		m.source.take()
	}
	if targetRow != nil {
		m.target.take()
	}
	return targetRow, sourceRow, nil
}

// A side is one of the two sequences.
type side struct {
	pull func() (*Row, error, bool)
	stop func()
	next *Row
	end  bool
	rows int64
	sum  hash.Hash
}

func newSide(rows iter.Seq2[*Row, error]) *side {
	s := &side{sum: sha256.New()}
	s.pull, s.stop = iter.Pull2(rows)
	return s
}

// peek returns the next row without consuming it, or nil at the end.
func (s *side) peek() (*Row, error) {
	if s.next != nil || s.end {
		return s.next, nil
	}
	row, err, ok := s.pull()
	s.end = !ok
	if err != nil {
		return nil, err
	}
	s.next = row
	return row, nil
}

// take consumes the next row.
func (s *side) take() {
	s.rows++
	s.sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s.next.code))))
	s.sum.Write(s.next.code)
	s.next = nil
}

func (s *side) total() total { return total{s.rows, [sha256.Size]byte(s.sum.Sum(nil))} }
