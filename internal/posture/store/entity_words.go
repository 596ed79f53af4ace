package store

import (
	"cmp"
	"iter"
	"slices"

	"vigil/internal/sqldb"
)

// A wordIndex is SQLite's table of tokens, which it takes as words.
//
// It collects changes in memory, and writes them out when a statement of another
// kind comes in between, or a row that is before the last one. So they are left to
// the end of the transaction, where those of everybody who shares it come in order.
type wordIndex struct{}

// A wordChange is what becomes of the words of a row.
type wordChange struct {
	rid   int64
	words any  // nil when they are removed
	fresh bool // there were none
}

// maxWords is how many changes wait in a recording.
const maxWords = 4096

// Finish implements [sqldb.Finisher]. The work is lists of changes, and spans of
// rows that were removed.
func (wordIndex) Finish(tx *sqldb.Tx, work []any) error {
	var all []wordChange
	for _, each := range work {
		switch each := each.(type) {
		case []wordChange:
			all = append(all, each...)
		case span:
			all = slices.DeleteFunc(all, func(c wordChange) bool { return each.from <= c.rid && c.rid <= each.to })
			if _, err := tx.Exec(`DELETE FROM entity_token WHERE rowid BETWEEN $1 AND $2`, each.from, each.to); err != nil {
				return err
			}
		}
	}
	return indexWords(tx, all)
}

// indexWords writes changes in the order of the rows. The last of a row counts.
func indexWords(tx *sqldb.Tx, all []wordChange) error {
	slices.SortStableFunc(all, func(a, b wordChange) int { return cmp.Compare(a.rid, b.rid) })
	var gone []int64
	var stale, fresh []wordChange
	for i, c := range all {
		switch {
		case i+1 < len(all) && all[i+1].rid == c.rid:
		case c.words == nil:
			gone = append(gone, c.rid)
		case c.fresh:
			fresh = append(fresh, c)
		default:
			stale = append(stale, c)
		}
	}
	words := func(c wordChange) []any { return []any{c.rid, c.words} }
	for _, step := range []struct {
		text string
		args iter.Seq[[]any]
	}{
		{`DELETE FROM entity_token WHERE rowid = $1`, oneEach(gone)},
		{`REPLACE INTO entity_token (rowid, tokens) VALUES ($1, $2)`, argsOf(stale, words)},
		{`INSERT INTO entity_token (rowid, tokens) VALUES ($1, $2)`, argsOf(fresh, words)},
	} {
		if _, err := tx.ExecEach(step.text, step.args); err != nil {
			return err
		}
	}
	return nil
}
