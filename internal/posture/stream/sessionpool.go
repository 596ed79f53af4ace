package stream

import (
	"context"
	"fmt"
	"sync"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A sessionPool keeps cloud sessions open for sessionTTL, so that a burst of events
// authenticates once. The time is short because sessions cache what they read.
type sessionPool struct {
	now func() time.Time

	mu   sync.Mutex
	open map[posture.AccountRef]*pooledSession
}

// A pooledSession is a session with a reference count.
type pooledSession struct {
	collect.Session
	pool       *sessionPool
	credential string // id and version of the credential that opened it
	expires    time.Time
	users      int
	retired    bool // no longer in the pool; the last user closes it
}

// sessionTTL is how long a session is given to new users.
const sessionTTL = 20 * time.Second

// session returns a session of an account. The caller must release it.
func (r *Reader) session(ctx context.Context, access posture.Access) (*pooledSession, error) {
	ref := posture.AccountRef{Org: access.Org, Account: access.Account.ID}
	credential := string(access.Credential.ID) + " " + access.Credential.ETag
	if s := r.sessions.get(ref, credential); s != nil {
		return s, nil
	}
	source, ok := r.sources[access.Account.Provider]
	if !ok {
		return nil, fmt.Errorf("no collectors for %s", access.Account.Provider)
	}
	opened, err := source.Open(ctx, access)
	if err != nil {
		return nil, err
	}
	return r.sessions.put(ref, credential, opened), nil
}

// get returns the open session of an account, or nil when there is none that the
// credential opened.
func (p *sessionPool) get(ref posture.AccountRef, credential string) *pooledSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.evictExpired()
	s := p.open[ref]
	if s == nil || s.credential != credential {
		return nil
	}
	s.users++
	return s
}

// put adds a session in place of the account's previous one and returns it with one
// user.
func (p *sessionPool) put(ref posture.AccountRef, credential string, opened collect.Session) *pooledSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[posture.AccountRef]*pooledSession{}
	}
	p.retire(p.open[ref])
	s := &pooledSession{Session: opened, pool: p, credential: credential, expires: p.now().Add(sessionTTL), users: 1}
	p.open[ref] = s
	// Without a timer, the credentials of an account would stay in memory until the next event.
	time.AfterFunc(sessionTTL, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.evictExpired()
	})
	return s
}

// evictExpired removes expired sessions. The caller holds mu.
func (p *sessionPool) evictExpired() {
	now := p.now()
	for ref, s := range p.open {
		if !now.Before(s.expires) {
			delete(p.open, ref)
			p.retire(s)
		}
	}
}

// retire closes a session once it has no users. The caller holds mu.
func (p *sessionPool) retire(s *pooledSession) {
	if s == nil {
		return
	}
	s.retired = true
	if s.users == 0 {
		s.Close()
	}
}

// release returns the session to the pool, or closes it when it was retired and this
// was its last user.
func (s *pooledSession) release() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.users--
	if s.users == 0 && s.retired {
		s.Close()
	}
}
