package job_test

import (
	"context"
	"sync"
	"testing"

	"vigil/internal/job"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestManyWorkersShareTheWriter has handlers write and insert further jobs,
// while other goroutines insert jobs, all through the one writer that SQLite has.
func TestManyWorkersShareTheWriter(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec("CREATE TABLE mark (job BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL)")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		const n = 100
		done := make(chan struct{}, 2*n)
		q := newQueue(t, db, job.Config{Queues: map[string]int{"default": 20, "other": 20}})
		start(t, q, func(ctx context.Context, j job.Job[greet]) error {
			err := db.Write(ctx, func(tx *sqldb.Tx) error {
				if _, err := tx.Exec("INSERT INTO mark (job, name) VALUES ($1, $2)", j.ID, j.Args.Name); err != nil {
					return err
				}
				if j.Args.Name == "second" {
					return nil
				}
				_, err := q.Insert(tx, greet{"second"}, job.Options{Queue: "other"})
				return err
			})
			if err == nil {
				done <- struct{}{}
			}
			return err
		})
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				for range n / 10 {
					insert(t, db, q, "first", job.Options{})
				}
			})
		}
		wg.Wait()
		for range 2 * n {
			next(t, done)
		}
		waitForState(t, db, map[string]int{"completed": 2 * n})
		err = db.Read(t.Context(), func(tx *sqldb.Tx) error {
			count, err := sqldb.QueryOne(tx, sqldb.Scalar[int], "SELECT count(*) FROM mark WHERE name = 'second'")
			if count != n {
				t.Errorf("%d second jobs were done, want %d", count, n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestManyMigrateAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		var wg sync.WaitGroup
		for range 4 {
			db := dbtest.Open(t, dsn)
			wg.Go(func() {
				if err := job.Migrate(t.Context(), db); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}
