package httpapi

import (
	"fmt"
	"sync"
	"time"

	"vigil/internal/fault"
)

// streams counts the open event streams. They last for most of a minute, so they
// have their own limits instead of slots of the gate.
type streams struct {
	a Admission

	mu    sync.Mutex
	total int
	open  map[streamOwner]int
}

// streamOwner is a caller, or an organisation when caller is "".
type streamOwner struct{ org, caller string }

func newStreams(a Admission) *streams {
	return &streams{a: a.withDefaults(), open: make(map[streamOwner]int)}
}

// enter counts a stream until leave is called. It fails if a limit is reached.
func (s *streams) enter(c Caller) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	caller, org := streamOwner{c.Org, c.ID}, streamOwner{org: c.Org}
	switch {
	case s.total >= s.a.AllStreams:
		return nil, fault.New(fault.Unavailable, "the server has too many open event streams at the moment; try again later")
	case s.open[caller] >= s.a.CallerStreams:
		return nil, tooManyStreams("you", s.a.CallerStreams)
	case c.Org != "" && s.open[org] >= s.a.OrgStreams:
		return nil, tooManyStreams("your organisation", s.a.OrgStreams)
	}
	s.add(caller, 1)
	if c.Org != "" {
		s.add(org, 1)
	}
	s.total++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.add(caller, -1)
		if c.Org != "" {
			s.add(org, -1)
		}
		s.total--
	}, nil
}

func (s *streams) add(owner streamOwner, n int) {
	s.open[owner] += n
	if s.open[owner] == 0 {
		delete(s.open, owner)
	}
}

func tooManyStreams(subject string, limit int) error {
	return &fault.Error{
		Kind: fault.Limited, After: time.Minute,
		Message: fmt.Sprintf("%s reached the limit of %d open event streams; close one, or poll instead", subject, limit),
	}
}
