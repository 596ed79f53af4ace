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
func copyFindings(tx *sqldb.Tx, changes []dbcopy.Change, writeRows func() error) error {
	if err := writeRows(); err != nil {
		return err
	}
	var removed, added [][]any
	for _, c := range changes {
		if c.Is == nil {
			removed = append(removed, []any{c.Was.Value("n")})
		} else {
			added = append(added, []any{c.Is.Value("n"), c.Is.Value("words")})
		}
	}
	key := "n"
	if tx.Dialect() == sqldb.SQLite {
		key = "rowid"
	}
	if _, err := tx.ExecEach(`DELETE FROM finding_gram WHERE `+key+` = $1`, slices.Values(removed)); err != nil {
		return err
	}
	return indexGrams(tx, added)
}
