package main

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"vigil/internal/sqldb"
)

// loadBulk records all accounts, two at a time, so that one is generated while
// another is written. PostgreSQL builds its indexes afterwards. The resulting database
// is the same as after collections.
func (b *bench) loadBulk(ctx context.Context) (err error) {
	restore, err := b.dropIndexes(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	for _, a := range b.accounts {
		if err := b.onboard(ctx, a); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	var count atomic.Int64
	for _, a := range b.accounts {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil // another goroutine has failed
			}
			n, _, err := b.record(ctx, a)
			count.Add(int64(n))
			return err
		})
	}
	err = group.Wait()
	b.count += int(count.Load())
	return err
}

// dropIndexes drops the indexes of entities in PostgreSQL and returns a function
// that creates them again.
func (b *bench) dropIndexes(ctx context.Context) (restore func() error, err error) {
	if b.db.Dialect() != sqldb.Postgres {
		return func() error { return nil }, nil
	}
	var definitions []string
	err = b.db.Write(ctx, func(tx *sqldb.Tx) error {
		if definitions, err = sqldb.Query(tx, sqldb.Scalar[string], `
			SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexname IN ('entity_token', 'entity_ekey')`); err != nil {
			return err
		}
		_, err := tx.Exec(`DROP INDEX entity_token, entity_ekey`)
		return err
	})
	return func() error {
		return b.db.Write(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec(setIndexMemory); err != nil {
				return err
			}
			for _, text := range definitions {
				if _, err := tx.Exec(text); err != nil {
					return err
				}
			}
			return nil
		})
	}, err
}

// setIndexMemory lets PostgreSQL build indexes in memory, for one transaction.
const setIndexMemory = `SET LOCAL maintenance_work_mem = '1GB'`
