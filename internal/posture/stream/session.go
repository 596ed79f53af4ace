package stream

import (
	"context"
	"fmt"
	"sync"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// sessions keeps sessions open for a little while, so that a burst of events logs
// in once. They are not kept for long: some remember what they read.
type sessions struct {
	now func() time.Time

	mu   sync.Mutex
	open map[posture.AccountRef]*lent
}

// A lent is a session that is in use, or may be again.
type lent struct {
	collect.Session
	credential string // that opened it: id and version
	until      time.Time
	users      int
	gone       bool // it is closed by its last user
	all        *sessions
}

// sessionKept is how long a session is used for.
const sessionKept = 20 * time.Second

// session returns a session of an account, which is to be released.
func (r *Reader) session(ctx context.Context, access posture.Access) (*lent, error) {
	ref := posture.AccountRef{Org: access.Org, Account: access.Account.ID}
	credential := string(access.Credential.ID) + " " + access.Credential.ETag
	if s := r.sessions.take(ref, credential); s != nil {
		return s, nil
	}
	source, ok := r.sources[access.Account.Provider]
	if !ok {
		return nil, fmt.Errorf("no collectors for %s", access.Account.Provider)
	}
	fresh, err := source.Open(ctx, access)
	if err != nil {
		return nil, err
	}
	return r.sessions.put(ref, credential, fresh), nil
}

func (s *sessions) take(ref posture.AccountRef, credential string) *lent {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	l := s.open[ref]
	if l == nil || l.credential != credential {
		return nil
	}
	l.users++
	return l
}

func (s *sessions) put(ref posture.AccountRef, credential string, fresh collect.Session) *lent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[posture.AccountRef]*lent{}
	}
	s.retire(s.open[ref])
	l := &lent{Session: fresh, credential: credential, until: s.now().Add(sessionKept), users: 1, all: s}
	s.open[ref] = l
	return l
}

// sweep closes what is out of date. The caller holds mu.
func (s *sessions) sweep() {
	now := s.now()
	for ref, l := range s.open {
		if now.After(l.until) {
			delete(s.open, ref)
			s.retire(l)
		}
	}
}

// retire closes a session, or has its last user do so. The caller holds mu.
func (s *sessions) retire(l *lent) {
	if l == nil {
		return
	}
	if l.gone = true; l.users == 0 {
		l.Close()
	}
}

// release gives a session back.
func (l *lent) release() {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	if l.users--; l.users == 0 && l.gone {
		l.Close()
	}
}
