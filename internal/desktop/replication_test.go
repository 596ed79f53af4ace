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
				m := policy.ConnectionServerRecord(p, peers, nil, noon)
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
				// The other servers have one reason too: a note about the server at fault.
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

// TestFewCheckedServersOutvoteNoOther checks servers one after the other, as at a
// start. The one with another store is checked first.
func TestFewCheckedServersOutvoteNoOther(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		n       int // number of servers
		wrong   int // index of the one with another store
		decided int // number of checked servers at which the majority is certain
	}{{"twenty servers", 20, 6, 12}, {"three servers", 3, 2, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			all := servers(tt.n)
			all[tt.wrong].Snapshot = snapshotAfter[ConnectionServerReading](revision("b", 9, time.Hour))
			peers := servers(tt.n)
			for i := range peers {
				peers[i].Snapshot = Snapshot[ConnectionServerReading]{}
			}
			order := []int{tt.wrong} // this server is the last one
			for i := tt.n - 1; i >= 0; i-- {
				if i != tt.wrong {
					order = append(order, i)
				}
			}
			for checked, i := range order {
				peers[i] = all[i]
				for j, p := range peers {
					m := policy.ConnectionServerRecord(p, peers, nil, noon)
					want := ConnectionServerOK
					switch {
					case !p.Snapshot.Tried():
						want = ConnectionServerUnknown
					case j == tt.wrong && checked+1 >= tt.decided:
						want = ConnectionServerError
					}
					if m.Status != want {
						t.Errorf("when %d servers are checked, %s is %s, want %s: %q", checked+1, m.Name, m.Status, want, m.Reasons)
					}
					for _, r := range m.Replications {
						if r.Status == ReplicationError && checked+1 < tt.decided {
							t.Errorf("when %d servers are checked, %s does not replicate to %s", checked+1, m.Name, r.ServerName)
						}
					}
				}
			}
		})
	}
}
