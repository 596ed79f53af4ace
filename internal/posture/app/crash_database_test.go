package app_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/sqldb/dbtest"
)

// TestCrashesOfPostgreSQLLoseNothing repeatedly crashes the database server while
// clients write. Vigil must continue when the database is available again.
func TestCrashesOfPostgreSQLLoseNothing(t *testing.T) {
	t.Parallel()
	stops := crashes(t, "VIGIL_STOPS_POSTGRES", 0, 60)
	if stops == 0 {
		t.Skip("needs its own database server: see make crash")
	}
	db := dbtest.NewServer(t)
	r := &recorder{host: newHost(t, db.URL), accounts: map[string]string{}, removed: map[string]bool{}}
	c, kill := r.start()
	for n := range stops {
		r.outage(c, n, db.Crash, db.Start)
		r.progress(n+1, stops)
	}
	r.check(c)
	kill()
	r.kills = stops
	r.checkDatabase()
}

// outage checks the acknowledged writes, lets clients write, and crashes the database
// server meanwhile.
func (r *recorder) outage(c *client, n int, crash, start func()) {
	r.t.Helper()
	r.check(c)
	r.inProgress = map[string]bool{}
	r.acked = 0
	var finished atomic.Bool
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for j := 0; !finished.Load() && r.write(c, seedOf(n, i, j), i+j); j++ {
				if j > 1000 {
					time.Sleep(10 * time.Millisecond) // without the database, requests fail at once: limit their number
				}
			}
		})
	}
	r.wait("takes no writes", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.acked >= minAcked
	})
	crash()
	finished.Store(true)
	start()
	writers.Wait()
	r.wait("does not go on when the database is back", func() bool {
		status, _, err := c.send("POST", "/v1/cloud-accounts/query", object{})
		return err == nil && status == http.StatusOK
	})
}

// wait waits up to two minutes until done returns true.
func (r *recorder) wait(problem string, done func() bool) {
	r.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("the server %s", problem)
		}
	}
}
