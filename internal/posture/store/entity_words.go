package store

import (
	"cmp"
	"slices"

	"vigil/internal/sqldb"
)

// A wordIndex is SQLite's table of tokens, which it takes as words.
//
// It keeps no list of the words of a row: who removes some says which. So only
// what has changed of a row is written.
//
// It collects changes in memory, and writes them out when a statement of another
// kind comes in between, or a row that is before the last one. So they are left to
// the end of the transaction, where those of everybody who shares it come in order.
type wordIndex struct{}

// A wordChange is what becomes of the words of a row. SQLite counts rows, and calls
// itself damaged when more are removed than were added: so a row that stays is
// removed and added, each time with only the words that are not the same.
type wordChange struct {
	rid        int64
	was, is    bool // there
	gone, come []token
}

// A wordRemoval removes the words of all rows that an account had. It finds them
// where they were written down as gone.
type wordRemoval struct {
	part       partition
	generation int64
}

// maxWords is how many changes wait in a recording.
const maxWords = 4096

// Finish implements [sqldb.Finisher]. The work is lists of changes, and removals.
func (wordIndex) Finish(tx *sqldb.Tx, work []any) error {
	var all []wordChange
	for _, each := range work {
		switch each := each.(type) {
		case []wordChange:
			all = append(all, each...)
		case wordRemoval:
			if err := indexWords(tx, all); err != nil {
				return err
			}
			all = nil
			if err := each.run(tx); err != nil {
				return err
			}
		}
	}
	return indexWords(tx, all)
}

// indexWords makes changes in the order of the rows. Those of one row are made as
// they come.
func indexWords(tx *sqldb.Tx, all []wordChange) error {
	slices.SortStableFunc(all, func(a, b wordChange) int { return cmp.Compare(a.rid, b.rid) })
	_, err := tx.ExecEach(`INSERT INTO entity_token (entity_token, rowid, tokens) VALUES ($1, $2, $3)`, func(yield func([]any) bool) {
		for _, c := range all {
			if c.was && !yield([]any{"delete", c.rid, wordsOf(c.gone)}) {
				return
			}
			if c.is && !yield([]any{nil, c.rid, wordsOf(c.come)}) {
				return
			}
		}
	})
	return err
}

// run removes the words of some rows at a time.
func (r wordRemoval) run(tx *sqldb.Tx) error {
	cells, err := sqldb.Query(tx, scanCell, `SELECT `+cellColumns+` FROM entity_cell WHERE acct = $1`, r.part.acct)
	if err != nil {
		return err
	}
	homes := map[int64]home{}
	for _, c := range cells {
		homes[c.id] = c.home(r.part)
	}
	tokens := newTokenizer(tx.Dialect(), r.part.org)
	keys := acctSpan(r.part.acct) // which begin with the number of the account, as rows do
	after := entityRow{ekey: keys.from}
	for {
		rows, err := sqldb.Query(tx, func(r sqldb.Row) (row entityRow, err error) {
			return row, r.Scan(&row.ekey, &row.rid, &row.doc)
		}, `
			SELECT ekey, rid, body
			FROM entity_change
			WHERE (ekey, generation, rid) > ($1, $2, $3) AND ekey <= $4 AND generation = $2 AND gone
			ORDER BY ekey, rid
			LIMIT $5`, after.ekey, r.generation, after.rid, keys.to, maxWords)
		if err != nil || len(rows) == 0 {
			return err
		}
		all := make([]wordChange, len(rows))
		for i, row := range rows {
			all[i] = wordChange{rid: row.rid, was: true}
			if all[i].gone, err = tokens.of(row.doc, homes[cellOf(row.rid)]); err != nil {
				return err
			}
		}
		if err := indexWords(tx, all); err != nil {
			return err
		}
		after = rows[len(rows)-1]
	}
}
