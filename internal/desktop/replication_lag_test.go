package desktop

import (
	"slices"
	"testing"
	"time"
)

// A storeFixture is a board of three connection servers that are probed at the same times.
type storeFixture struct {
	*testing.T
	board   *Board
	now     *time.Time
	servers []ConnectionServer
}

func newStoreFixture(t *testing.T) *storeFixture {
	inv := Inventory{Policy: DefaultPolicy()}
	for _, p := range servers(3) {
		inv.ConnectionServers = append(inv.ConnectionServers, p.Server)
	}
	board, now, _ := newBoard(inv)
	return &storeFixture{t, board, now, inv.ConnectionServers}
}

// probe lets time pass and then reads the given revisions, one from each server, beginning with the first.
func (f *storeFixture) probe(after time.Duration, revisions ...Revision) {
	*f.now = f.now.Add(after)
	for i, r := range revisions {
		f.board.Observe(Observation{
			Kind: KindConnectionServer, ID: f.servers[i].ID, At: *f.now,
			Reading: ConnectionServerReading{Health: PeerHealth{Revision: r}},
		})
	}
}

// at returns a revision that the store "a" reached a time ago.
func (f *storeFixture) at(number int64, ago time.Duration) Revision {
	return Revision{"a", number, MillisOf(f.now.Add(-ago))}
}

// want checks which servers are in error.
func (f *storeFixture) want(when string, failing ...string) {
	f.Helper()
	var got []string
	for _, r := range f.board.Records(KindConnectionServer) {
		if m := r.(ConnectionServerMonitor); m.Status == ConnectionServerError {
			got = append(got, m.Name)
		}
	}
	if !slices.Equal(got, failing) {
		f.Errorf("%s: in error are %q, want %q", when, got, failing)
	}
}

// TestStuckServerIsReportedWhileTheOthersChange makes a revision every ten seconds. The newest one
// is always younger than the grace period.
func TestStuckServerIsReportedWhileTheOthersChange(t *testing.T) {
	t.Parallel()
	f := newStoreFixture(t)
	stuck := f.at(10, 0)
	f.probe(0, stuck, stuck, stuck)
	for i := range int64(100) {
		newest := Revision{"a", 11 + i, MillisOf(f.now.Add(10 * time.Second))}
		f.probe(10*time.Second, newest, stuck, newest)
		switch {
		case i <= 6: // the first missing revision is at most as old as the grace period
			f.want("within the grace period")
		default:
			f.want("later", "cs2")
		}
		if n := len(f.board.revisions); n > 12 {
			t.Fatalf("%d revisions are remembered", n)
		}
	}
	caughtUp := f.at(200, 0)
	f.probe(10*time.Second, caughtUp, caughtUp, caughtUp)
	f.want("when it has caught up")
}

// TestSlowServerIsReported lets one server follow all revisions, always two minutes late.
func TestSlowServerIsReported(t *testing.T) {
	t.Parallel()
	f := newStoreFixture(t)
	start := *f.now
	revision := func(number int64) Revision {
		return Revision{"a", number, MillisOf(start.Add(time.Duration(number) * 10 * time.Second))}
	}
	for i := range int64(60) {
		f.probe(10*time.Second, revision(i), revision(i-12), revision(i-1))
		if i > 12 {
			f.want("two minutes late", "cs2")
		}
	}
}

// TestServersAreComparedAsTheyWereRead reads one server after the next revision appears, the others
// before it.
func TestServersAreComparedAsTheyWereRead(t *testing.T) {
	t.Parallel()
	f := newStoreFixture(t)
	old := f.at(10, time.Hour)
	f.probe(0, old, old, old)
	*f.now = f.now.Add(5 * time.Minute)
	f.probe(0, f.at(11, 4*time.Minute))
	f.want("cs2 and cs3 were read before revision 11 appeared")
	f.probe(0, f.at(11, 4*time.Minute), old)
	f.want("cs2 was read again", "cs2")
}

// TestRevisionsOfARestoredStoreAreForgotten lets the store return to an older revision.
func TestRevisionsOfARestoredStoreAreForgotten(t *testing.T) {
	t.Parallel()
	f := newStoreFixture(t)
	newest, restored := f.at(100, time.Hour), f.at(90, 2*time.Hour)
	f.probe(0, newest, newest, newest)
	for range 3 {
		f.probe(30*time.Second, restored, restored, restored)
	}
	f.want("after the restore")
	next := f.at(91, 0)
	f.probe(10*time.Second, next, restored, next)
	f.want("a revision after the restore, within the grace period")
}

// TestNotesSayWhichServerIsAtFault looks at the record of cs1.
func TestNotesSayWhichServerIsAtFault(t *testing.T) {
	t.Parallel()
	f := newStoreFixture(t)
	for _, tt := range []struct {
		name          string
		own, cs2, cs3 Revision
		want          []string
		blamed        int // how many of the two other servers are blamed
	}{
		{"another store", f.at(7, time.Hour), Revision{"b", 7, f.at(7, time.Hour).At}, f.at(7, time.Hour),
			[]string{"there is no replication with cs2: it keeps another store"}, 1},
		{"a peer is behind", f.at(7, time.Hour), f.at(6, 2*time.Hour), f.at(7, time.Hour), []string{"replication with cs2 lags: cs2 is behind"}, 1},
		{"this server is behind one that is not the newest", f.at(6, 3*time.Hour), f.at(7, 2*time.Minute), f.at(8, time.Second),
			[]string{"it lags in replication: it has revision 6 of 8"}, 0},
	} {
		f.probe(time.Second, tt.own, tt.cs2, tt.cs3)
		r, _, _ := f.board.Record(KindConnectionServer, f.servers[0].ID)
		m := r.(ConnectionServerMonitor)
		if !slices.Equal(m.Reasons, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, m.Reasons, tt.want)
		}
		blamed := 0
		for _, r := range m.Replications {
			if r.blame.Kind != "" {
				blamed++
			}
		}
		if blamed != tt.blamed {
			t.Errorf("%s: %d peers are blamed, want %d", tt.name, blamed, tt.blamed)
		}
	}
}
