package store

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestCommitsShareTransactions commits while others wait, of which one fails and
// one goes away.
func TestCommitsShareTransactions(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`CREATE TABLE written (n BIGINT NOT NULL)`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		cs, at, bad := newCommits(), posture.AccountRef{Org: "org", Account: "1"}, errors.New("refused")
		insert := func(n int64) func(*sqldb.Tx) error {
			return func(tx *sqldb.Tx) error {
				_, err := tx.Exec(`INSERT INTO written (n) VALUES ($1)`, n)
				if n == 7 {
					err = bad
				}
				return err
			}
		}
		var wg sync.WaitGroup
		errs := make([]error, 40)
		begun, goOn := make(chan struct{}), make(chan struct{})
		wg.Go(func() {
			var once sync.Once
			errs[0] = cs.do(t.Context(), db, at, 1, func(tx *sqldb.Tx) error {
				once.Do(func() { close(begun); <-goOn })
				return insert(0)(tx)
			})
		})
		<-begun
		left, leave := context.WithCancel(t.Context())
		leave()
		if err := cs.do(left, db, at, 1, insert(99)); !errors.Is(err, context.Canceled) {
			t.Errorf("a commit of somebody who left: %v", err)
		}
		for n := 1; n < len(errs); n++ {
			size := 1
			if n%10 == 0 {
				size = maxTogether
			}
			wg.Go(func() { errs[n] = cs.do(t.Context(), db, at, size, insert(int64(n))) })
		}
		waitFor(cs, at, len(errs)-1)
		close(goOn)
		wg.Wait()
		for n, err := range errs {
			if (n == 7) != errors.Is(err, bad) || n != 7 && err != nil {
				t.Errorf("commit %d: %v", n, err)
			}
		}
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			rows, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM written`)
			if err == nil && rows != len(errs)-1 {
				t.Errorf("%d are written, want %d", rows, len(errs)-1)
			}
			return err
		})
		if err != nil || len(cs.accounts) != 0 {
			t.Errorf("%d accounts are left: %v", len(cs.accounts), err)
		}
	})
}

// waitFor returns when n commits wait.
func waitFor(cs *commits, at posture.AccountRef, n int) {
	for {
		cs.mu.Lock()
		waiting := len(cs.accounts[at].waiting)
		cs.mu.Unlock()
		if waiting >= n {
			return
		}
		runtime.Gosched()
	}
}

// TestCommitsThatWaitAreOneTransaction counts the transactions of commits that wait.
func TestCommitsThatWaitAreOneTransaction(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t))
	cs, at := newCommits(), posture.AccountRef{Org: "org", Account: "1"}
	begun, goOn := make(chan struct{}), make(chan struct{})
	txs := map[*sqldb.Tx]bool{}
	var wg sync.WaitGroup
	commit := func(f func()) {
		wg.Go(func() {
			if err := cs.do(t.Context(), db, at, 1, func(tx *sqldb.Tx) error {
				f()
				txs[tx] = true
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	commit(func() { close(begun); <-goOn })
	<-begun
	for range 20 {
		commit(func() {})
	}
	waitFor(cs, at, 20)
	close(goOn)
	wg.Wait()
	if len(txs) != 2 {
		t.Errorf("%d transactions, want the first and one for all that waited", len(txs))
	}
}
