package desktop

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A storeCopy is a server's copy of the shared store when the server was read.
type storeCopy struct {
	Revision
	readAt time.Time
}

func copyOf(p Peer) storeCopy {
	return storeCopy{p.Snapshot.Good.Health.Revision, p.Snapshot.GoodAt}
}

// replicationOf compares the copies of two servers. A lag within the grace period is OK;
// a longer lag, or another store, is an error.
func (p Policy) replicationOf(a, b storeCopy, seen []Revision) ReplicationStatus {
	if a.Store != b.Store || p.isLate(a, b.Revision, seen) || p.isLate(b, a.Revision, seen) {
		return ReplicationError
	}
	return ReplicationOK
}

// isLate reports whether a copy lacked, for longer than the grace period, a revision up to the
// given one. The period begins when the first missing revision appeared, not the newest: in a store that
// changes often, the newest is always recent. seen are the known revisions, with the times when they appeared.
func (p Policy) isLate(c storeCopy, upTo Revision, seen []Revision) bool {
	isOverdue := func(r Revision) bool {
		return r.Store == c.Store && r.Number > c.Number && r.Number <= upTo.Number && c.readAt.Sub(r.At.Time()) > p.ReplicationGrace
	}
	return isOverdue(upTo) || slices.ContainsFunc(seen, isOverdue)
}

// remember adds the revisions of the servers to those that were seen before, and removes those
// that isLate no longer needs. The result is sorted by store and number.
func (p Policy) remember(seen []Revision, peers []Peer) []Revision {
	var current []Revision
	newest := make(map[string]int64) // of each store
	var firstRead time.Time
	for _, peer := range peers {
		if !peer.Snapshot.EverRead() || peer.Snapshot.Failing(p.FailuresBeforeDown) != nil {
			continue
		}
		c := copyOf(peer)
		current = append(current, c.Revision)
		newest[c.Store] = max(newest[c.Store], c.Number)
		if firstRead.IsZero() || c.readAt.Before(firstRead) {
			firstRead = c.readAt
		}
	}
	all := slices.DeleteFunc(slices.Concat(seen, current), func(r Revision) bool {
		n, ok := newest[r.Store]
		return !ok || r.Number > n // no server that answers has the store, or it was restored from an older copy
	})
	slices.SortFunc(all, func(a, b Revision) int {
		return cmp.Or(cmp.Compare(a.Store, b.Store), cmp.Compare(a.Number, b.Number), cmp.Compare(b.At, a.At))
	})
	// Keep each revision once, with its latest time.
	all = slices.CompactFunc(all, func(a, b Revision) bool { return a.Store == b.Store && a.Number == b.Number })
	var out []Revision
	for i, r := range all {
		if i+1 == len(all) || !p.isSuperseded(r, all[i+1], current, firstRead) {
			out = append(out, r)
		}
	}
	return out
}

// isSuperseded reports whether isLate needs only the next revision and not r: every server has both or
// neither of them, and the grace period of the next one had passed when each server was read.
func (p Policy) isSuperseded(r, next Revision, current []Revision, firstRead time.Time) bool {
	if next.Store != r.Store || firstRead.Sub(next.At.Time()) <= p.ReplicationGrace {
		return false
	}
	hasOnlyFirst := func(c Revision) bool { return c.Store == r.Store && r.Number <= c.Number && c.Number < next.Number }
	return !slices.ContainsFunc(current, hasOnlyFirst)
}

// describeReplication fills in the state of replication to every peer. It
// returns the lag of self, if any, and notes about its peers: a peer that is down
// or behind is not a fault of self. self is the server that m describes, and can be any of the servers.
func (p Policy) describeReplication(m *ConnectionServerMonitor, self Peer, peers []Peer, seen []Revision) (lag string, notes []string) {
	own := copyOf(self)
	newest, decided := p.majorityRevision(peers, own.Store)
	lag = p.lag(own, newest, seen)
	m.unchecked = !decided // it may turn out to be the one with another store
	for _, peer := range peers {
		name := peer.Server.Name
		if peer.Server.ID == self.Server.ID {
			continue
		}
		if !peer.Snapshot.Tried() {
			m.unlisted = append(m.unlisted, replicationPart+name)
			continue
		}
		r := Replication{ServerName: name, Status: ReplicationError}
		blame := Ref{KindConnectionServer, peer.Server.ID, name}
		other := copyOf(peer)
		switch {
		case peer.Snapshot.Failing(p.FailuresBeforeDown) != nil:
			r.blame = blame
			notes = append(notes, "nothing is replicated to "+name+", which does not answer")
		case !decided && other.Store != own.Store:
			m.unlisted = append(m.unlisted, replicationPart+name) // not known yet which of the two is at fault
			continue
		default:
			r.Status = p.replicationOf(own, other, seen)
			if r.Status == ReplicationOK || lag != "" {
				break // there is no error, or it is explained by the lag of self
			}
			if other.Store != own.Store {
				r.blame = blame
				notes = append(notes, "there is no replication with "+name+": it keeps another store")
			} else if other.Number < own.Number {
				r.blame = blame
				notes = append(notes, "replication with "+name+" lags: "+name+" is behind")
			}
		}
		m.Replications = append(m.Replications, r)
	}
	return lag, notes
}

// majorityRevision returns the newest revision of the store that most servers have. In a
// tie, the store of the server that runs this code wins. While servers that were not checked yet could
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
func (p Policy) lag(own storeCopy, newest Revision, seen []Revision) string {
	switch {
	case own.Store != newest.Store:
		return "it keeps another store than the other servers"
	case p.isLate(own, newest, seen):
		return fmt.Sprintf("it lags in replication: it has revision %d of %d", own.Number, newest.Number)
	}
	return ""
}
