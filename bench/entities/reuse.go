package main

import (
	"context"
	"slices"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/entitygen"
	"vigil/internal/sqldb"
)

// reuse uses the database of an earlier run. It undoes what the parts (benchmarks; see -only) of that run changed,
// counts the entities, and fills the plain table if that run did not and a selected part compares
// with it.
func (b *bench) reuse(ctx context.Context) error {
	if err := b.removeAdded(ctx); err != nil {
		return err
	}
	if b.o.isSelected("upsert") || b.o.needsPlain() {
		// An earlier run changed the entities. Restore their first revision, which is in the plain
		// table and of which the next collection changes exactly the share of the flag -changed.
		if _, _, err := b.record(ctx, b.accounts...); err != nil {
			return err
		}
	}
	var hasPlain bool // its indexes are created when all rows are in it
	if err := b.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		if b.count, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT CAST(sum(count) AS BIGINT) FROM entity_tally`); err != nil {
			return err
		}
		hasPlain, err = sqldb.QueryOne(tx, sqldb.Scalar[bool], `SELECT EXISTS (SELECT 1 FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'plain_name')`)
		return err
	}); err != nil {
		return err
	}
	printf("found %d entities\n", b.count)
	if hasPlain || !b.o.needsPlain() {
		return nil
	}
	if err := b.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`TRUNCATE plain_entity`) // the rows of an interrupted run
		return err
	}); err != nil {
		return err
	}
	return b.loadPlain(ctx)
}

// removeAdded removes the accounts that the parts upsert and readers of an earlier run added.
func (b *bench) removeAdded(ctx context.Context) error {
	var ids []string
	err := b.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		ids, err = sqldb.Query(tx, sqldb.Scalar[string], `SELECT id FROM account WHERE org = $1`, string(org))
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		id := posture.AccountID(id)
		if slices.ContainsFunc(b.accounts, func(a entitygen.Account) bool { return a.ID == id }) {
			continue
		}
		if err := b.store.Onboard(ctx, org, func(tx posture.OnboardingTx) error { return tx.RemoveAccount(id) }); err != nil {
			return err
		}
		for more := true; more; {
			if more, err = b.store.RemovePieces(ctx, org, id, time.Minute); err != nil {
				return err
			}
		}
	}
	return nil
}
