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
	revision := self.Snapshot.Good.Health.Revision
	newest, decided := p.majorityRevision(peers, revision.Store)
	lag = p.lag(revision, newest, now)
	for _, peer := range peers {
		if peer.Server.ID == self.Server.ID || !peer.Snapshot.Tried() {
			continue
		}
		name := peer.Server.Name
		r := Replication{ServerName: name, Status: ReplicationError}
		blame := Ref{KindConnectionServer, peer.Server.ID, name}
		other := peer.Snapshot.Good.Health.Revision
		switch {
		case peer.Snapshot.Failing(p.FailuresBeforeDown) != nil:
			r.blame = blame
			notes = append(notes, "nothing is replicated to "+name+", which does not answer")
		case !decided && other.Store != revision.Store:
			continue // not known yet which of the two is at fault
		default:
			r.Status = ReplicationOf(revision, other, now, p.ReplicationGrace)
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
// tie, the store of this server counts. While servers that were not checked yet could
// change the majority, it is not decided, and the newest revision of the given store is returned:
// the servers that happen to be checked first at a start do not outvote the others.
func (p Policy) majorityRevision(peers []Peer, store string) (revision Revision, decided bool) {
	votes := make(map[string]int)
	newest := make(map[string]Revision)
	var best string
	unchecked := 0
	for _, peer := range peers {
		weight := 2 // even, so that one more vote only breaks ties
		if peer.Server.Self {
			weight++
		}
		if !peer.Snapshot.Tried() {
			unchecked += weight
			continue
		}
		if !peer.Snapshot.EverRead() || peer.Snapshot.Failing(p.FailuresBeforeDown) != nil {
			continue
		}
		r := peer.Snapshot.Good.Health.Revision
		votes[r.Store] += weight
		if known, ok := newest[r.Store]; !ok || r.Number > known.Number {
			newest[r.Store] = r
		}
		if votes[r.Store] > votes[best] {
			best = r.Store
		}
	}
	second := 0
	for s, n := range votes {
		if s != best {
			second = max(second, n)
		}
	}
	if unchecked > 0 && votes[best]-second <= unchecked {
		return newest[store], false
	}
	return newest[best], true
}

// lag describes how far a server is behind the newest revision. It returns "" if the
// server has that revision, or the grace period has not passed yet.
func (p Policy) lag(current, newest Revision, now time.Time) string {
	switch {
	case current.Store != newest.Store:
		return "it keeps another store than the other servers"
	case current.Number < newest.Number && now.Sub(newest.At.Time()) > p.ReplicationGrace:
		return fmt.Sprintf("it lags in replication: it has revision %d of %d", current.Number, newest.Number)
	}
	return ""
}
