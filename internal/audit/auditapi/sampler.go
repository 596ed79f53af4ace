package auditapi

import (
	"sync"
	"time"

	"vigil/internal/audit"
)

// Limits on the records of refused and failed requests. The first requests of
// each kind in a window are recorded; the others are counted. The counts are recorded
// when the next request is refused or fails after the window. Unauthenticated callers
// count as one organisation.
const (
	sampleWindow = time.Minute
	maxPerKind   = 10   // records of one operation and status in a window
	maxPerOrg    = 100  // records of one organisation, or of all unauthenticated callers, in a window
	maxKinds     = 5000 // kinds counted at a time: operations times statuses times active organisations
)

// kind identifies the requests that are counted together.
type kind struct {
	org       string
	operation string
	status    int
}

// tally counts the requests of a kind in the window.
type tally struct {
	written int
	skipped audit.Record // the latest skipped record, with the number of skipped ones
}

// A sampler decides which records of failed requests are written.
type sampler struct {
	now func() time.Time

	mu    sync.Mutex
	since time.Time // start of the window
	kinds map[kind]*tally
	orgs  map[string]int // records written in the window
}

func newSampler(now func() time.Time) *sampler {
	return &sampler{now: now, kinds: make(map[kind]*tally), orgs: make(map[string]int)}
}

// take reports whether a record must be written. If the window has just ended,
// it returns the counts of that window.
func (s *sampler) take(r audit.Record) (write bool, ended []audit.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.Sub(s.since) >= sampleWindow || now.Before(s.since) {
		ended = s.end()
		s.since = now
	}
	k := kind{r.Org, r.Operation, r.Status}
	t := s.kinds[k]
	if t == nil {
		if len(s.kinds) >= maxKinds {
			k = kind{operation: "other", status: r.Status} // all further kinds together
			t = s.kinds[k]
		}
		if t == nil {
			t = &tally{}
			s.kinds[k] = t
		}
	}
	if t.written < maxPerKind && s.orgs[r.Org] < maxPerOrg {
		t.written++
		s.orgs[r.Org]++
		return true, ended
	}
	n := t.skipped.Count + 1
	t.skipped = audit.Record{
		Time: r.Time, Org: k.org, Operation: k.operation, Outcome: r.Outcome, Status: r.Status, Source: r.Source, Count: n,
	}
	return false, ended
}

// end returns the counts of the ended window.
func (s *sampler) end() []audit.Record {
	var counts []audit.Record
	for _, t := range s.kinds {
		if t.skipped.Count > 0 {
			counts = append(counts, t.skipped)
		}
	}
	clear(s.kinds)
	clear(s.orgs)
	return counts
}
