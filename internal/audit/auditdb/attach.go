package auditdb

import (
	"context"

	"vigil/internal/audit"
	"vigil/internal/sqldb"
)

// Attach implements [audit.Store].
func (s *Store) Attach(ctx context.Context, a audit.Attachment, chain func(audit.Head, []audit.Record) ([]audit.Entry, error), committed func(audit.Entry)) context.Context {
	to := &appender{chain: chain}
	return sqldb.WithCommitHook(ctx, func(tx *sqldb.Tx) error {
		r, hasRecord := a.Record()
		if !hasRecord || !tx.On(s.db) {
			return nil
		}
		// Finish runs just before the commit, so that it locks the end of the chain only
		// briefly. On SQLite, it chains the records of all changes that share the
		// transaction, with one signature.
		tx.Defer(work{r, to}, finisher{s})
		tx.AfterCommit(func() {
			committed(to.last)
			a.Committed()
		})
		return nil
	})
}

// appender chains records for one log.
type appender struct {
	chain func(audit.Head, []audit.Record) ([]audit.Entry, error)
	last  audit.Entry // the last one of the transaction, which has the signature
}

// work is one record with the appender that chains it.
type work struct {
	record audit.Record
	to     *appender
}

// finisher appends the records of a transaction.
type finisher struct{ store *Store }

// Finish implements [sqldb.Finisher].
func (f finisher) Finish(tx *sqldb.Tx, deferred []any) error {
	e, err := lockEnds(tx)
	if err != nil {
		return err
	}
	records := make([]audit.Record, len(deferred))
	for i, d := range deferred {
		records[i] = d.(work).record
	}
	// Any appender will do: all work is for the same log, because a store has only one.
	entries, err := deferred[0].(work).to.chain(e.head, records)
	if err != nil {
		return err
	}
	for _, d := range deferred {
		d.(work).to.last = entries[len(entries)-1]
	}
	return insert(tx, entries)
}
