package graphcache_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb/dbtest"
)

// process is the part of a server that reads and writes entities, with a pool of
// connections and a cache of its own.
type process struct {
	store  *store.Store
	graphs *graphcache.Graphs
}

// perCommit is the number of entities of the test's account. Each commit changes all.
const perCommit = 50

// TestTortureCachesOfTwoProcesses changes an account through two processes and reads its
// graph in both. A read must see every change that was acknowledged before it began, and must
// not return an older generation than a read that ended before it began. With VIGIL_TORTURE
// the test changes 1,000 entities a second for a minute.
func TestTortureCachesOfTwoProcesses(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		processes := newProcesses(t, dsn)
		commits, pace := 20, time.Duration(0)
		if os.Getenv("VIGIL_TORTURE") != "" {
			commits, pace = 1200, time.Second*perCommit/1000
		}
		var acknowledged, generation, reads atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		defer readers.Wait() // also if the writer fails: readers must not report errors after the test
		defer stop()
		for i := range 4 {
			readers.Go(func() {
				for ctx.Err() == nil {
					round, newest := acknowledged.Load(), generation.Load()
					got, err := processes[i%2].graphs.Graph(t.Context(), ref.Org, ref.Account)
					if err != nil {
						t.Error(err)
						return
					}
					if got.Generation < newest {
						t.Errorf("process %d: generation %d after %d", i%2, got.Generation, newest)
					}
					if seen := roundOf(t, got); seen < round {
						t.Errorf("process %d: the graph has change %d, and %d was acknowledged", i%2, seen, round)
					}
					raise(&generation, got.Generation)
					reads.Add(1)
					time.Sleep(time.Millisecond) // leaves the processors to the writer
				}
			})
		}
		begin := time.Now()
		for n := int64(1); n <= int64(commits) && !t.Failed(); n++ {
			processes[n%2].change(t, n)
			acknowledged.Store(n)
			time.Sleep(time.Until(begin.Add(time.Duration(n) * pace)))
		}
		elapsed := time.Since(begin)
		stop()
		readers.Wait()
		t.Logf("%.0f changes and %.0f reads a second for %s", float64(commits*perCommit)/elapsed.Seconds(), float64(reads.Load())/elapsed.Seconds(), elapsed.Round(time.Millisecond))
		if reads.Load() == 0 {
			t.Error("no graph was read")
		}
	})
}

// newProcesses returns two processes on one database with one account.
func newProcesses(t *testing.T, dsn string) (all [2]process) {
	t.Helper()
	for i := range all {
		db := dbtest.Open(t, dsn)
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		s := store.New(db, secrettest.NewBox(t), nil)
		all[i] = process{s, graphcache.New(s, graphcache.Options{})}
	}
	now := time.Now()
	err := all[0].store.Onboard(t.Context(), ref.Org, func(tx posture.OnboardingTx) error {
		a := posture.Account{ID: ref.Account, Provider: posture.AWS, Name: "a"}
		return tx.AddAccount(a.WithStream(posture.StreamDisconnected, now).WithStatus(posture.AccountActive, "", now))
	})
	if err != nil {
		t.Fatal(err)
	}
	all[0].change(t, 0)
	return all
}

// change saves all entities of the account with the number of the change.
func (p process) change(t *testing.T, n int64) {
	t.Helper()
	scope := posture.Scope{Org: ref.Org, Account: ref.Account, Type: "AWS.S3.Bucket", Region: "us-east-1"}
	var es []posture.Entity
	for i := range perCommit {
		name := fmt.Sprintf("bucket-%d", i)
		es = append(es, posture.Entity{
			ID: scope.Type.ID(ref.Account, scope.Region, name), Name: name, Type: scope.Type, Service: scope.Type.Service(), Provider: posture.AWS, Account: ref.Account, Region: scope.Region,
			Properties: []posture.Property{posture.Text("change", fmt.Sprint(n))},
		})
	}
	if err := p.store.Replace(t.Context(), scope, posture.ChangeOrigin{}, es, nil); err != nil {
		t.Fatal(err)
	}
}

// roundOf returns the number of the change that a graph has, which must be the same for
// all entities.
func roundOf(t *testing.T, g graphcache.Graph) int64 {
	t.Helper()
	numbers := map[int64]int{}
	for _, v := range g.Vertices() {
		for _, p := range g.Record(v).Properties {
			var n int64
			if p.Key == "change" {
				if _, err := fmt.Sscan(fmt.Sprint(p.Value), &n); err != nil {
					t.Errorf("property %v: %v", p.Value, err)
				}
				numbers[n]++
			}
		}
	}
	for n, count := range numbers {
		if count == perCommit {
			return n
		}
	}
	t.Errorf("generation %d has entities of several changes: %v", g.Generation, numbers)
	return -1
}

// raise sets a number to n, unless the number is higher already.
func raise(number *atomic.Int64, n int64) {
	for old := number.Load(); n > old && !number.CompareAndSwap(old, n); old = number.Load() {
	}
}
