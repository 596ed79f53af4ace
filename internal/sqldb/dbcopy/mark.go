package dbcopy

import (
	"context"
	"time"

	"github.com/google/uuid"

	"vigil/internal/fault"
	"vigil/internal/sqldb"
)

// markTable is the table that marks the target of a copy. Its only row has the identity
// of the source, the id of the current run, and the time of completion, or 0.
const markTable = "store_copy"

// begin marks a database as the target of a copy of a source and returns the id of the
// run. It fails with fault.Conflict if the database contains anything else.
func begin(ctx context.Context, db *sqldb.DB, source string) (run string, err error) {
	run = uuid.NewString()
	return run, db.Exclusive(ctx, func(tx *sqldb.Tx) error {
		tables, err := tableNames(tx)
		if err != nil {
			return err
		}
		if len(tables) == 0 {
			if _, err := tx.Exec(`CREATE TABLE ` + markTable + ` (source TEXT NOT NULL, run TEXT NOT NULL, started BIGINT NOT NULL, finished BIGINT NOT NULL)`); err != nil {
				return err
			}
			_, err := tx.Exec(`INSERT INTO `+markTable+` (source, run, started, finished) VALUES ($1, $2, $3, 0)`, source, run, sqldb.Millis(time.Now()))
			return err
		}
		if !contains(tables, markTable) {
			return fault.New(fault.Conflict, "the target has tables and is not a copy; give an empty database")
		}
		n, err := tx.Exec(`UPDATE `+markTable+` SET run = $1, started = $2, finished = 0 WHERE source = $3`, run, sqldb.Millis(time.Now()), source)
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "the target is a copy of another database; give an empty one")
		}
		return err
	})
}

// holdRun fails if another run has taken over the target, and locks the mark until the
// end of the transaction.
func holdRun(tx *sqldb.Tx, run string) error {
	text := `SELECT run FROM ` + markTable
	if tx.Dialect() == sqldb.Postgres {
		text += ` FOR SHARE`
	}
	current, err := sqldb.QueryOne(tx, sqldb.Scalar[string], text)
	if err != nil {
		return err
	}
	if current != run {
		return fault.New(fault.Conflict, "another copy to this target was started in the meantime")
	}
	return nil
}

// finish marks a copy as complete.
func finish(ctx context.Context, db *sqldb.DB, run string) error {
	return db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := holdRun(tx, run); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE `+markTable+` SET finished = $1`, sqldb.Millis(time.Now()))
		return err
	})
}

// Check fails with fault.Conflict if the database is an unfinished copy.
func Check(ctx context.Context, db *sqldb.DB) error {
	return db.Read(ctx, func(tx *sqldb.Tx) error {
		_, err := isFinishedCopy(tx)
		return err
	})
}

// Adopt opens a finished copy for use: it becomes an independent database, which is no
// longer accepted as a target. It fails like [Check] for an unfinished copy. It does
// nothing for other databases.
func Adopt(ctx context.Context, db *sqldb.DB) error {
	if marked, err := db.HasTable(ctx, markTable); err != nil || !marked {
		return err
	}
	return db.Exclusive(ctx, func(tx *sqldb.Tx) error {
		finished, err := isFinishedCopy(tx)
		if err != nil || !finished {
			return err
		}
		_, err = tx.Exec(`DROP TABLE ` + markTable)
		return err
	})
}

// isFinishedCopy returns false for a database that is no copy, and fails with
// fault.Conflict for an unfinished copy.
func isFinishedCopy(tx *sqldb.Tx) (bool, error) {
	if marked, err := tx.HasTable(markTable); err != nil || !marked {
		return false, err
	}
	finished, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT finished FROM `+markTable)
	if err == nil && finished == 0 {
		err = fault.New(fault.Conflict, "a copy to this database was not finished; run vigil admin store copy again")
	}
	return err == nil, err
}
