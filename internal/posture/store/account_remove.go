package store

import (
	"context"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitydb"
	"vigil/internal/sqldb"
)

// The findings of a removed account are resolved in the transaction that removes it, up
// to resolvedAtOnce. The others are resolved in batches afterwards, like the entities
// of large accounts.
const (
	resolvedAtOnce = 2000
	resolvedBatch  = 500
)

// RemoveAccount implements [posture.OnboardingTx].
func (t *onboardTx) RemoveAccount(id posture.AccountID) error {
	now, ref := t.store.now(), posture.AccountRef{Org: t.org, Account: id}
	// This call is for its lock: it waits for a judgement that is being recorded, and blocks
	// others until the end of the transaction.
	if err := supersedeJudgements(t.tx, ref, 0); err != nil {
		return err
	}
	more, err := removeFindings(t.tx, t.org, id, now, resolvedAtOnce)
	if err != nil {
		return err
	}
	pending, err := entitydb.RemoveAccount(t.tx, ref, sqldb.Millis(now), more)
	if err != nil {
		return err
	}
	generation, err := entitydb.GenerationOf(t.tx, ref)
	if err != nil {
		return err
	}
	// Make judgements of the removed entities stale.
	if err := supersedeJudgements(t.tx, ref, generation); err != nil {
		return err
	}
	for more && !pending && err == nil { // the account was never collected, so that no job removes the rest
		more, err = removeFindings(t.tx, t.org, id, now, resolvedAtOnce)
	}
	if err != nil {
		return err
	}
	if pending && t.store.jobs != nil { // benchmarks have no queue
		if err := t.store.jobs.Remove(t.tx, t.org, id); err != nil {
			return err
		}
	}
	if err := abandonRun(t.tx, t.org, id, now); err != nil {
		return err
	}
	_, err = t.tx.Exec(`DELETE FROM account WHERE org = $1 AND id = $2`, t.org, id)
	return err
}

// supersedeJudgements makes judgements of an account stale: those that were evaluated on an
// earlier generation of its entities than the given one, and those that are incremental to an
// earlier judgement. It locks the account's judgements until the end of the transaction, as
// recordJudgement does.
func supersedeJudgements(tx *sqldb.Tx, ref posture.AccountRef, generation int64) error {
	_, err := tx.Exec(`
		INSERT INTO judged (org, account, generation, serial)
		VALUES ($1, $2, $3, 1)
		ON CONFLICT (org, account) DO UPDATE
		SET generation = CASE WHEN judged.generation < excluded.generation THEN excluded.generation ELSE judged.generation END,
			serial = judged.serial + 1`, ref.Org, ref.Account, generation)
	return err
}

// RemoveSome removes a batch of the remaining data of a large removed account: it
// resolves open findings and moves entities to the change log. It returns false if
// nothing is left.
func (s *Store) RemoveSome(ctx context.Context, org posture.OrgID, id posture.AccountID) (more bool, err error) {
	ref := posture.AccountRef{Org: org, Account: id}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		more, err = entitydb.Removing(tx, ref)
		if err != nil || !more {
			return err
		}
		more, err = removeFindings(tx, org, id, s.now(), resolvedBatch)
		if err != nil || more {
			return err
		}
		more, err = entitydb.RemoveSome(tx, ref)
		return err
	})
	return more, err
}

// removeRest removes the remaining data of an account that was removed and added again,
// so that it can be collected.
func (s *Store) removeRest(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	remaining := false
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		remaining, err = entitydb.Removing(tx, posture.AccountRef{Org: org, Account: id})
		return err
	})
	for remaining && err == nil {
		remaining, err = s.RemoveSome(ctx, org, id)
	}
	return err
}

// Begin implements [collect.Recorder].
func (s *Store) Begin(ctx context.Context, scope collect.Scoped) (collect.Recording, error) {
	if err := s.removeRest(ctx, scope.Org, scope.Account); err != nil {
		return nil, err
	}
	return s.Store.Begin(ctx, scope)
}

// RemovePieces calls [Store.RemoveSome] until nothing is left or the time limit has
// passed. It returns true if there is more.
func (s *Store) RemovePieces(ctx context.Context, org posture.OrgID, id posture.AccountID, within time.Duration) (more bool, err error) {
	for until := time.Now().Add(within); ; {
		more, err = s.RemoveSome(ctx, org, id)
		if err != nil || !more || time.Now().After(until) {
			return more, err
		}
	}
}
