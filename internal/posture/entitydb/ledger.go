package entitydb

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"vigil/internal/sqldb"
)

// The ledger holds the hashes of id and document of every entity, so that a
// collection is compared with the stored entities without reading their documents.
// One row covers 1<<ledgerBits neighbouring entities.
const ledgerBits = 6

// An encoded entry is the position within the ledger row and the two hashes.
const entrySize = 2 + len(digest{}) + len(digest{})

// An entry holds the hashes of one entity.
type entry struct{ id, hash digest }

// readEntries yields the entries of a row of the ledger.
func readEntries(row int64, b []byte) iter.Seq2[int64, entry] {
	return func(yield func(int64, entry) bool) {
		for ; len(b) >= entrySize; b = b[entrySize:] {
			var e entry
			rowID := row<<ledgerBits | int64(binary.LittleEndian.Uint16(b))
			copy(e.id[:], b[2:])
			copy(e.hash[:], b[2+len(e.id):])
			if !yield(rowID, e) {
				return
			}
		}
	}
}

// A ledgerRow is a row of table entity_ledger.
type ledgerRow struct {
	id      int64
	entries []byte
}

func scanLedger(r sqldb.Row) (row ledgerRow, err error) {
	err = r.Scan(&row.id, &row.entries)
	return row, err
}

// readLedger calls f for every entity of a cell, in the order of row ids.
func readLedger(tx *sqldb.Tx, cell int64, f func(rowID int64, e entry) error) error {
	s := cellSpan(cell)
	args := []any{s.from >> ledgerBits, s.to >> ledgerBits}
	where := inAccount(tx, &args, cell>>cellBits)
	for row, err := range sqldb.Each(tx, scanLedger, `
		SELECT id, entries
		FROM entity_ledger
		WHERE id BETWEEN $1 AND $2`+where+`
		ORDER BY id`, args...) {
		if err != nil {
			return err
		}
		for rowID, e := range readEntries(row.id, row.entries) {
			if err := f(rowID, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// A ledger batches changes of entries of one account by ledger row.
type ledger struct {
	tx      *sqldb.Tx
	changes []ledgerChange
}

// A ledgerChange sets or removes an entry.
type ledgerChange struct {
	rowID   int64
	removed bool
	entry
}

func byRow(a, b ledgerChange) int { return cmp.Compare(a.rowID, b.rowID) }

// maxChanges bounds the changes in memory.
const maxChanges = 64 << ledgerBits

func (l *ledger) set(rowID int64, e entry) error {
	return l.change(ledgerChange{rowID: rowID, entry: e})
}

func (l *ledger) remove(rowID int64) error {
	return l.change(ledgerChange{rowID: rowID, removed: true})
}

func (l *ledger) change(c ledgerChange) error {
	l.changes = append(l.changes, c)
	if len(l.changes) < maxChanges {
		return nil
	}
	return l.save()
}

// save merges the batched changes into their rows.
func (l *ledger) save() error {
	slices.SortStableFunc(l.changes, byRow)
	var rows []int64
	for _, c := range l.changes {
		rows = append(rows, c.rowID>>ledgerBits)
	}
	rows = slices.Compact(rows)
	old, err := l.load(rows)
	if err != nil {
		return err
	}
	var added, changed, empty [][]any
	rest := l.changes
	for _, row := range rows {
		n := 0
		for n < len(rest) && rest[n].rowID>>ledgerBits == row {
			n++
		}
		was, exists := old[row]
		switch b := mergeEntries(row, was, rest[:n]); {
		case len(b) == 0:
			empty = append(empty, []any{row})
		case exists:
			changed = append(changed, []any{row, b})
		default:
			added = append(added, []any{row, b})
		}
		rest = rest[n:]
	}
	l.changes = l.changes[:0]
	if len(empty) > 0 {
		if err := execEach(l.tx, `DELETE FROM entity_ledger WHERE id = $1`, ledgerShift, slices.Values(empty)); err != nil {
			return err
		}
	}
	if len(changed) > 0 {
		if err := execEach(l.tx, `UPDATE entity_ledger SET entries = $2 WHERE id = $1`, ledgerShift, slices.Values(changed)); err != nil {
			return err
		}
	}
	if len(added) == 0 {
		return nil
	}
	return load(l.tx, "entity_ledger", []string{"id", "entries"}, ledgerShift, slices.Values(added))
}

// load returns the stored rows.
func (l *ledger) load(ids []int64) (map[int64][]byte, error) {
	old := make(map[int64][]byte)
	for part := range slices.Chunk(ids, 200) {
		var args []any
		where := `id IN ` + sqldb.List(&args, part) + inAccount(l.tx, &args, part[0]>>ledgerShift)
		rows, err := sqldb.Query(l.tx, scanLedger, `SELECT id, entries FROM entity_ledger WHERE `+where, args...)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			old[row.id] = row.entries
		}
	}
	return old, nil
}

// mergeEntries returns a row with sorted changes applied. The last change of an entry
// wins.
func mergeEntries(row int64, old []byte, changes []ledgerChange) []byte {
	b := make([]byte, 0, len(old)+len(changes)*entrySize)
	put := func(c ledgerChange) {
		if c.removed {
			return
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(c.rowID&(1<<ledgerBits-1)))
		b = append(b, c.id[:]...)
		b = append(b, c.hash[:]...)
	}
	upTo := func(rowID int64) { // applies the changes of entities up to a row id
		for ; len(changes) > 0 && changes[0].rowID <= rowID; changes = changes[1:] {
			if len(changes) == 1 || changes[1].rowID != changes[0].rowID {
				put(changes[0])
			}
		}
	}
	for rowID, e := range readEntries(row, old) {
		upTo(rowID - 1)
		if len(changes) == 0 || changes[0].rowID != rowID {
			put(ledgerChange{rowID: rowID, entry: e})
		}
		upTo(rowID)
	}
	upTo((row + 1) << ledgerBits)
	return b
}
