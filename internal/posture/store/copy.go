package store

import (
	"slices"

	"vigil/internal/posture/entitydb"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbcopy"
)

// CopyWriters returns the writers of tables with derived indexes. A copy from another
// database uses them to fill the indexes of the target.
func CopyWriters() []dbcopy.Writer {
	return []dbcopy.Writer{entitydb.CopyWriter(), {Table: "finding", Write: copyFindings}}
}

// CopySkip lists the tables that are not copied: indexes and their build progress.
var CopySkip = []string{entitydb.CopySkip, "finding_gram"}

// copyFindings writes findings and their text index. indexGrams replaces the index
// entries of updated findings.
func copyFindings(tx *sqldb.Tx, changes []dbcopy.Change, writeRows func() error) error {
	if err := writeRows(); err != nil {
		return err
	}
	var deleted, written [][]any
	for _, c := range changes {
		if c.After == nil {
			deleted = append(deleted, []any{c.Before.Value("n")})
		} else {
			written = append(written, []any{c.After.Value("n"), c.After.Value("words")})
		}
	}
	keyColumn := "n"
	if tx.Dialect() == sqldb.SQLite {
		keyColumn = "rowid"
	}
	if _, err := tx.ExecEach(`DELETE FROM finding_gram WHERE `+keyColumn+` = $1`, slices.Values(deleted)); err != nil {
		return err
	}
	return indexGrams(tx, written)
}
