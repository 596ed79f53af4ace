package store

import (
	"slices"

	"vigil/internal/posture/entitydb"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbcopy"
)

// CopyWriters returns the writers of tables with derived indexes, for copies from
// another database.
func CopyWriters() []dbcopy.Writer {
	return []dbcopy.Writer{entitydb.CopyWriter(), {Table: "finding", Write: copyFindings}}
}

// CopySkip lists the tables that are not copied: indexes and their build progress.
var CopySkip = []string{entitydb.CopySkip, "finding_gram"}

// copyFindings writes findings and their text index.
func copyFindings(tx *sqldb.Tx, changes []dbcopy.Change, plain func() error) error {
	if err := plain(); err != nil {
		return err
	}
	var gone, come [][]any
	for _, c := range changes {
		if c.Is == nil {
			gone = append(gone, []any{c.Was.Value("n")})
		} else {
			come = append(come, []any{c.Is.Value("n"), c.Is.Value("words")})
		}
	}
	key := "n"
	if tx.Dialect() == sqldb.SQLite {
		key = "rowid"
	}
	if _, err := tx.ExecEach(`DELETE FROM finding_gram WHERE `+key+` = $1`, slices.Values(gone)); err != nil {
		return err
	}
	return indexGrams(tx, come)
}
