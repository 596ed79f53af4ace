package desktop

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// servers returns n connection servers that answer and agree; the first is this
// server.
func servers(n int) []Peer {
	var out []Peer
	for i := range n {
		out = append(out, Peer{
			ConnectionServer{ID: ID(fmt.Sprint("c", i+1)), Name: fmt.Sprint("cs", i+1), Self: i == 0},
			snapshotAfter[ConnectionServerReading](revision("a", 7, time.Hour)),
		})
	}
	return out
}

func revision(store string, number int64, ago time.Duration) ConnectionServerReading {
	return ConnectionServerReading{Health: PeerHealth{Revision: Revision{store, number, MillisOf(noon.Add(-ago))}}}
}

func TestOnlyTheServerAtFaultIsInError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		n      int
		broken map[int]Snapshot[ConnectionServerReading]
		want   map[int]ConnectionServerStatus // all others are OK
	}{
		{"one of twenty lags", 20, map[int]Snapshot[ConnectionServerReading]{1: snapshotAfter[ConnectionServerReading](revision("a", 6, 2*time.Hour))},
			map[int]ConnectionServerStatus{1: ConnectionServerError}},
		{"one of twenty has another store", 20, map[int]Snapshot[ConnectionServerReading]{1: snapshotAfter[ConnectionServerReading](revision("b", 9, time.Hour))},
			map[int]ConnectionServerStatus{1: ConnectionServerError}},
		{"this server has another store", 20, map[int]Snapshot[ConnectionServerReading]{0: snapshotAfter[ConnectionServerReading](revision("b", 9, time.Hour))},
			map[int]ConnectionServerStatus{0: ConnectionServerError}},
		{"one of twenty is down", 20, map[int]Snapshot[ConnectionServerReading]{1: snapshotAfter[ConnectionServerReading](Unreachable)},
			map[int]ConnectionServerStatus{1: ConnectionServerNotResponding}},
		{"two servers with different stores: this server's counts", 2, map[int]Snapshot[ConnectionServerReading]{1: snapshotAfter[ConnectionServerReading](revision("b", 9, time.Hour))},
			map[int]ConnectionServerStatus{1: ConnectionServerError}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peers := servers(tt.n)
			for i, s := range tt.broken {
				peers[i].Snapshot = s
			}
			for i, p := range peers {
				m := policy.ConnectionServerRecord(p, peers, noon)
				want := ConnectionServerOK
				if s, ok := tt.want[i]; ok {
					want = s
				}
				if m.Status != want {
					t.Errorf("%s is %s, want %s: %q", m.Name, m.Status, want, m.Reasons)
				}
				if h := HealthOf(KindConnectionServer, "", string(want)); m.Health != h {
					t.Errorf("the health of %s is %s, want %s", m.Name, m.Health, h)
				}
				if len(m.Reasons) != 1 {
					t.Errorf("%s gives %d reasons, want 1: %q", m.Name, len(m.Reasons), m.Reasons)
				}
				for _, s := range m.Statuses() {
					if strings.HasPrefix(s.Part, "replication") && s.Status == "ERROR" && want == ConnectionServerOK && s.BlamedOn.Kind == "" {
						t.Errorf("%s is blamed for %s", m.Name, s.Part)
					}
				}
			}
		})
	}
}
