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
// FTS5 buffers changes in memory and flushes the buffer on every other statement and
// on every row id that is not ascending. Changes are therefore deferred to the end of
// the transaction and applied in the order of row ids, for all of its writers at once.
type ftsIndex struct{}

// An indexChange is the change of the words of a row. FTS5 counts rows and reports
// corruption when more are deleted than were inserted, so an updated row is deleted
// and inserted, each time with only the words that differ.
type indexChange struct {
	rowID      int64
	was, is    bool // whether the row exists before and after
	gone, come []token
}

// An accountIndexRemoval removes the words of all rows of a removed account. The rows
// are read from the change log, which has them as deleted.
type accountIndexRemoval struct {
	part       partition
	generation int64
}

// maxIndexChanges bounds the index changes that a recording collects in memory.
const maxIndexChanges = 4096

// Finish implements [sqldb.Finisher]. The work is []indexChange or accountIndexRemoval.
func (ftsIndex) Finish(tx *sqldb.Tx, work []any) error {
	var all []indexChange
	for _, each := range work {
		switch each := each.(type) {
		case []indexChange:
			all = append(all, each...)
		case accountIndexRemoval:
			if err := applyIndexChanges(tx, all); err != nil {
				return err
			}
			all = nil
			if err := each.run(tx); err != nil {
				return err
			}
		}
	}
	return applyIndexChanges(tx, all)
}

// applyIndexChanges applies changes in the order of row ids; those of one row in the
// order given.
func applyIndexChanges(tx *sqldb.Tx, all []indexChange) error {
	slices.SortStableFunc(all, func(a, b indexChange) int { return cmp.Compare(a.rowID, b.rowID) })
	_, err := tx.ExecEach(`INSERT INTO entity_token (entity_token, rowid, tokens) VALUES ($1, $2, $3)`, func(yield func([]any) bool) {
		for _, c := range all {
			if c.was && !yield([]any{"delete", c.rowID, ftsText(c.gone)}) {
				return
			}
			if c.is && !yield([]any{nil, c.rowID, ftsText(c.come)}) {
				return
			}
		}
	})
	return err
}

// run removes the words in batches.
func (r accountIndexRemoval) run(tx *sqldb.Tx) error {
	cells, err := sqldb.Query(tx, scanCell, `SELECT `+cellColumns+` FROM entity_cell WHERE account_no = $1`, r.part.accountNo)
	if err != nil {
		return err
	}
	contexts := map[int64]cellContext{}
	for _, c := range cells {
		contexts[c.id] = c.contextIn(r.part)
	}
	tokens := newTokenizer(tx.Dialect(), r.part.org)
	keys := accountSpan(r.part.accountNo) // id hashes begin with the account number, as row ids do
	after := entityRow{idHash: keys.from}
	for {
		rows, err := sqldb.Query(tx, func(r sqldb.Row) (row entityRow, err error) {
			return row, r.Scan(&row.idHash, &row.rowID, &row.doc)
		}, `
			SELECT id_hash, row_id, body
			FROM entity_change
			WHERE (id_hash, generation, row_id) > ($1, $2, $3) AND id_hash <= $4 AND generation = $2 AND gone
			ORDER BY id_hash, row_id
			LIMIT $5`, after.idHash, r.generation, after.rowID, keys.to, maxIndexChanges)
		if err != nil || len(rows) == 0 {
			return err
		}
		all := make([]indexChange, len(rows))
		for i, row := range rows {
			all[i] = indexChange{rowID: row.rowID, was: true}
			if all[i].gone, err = tokens.of(row.doc, contexts[cellOf(row.rowID)]); err != nil {
				return err
			}
		}
		if err := applyIndexChanges(tx, all); err != nil {
			return err
		}
		after = rows[len(rows)-1]
	}
}
