package sqldb

import "slices"

// A Finisher does what is better done once, at the end of a transaction, than by
// each who writes. It is comparable.
type Finisher interface {
	// Finish does everything that was left to it: on SQLite by all who share the
	// transaction, in the order in which they wrote. When it fails, nothing of the
	// transaction is kept. Nothing can be left to the end of tx, nor be done after
	// its commit.
	Finish(tx *Tx, work []any) error
}

// A leftover is some work and who is to do it.
type leftover struct {
	work any
	to   Finisher
}

// Leave leaves work to the end of the transaction.
func (tx *Tx) Leave(work any, to Finisher) { tx.left = append(tx.left, leftover{work, to}) }

// Alone reports whether nobody shares the transaction: who has it need not leave
// anything to its end to keep the order of what was left by others.
func (tx *Tx) Alone() bool { return tx.alone || tx.db.dialect == Postgres }

// finish has everybody do what was left to them.
func (tx *Tx) finish(left []leftover) error {
	for len(left) > 0 {
		to := left[0].to
		var work []any
		left = slices.DeleteFunc(left, func(l leftover) bool {
			if l.to != to {
				return false
			}
			work = append(work, l.work)
			return true
		})
		if err := to.Finish(tx, work); err != nil {
			return err
		}
	}
	return nil
}
