package desktop

import (
	"fmt"
	"time"
)

// ReplicationOf compares the revisions of two servers. A lag within the grace
// period is OK; a longer lag, or another store, is an error.
func ReplicationOf(a, b Revision, now time.Time, grace time.Duration) ReplicationStatus {
	if a.Store != b.Store {
		return ReplicationError
	}
	newest := a
	if b.Number >= a.Number {
		newest = b
	}
	if a.Number != b.Number && now.Sub(newest.At.Time()) > grace {
		return ReplicationError
	}
	return ReplicationOK
}

// describeReplication fills in the state of replication to every peer. It
// returns the server's own lag, if any, and notes about its peers: a peer that
// is down or behind is not a fault of this server.
func (p Policy) describeReplication(m *ConnectionServerMonitor, self Peer, peers []Peer, now time.Time) (lag string, notes []string) {
	newest := p.majorityRevision(peers)
	lag = p.lag(self, newest, now)
	for _, peer := range peers {
		if peer.Server.ID == self.Server.ID || !peer.Snapshot.Tried() {
			continue
		}
		name := peer.Server.Name
		r := Replication{ServerName: name, Status: ReplicationError}
		blame := Ref{KindConnectionServer, peer.Server.ID, name}
		if peer.Snapshot.Failing(p.FailuresBeforeDown) != nil {
			r.blame = blame
			notes = append(notes, "nothing is replicated to "+name+", which does not answer")
		} else {
			r.Status = ReplicationOf(self.Snapshot.Good.Health.Revision, peer.Snapshot.Good.Health.Revision, now, p.ReplicationGrace)
			if r.Status == ReplicationError && lag == "" {
				r.blame = blame
				notes = append(notes, "replication with "+name+" lags: "+name+" is behind")
			}
		}
		m.Replications = append(m.Replications, r)
	}
	return lag, notes
}

// majorityRevision returns the newest revision of the store that most servers have. In a
// tie, the store of this server counts.
func (p Policy) majorityRevision(peers []Peer) Revision {
	votes := make(map[string]int)
	newest := make(map[string]Revision)
	var best string
	for _, peer := range peers {
		if !peer.Snapshot.EverRead() || peer.Snapshot.Failing(p.FailuresBeforeDown) != nil {
			continue
		}
		r := peer.Snapshot.Good.Health.Revision
		votes[r.Store] += 2 // even, so that one more vote only breaks ties
		if peer.Server.Self {
			votes[r.Store]++
		}
		if known, ok := newest[r.Store]; !ok || r.Number > known.Number {
			newest[r.Store] = r
		}
		if votes[r.Store] > votes[best] {
			best = r.Store
		}
	}
	return newest[best]
}

// lag describes how far a server is behind the newest revision. It returns "" if the
// server has that revision, or the grace period has not passed yet.
func (p Policy) lag(self Peer, newest Revision, now time.Time) string {
	current := self.Snapshot.Good.Health.Revision
	switch {
	case current.Store != newest.Store:
		return "it keeps another store than the other servers"
	case current.Number < newest.Number && now.Sub(newest.At.Time()) > p.ReplicationGrace:
		return fmt.Sprintf("it lags in replication: it has revision %d of %d", current.Number, newest.Number)
	}
	return ""
}
