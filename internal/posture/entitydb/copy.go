package entitydb

import (
	"vigil/internal/posture"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbcopy"
)

// CopyWriter returns a writer of entities that are copied from another database. It computes
// their tokens and does not copy them, because each engine indexes entities in its own way.
func CopyWriter() dbcopy.Writer {
	s := New(nil) // without a database: copyRows uses only its transaction
	return dbcopy.Writer{
		Table:   "entity",
		Needs:   []string{"entity_cell", "entity_partition"},
		Columns: []string{"tokens"},
		Write: func(tx *sqldb.Tx, changes []dbcopy.Change, _ func() error) error {
			return s.copyRows(tx, changes)
		},
	}
}

// CopySkip names the table with the progress of [reindex]. It is not copied, because the
// copy builds its own index.
const CopySkip = "entity_retoken"

// copyRows applies changes to the copy. A row that is replaced is removed and inserted.
func (s *Store) copyRows(tx *sqldb.Tx, changes []dbcopy.Change) error {
	var old, current []entityRow
	for _, c := range changes {
		if c.Before != nil {
			old = append(old, copiedRow(c.Before))
		}
		if c.After != nil {
			current = append(current, copiedRow(c.After))
		}
	}
	if tx.Dialect() == sqldb.SQLite { // removing a row from the FTS5 index requires its tokens
		if err := s.tokenize(tx, old); err != nil {
			return err
		}
		for i := range old {
			old[i].oldTokens, old[i].tokens = old[i].tokens, nil
		}
	}
	if err := s.tokenize(tx, current); err != nil {
		return err
	}
	w := rowWriter{tx: tx}
	if err := w.remove(old); err != nil {
		return err
	}
	if err := w.insert(current); err != nil {
		return err
	}
	return w.finish()
}

func copiedRow(r *dbcopy.Row) entityRow {
	return entityRow{
		rowID: r.Value("row_id").(int64), idHash: r.Value("id_hash").(int64),
		created: r.Value("created").(int64), updated: r.Value("updated").(int64), doc: r.Value("doc").([]byte),
	}
}

// tokenize sets the tokens of rows.
func (s *Store) tokenize(tx *sqldb.Tx, rows []entityRow) error {
	contexts, err := s.contextsOf(tx, rows)
	if err != nil {
		return err
	}
	tokenizers := map[int64]*tokenizer{} // by account
	for i, row := range rows {
		accountNo := accountOf(row.rowID)
		if tokenizers[accountNo] == nil {
			org, err := sqldb.QueryOne(tx, sqldb.Scalar[posture.OrgID], `SELECT org FROM entity_partition WHERE account_no = $1`, accountNo)
			if err != nil {
				return err
			}
			tokenizers[accountNo] = newTokenizer(tx.Dialect(), org)
		}
		if rows[i].tokens, err = tokenizers[accountNo].tokenize(row.doc, contexts[cellOf(row.rowID)]); err != nil {
			return err
		}
	}
	return nil
}
