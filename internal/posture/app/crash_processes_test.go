package app_test

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/sqldb/dbtest"
)

// killEvery is the time between two kills of a process.
const killEvery = 2 * time.Second

// TestKillsOfProcessesLoseNothing kills one of three processes on one PostgreSQL
// database every two seconds, while clients change accounts and send queries,
// collections run and events arrive. Every request is answered by some process, every
// acknowledged write was made once, every run ends, and in the end entities, change
// logs and findings are those of a server that got each event once and never crashed.
func TestKillsOfProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	text := os.Getenv("VIGIL_KILL_PROCESSES")
	if text == "" {
		t.Skip("takes minutes: see make crash-processes")
	}
	lasts, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("VIGIL_KILL_PROCESSES: %v", err)
	}
	kills := 0
	underLoad(t, dbtest.Postgres(t), 3, func(c *cluster) {
		for end := time.Now().Add(lasts); time.Now().Before(end); kills++ {
			next := time.Now().Add(killEvery)
			c.replace(rand.IntN(len(c.nodes)), os.Kill)
			time.Sleep(time.Until(next))
		}
	})
	t.Logf("%d kills", kills)
}

// TestStopsOfPostgreSQLUnderThreeProcesses crashes the database server of three
// processes under the same load and with the same expectations.
func TestStopsOfPostgreSQLUnderThreeProcesses(t *testing.T) {
	t.Parallel()
	// The variable also sets the stops of TestCrashesOfPostgreSQLLoseNothing. This test makes at most 10, because each takes longer.
	stops := min(crashes(t, "VIGIL_STOPS_POSTGRES", 0, 10), 10)
	if stops == 0 {
		t.Skip("needs its own database server: see make crash")
	}
	db := dbtest.NewServer(t)
	var slowest time.Duration
	underLoad(t, db.URL, 3, func(c *cluster) {
		for range stops {
			time.Sleep(5 * time.Second)
			db.Crash()
			time.Sleep(time.Second)
			db.Start()
			up := time.Now()
			for i, node := range c.nodes {
				answered := false
				for end := time.Now().Add(2 * time.Minute); !answered && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
					status, _, err := node.send("POST", "/v1/cloud-accounts/query", object{})
					answered = err == nil && status == 200
				}
				if !answered {
					t.Errorf("process %d does not go on when the database is back", i)
				}
			}
			slowest = max(slowest, time.Since(up))
		}
	})
	t.Logf("%d stops; all processes answered at most %s after a start", stops, slowest.Round(time.Millisecond))
}

// TestRollingRestartFailsNoRequest replaces each of two processes three times under the
// same load: it stops one with SIGTERM, starts a new one, and goes on with the other.
func TestRollingRestartFailsNoRequest(t *testing.T) {
	t.Parallel()
	if os.Getenv("VIGIL_KILL_PROCESSES") == "" {
		t.Skip("takes minutes: see make crash-processes")
	}
	var longest time.Duration
	underLoad(t, dbtest.Postgres(t), 2, func(c *cluster) {
		for i := range 6 {
			time.Sleep(2 * time.Second)
			begin := time.Now()
			c.replace(i%2, syscall.SIGTERM)
			longest = max(longest, time.Since(begin))
		}
	})
	t.Logf("6 processes were replaced, the slowest in %s", longest.Round(time.Millisecond))
}

// underLoad runs disturb on some processes under load, and checks what they stored.
func underLoad(t *testing.T, dsn string, processes int, disturb func(*cluster)) {
	t.Helper()
	const changes = 20_000
	today := time.Now().UTC().Truncate(time.Second)
	newLoad := func() *eventLoad {
		s := newEventLoad(t, today, 2*eventAccounts, 600)
		s.changes = nil // newEventLoad planned changes in all accounts; plan them in the accounts with events only
		s.plan(changes, s.accounts[:eventAccounts])
		return s
	}
	s := newLoad()
	l := &load{events: s, streams: s.install(dsn)}
	l.cluster = newCluster(t, s.host, processes)
	l.start()
	disturb(l.cluster)
	l.stop()

	in := s.open()
	defer in.Close()
	l.waitForJobs(in)
	l.cluster.stop()
	l.check(in)
	s.changes = s.changes[:l.rounds*perRound] // those that were made
	got := s.recordedState()

	reference := newLoad()
	if diff := cmp.Diff(reference.deliverRounds(dbtest.SQLite(t), l.rounds), got); diff != "" {
		t.Errorf("(-undisturbed +disturbed):\n%.4000s", diff)
	}
}

// deliverRounds sends the messages of some rounds of changes once and in order, to one
// server on SQLite.
func (s *eventLoad) deliverRounds(dsn string, rounds int) state {
	s.t.Helper()
	streams := s.install(dsn)
	c, stop := s.start()
	for from := 0; from < rounds*perRound; from += perRound {
		s.apply(s.changes[from : from+perRound])
		for _, n := range s.messages(streams, from, from+perRound) {
			if !send(c, n) {
				s.t.Fatal("a message was not accepted")
			}
		}
		c.quiet()
	}
	stop()
	s.changes = s.changes[:rounds*perRound]
	return s.recordedState()
}
