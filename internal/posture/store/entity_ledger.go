package store

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"vigil/internal/sqldb"
)

// ledgerBits is how many entities one row of the ledger covers, as a power of 2.
const ledgerBits = 6

const entrySize = 2 + len(digest{}) + len(digest{})

// An entry is what the ledger says of one entity.
type entry struct{ id, hash digest }

// readEntries yields the entries of a row of the ledger.
func readEntries(row int64, b []byte) iter.Seq2[int64, entry] {
	return func(yield func(int64, entry) bool) {
		for ; len(b) >= entrySize; b = b[entrySize:] {
			var e entry
			rid := row<<ledgerBits | int64(binary.LittleEndian.Uint16(b))
			copy(e.id[:], b[2:])
			copy(e.hash[:], b[2+len(e.id):])
			if !yield(rid, e) {
				return
			}
		}
	}
}

// A ledgerRow is a row as it is kept.
type ledgerRow struct {
	id      int64
	entries []byte
}

func scanLedger(r sqldb.Row) (row ledgerRow, err error) {
	err = r.Scan(&row.id, &row.entries)
	return row, err
}

// readLedger calls f for every entity of a cell.
func readLedger(tx *sqldb.Tx, cell int64, f func(rid int64, e entry)) error {
	s := cellSpan(cell)
	for row, err := range sqldb.Each(tx, scanLedger, `
		SELECT id, entries
		FROM entity_ledger
		WHERE id BETWEEN $1 AND $2
		ORDER BY id`, s.from>>ledgerBits, s.to>>ledgerBits) {
		if err != nil {
			return err
		}
		for rid, e := range readEntries(row.id, row.entries) {
			f(rid, e)
		}
	}
	return nil
}

// A ledger collects changes to entries and writes the rows that they touch.
type ledger struct {
	tx   *sqldb.Tx
	sets map[int64]map[int64]entry // by row and rid
	dels map[int64]map[int64]bool
}

func newLedger(tx *sqldb.Tx) *ledger {
	return &ledger{tx, map[int64]map[int64]entry{}, map[int64]map[int64]bool{}}
}

func (l *ledger) set(rid int64, e entry) {
	row := rid >> ledgerBits
	if l.sets[row] == nil {
		l.sets[row] = map[int64]entry{}
	}
	l.sets[row][rid] = e
}

func (l *ledger) remove(rid int64) {
	row := rid >> ledgerBits
	if l.dels[row] == nil {
		l.dels[row] = map[int64]bool{}
	}
	l.dels[row][rid] = true
}

// save writes what was collected.
func (l *ledger) save() error {
	touched := map[int64]bool{}
	for row := range l.sets {
		touched[row] = true
	}
	for row := range l.dels {
		touched[row] = true
	}
	rows := slices.Sorted(maps.Keys(touched))
	var saves [][]any
	var empty []int64
	for part := range slices.Chunk(rows, 200) {
		old, err := l.load(part)
		if err != nil {
			return err
		}
		for _, row := range part {
			if b := l.merge(row, old[row]); len(b) > 0 {
				saves = append(saves, []any{row, b})
			} else {
				empty = append(empty, row)
			}
		}
	}
	if len(empty) > 0 {
		if _, err := l.tx.ExecEach(`DELETE FROM entity_ledger WHERE id = $1`, oneEach(empty)); err != nil {
			return err
		}
	}
	_, err := l.tx.ExecEach(`
		INSERT INTO entity_ledger (id, entries)
		VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET entries = excluded.entries`, slices.Values(saves))
	return err
}

// load reads rows as they are.
func (l *ledger) load(ids []int64) (map[int64][]byte, error) {
	var args []any
	rows, err := sqldb.Query(l.tx, scanLedger, `SELECT id, entries FROM entity_ledger WHERE id IN `+sqldb.List(&args, ids), args...)
	old := make(map[int64][]byte, len(rows))
	for _, row := range rows {
		old[row.id] = row.entries
	}
	return old, err
}

// merge returns a row with the changes made.
func (l *ledger) merge(row int64, old []byte) []byte {
	now := make(map[int64]entry, len(old)/entrySize+len(l.sets[row]))
	for rid, e := range readEntries(row, old) {
		now[rid] = e
	}
	for rid := range l.dels[row] {
		delete(now, rid)
	}
	maps.Copy(now, l.sets[row])
	b := make([]byte, 0, len(now)*entrySize)
	for _, rid := range slices.Sorted(maps.Keys(now)) {
		e := now[rid]
		b = binary.LittleEndian.AppendUint16(b, uint16(rid&(1<<ledgerBits-1)))
		b = append(b, e.id[:]...)
		b = append(b, e.hash[:]...)
	}
	return b
}

// oneEach yields each value as the only argument of a statement.
func oneEach[T any](values []T) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, v := range values {
			if !yield([]any{v}) {
				return
			}
		}
	}
}
