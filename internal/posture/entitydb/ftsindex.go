package entitydb

import (
	"cmp"
	"slices"

	"vigil/internal/sqldb"
)

// ftsIndex applies deferred changes to the FTS5 table of SQLite.
//
// The table is contentless: a removal must name the words to remove. Only the words
// that changed are written.
//
// FTS5 buffers changes in memory, and flushes the buffer when another statement runs in
// between and on every row id that is not ascending. Changes are therefore deferred to the end of
// the transaction and applied in the order of row ids, for all of its writers at once.
type ftsIndex struct{}

// An indexChange is the change of the words of a row. FTS5 counts rows and reports
// corruption when more are deleted than were inserted, so an updated row is deleted
// and inserted, each time with only the words that differ.
type indexChange struct {
	rowID           int64
	existed, exists bool // whether the row exists before and after
	removed, added  []token
}

// maxIndexChanges bounds the index changes that a recording collects in memory.
const maxIndexChanges = 4096

// Finish implements [sqldb.Finisher]. Each element of work is an []indexChange.
func (ftsIndex) Finish(tx *sqldb.Tx, work []any) error {
	var all []indexChange
	for _, each := range work {
		all = append(all, each.([]indexChange)...)
	}
	return applyIndexChanges(tx, all)
}

// applyIndexChanges applies changes in the order of row ids; those of one row in the
// order given.
func applyIndexChanges(tx *sqldb.Tx, all []indexChange) error {
	slices.SortStableFunc(all, func(a, b indexChange) int { return cmp.Compare(a.rowID, b.rowID) })
	_, err := tx.ExecEach(`INSERT INTO entity_token (entity_token, rowid, tokens) VALUES ($1, $2, $3)`, func(yield func([]any) bool) {
		for _, c := range all {
			if c.existed && !yield([]any{"delete", c.rowID, ftsText(c.removed)}) {
				return
			}
			if c.exists && !yield([]any{nil, c.rowID, ftsText(c.added)}) {
				return
			}
		}
	})
	return err
}
