package sqldb

import "slices"

// A Finisher runs work that is cheaper once at the end of a shared transaction than
// once per writer. It must be comparable.
type Finisher interface {
	// Finish runs the work that was deferred to this finisher. On SQLite that is the
	// work of all writers of the shared transaction, in the order in which they wrote.
	// If Finish fails, the whole transaction is rolled back. It must call neither
	// tx.Defer nor tx.AfterCommit.
	Finish(tx *Tx, work []any) error
}

// deferredWork is one call of Defer.
type deferredWork struct {
	work any
	to   Finisher
}

// Defer gives work to a finisher, which runs it at the end of the transaction.
func (tx *Tx) Defer(work any, to Finisher) {
	tx.deferred = append(tx.deferred, deferredWork{work, to})
}

// Exclusive reports whether no other writer shares the transaction. Only then may the
// writer do immediately what it could defer: in a shared transaction it would overtake
// the deferred work of earlier writers.
func (tx *Tx) Exclusive() bool { return tx.exclusive || tx.db.dialect == Postgres }

// finish calls every finisher once, with all of its work.
func (tx *Tx) finish(all []deferredWork) error {
	for len(all) > 0 {
		to := all[0].to
		// Move the work of this finisher from all to work.
		var work []any
		all = slices.DeleteFunc(all, func(d deferredWork) bool {
			if d.to != to {
				return false
			}
			work = append(work, d.work)
			return true
		})
		if err := to.Finish(tx, work); err != nil {
			return err
		}
	}
	return nil
}
