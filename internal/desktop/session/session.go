// Package session logs administrators in and knows who is calling.
//
// A login is tried with the directory, under a throttle that stays below the
// directory's own lockout, and begins a session. The session is what counts: an
// access token is good while it has not expired and its session lives, so that
// a logout ends every access token of the session at once. Refresh tokens are
// not rotated, because the answer to a refresh has no room for a new one.
//
// Monitoring systems that cannot log in use a key that may read and nothing
// else.
package session

import (
	"context"
	"time"

	"vigil/internal/auth"
	"vigil/internal/desktop"
)

// User is an administrator as the directory knows them.
type User struct {
	DomainID desktop.ID // of the domain in the inventory
	Domain   string     // NetBIOS name
	Name     string     // account name, as the directory spells it
	SID      string
}

// Session is the time between a login and its end.
type Session struct {
	ID        string
	User      User
	Source    string // address of the login
	CreatedAt time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // zero while it lives
}

// Live tells whether the session has neither ended nor expired.
func (s Session) Live(now time.Time) bool { return s.EndedAt.IsZero() && now.Before(s.ExpiresAt) }

// Failures are the refused logins that count against a subject: a user of a
// domain, a network, or a user at a network.
type Failures struct {
	Count int
	Last  time.Time
}

// Store keeps sessions, failures and keys.
//
// Methods are safe for concurrent use, by several processes too. One that names
// a thing the store does not hold fails with fault.NotFound.
type Store interface {
	// AddSession keeps a new session.
	AddSession(ctx context.Context, s Session) error

	// Session returns a session, also one that has ended.
	Session(ctx context.Context, id string) (Session, error)

	// EndSession ends a session. It fails with fault.NotFound when it has ended
	// before.
	EndSession(ctx context.Context, id string, at time.Time) error

	// SessionsOf returns the sessions of a user that have not ended, newest first.
	SessionsOf(ctx context.Context, sid string) ([]Session, error)

	// ForgetSessions removes sessions that expired or ended before the time.
	ForgetSessions(ctx context.Context, before time.Time) error

	// Failures returns what counts against each of the subjects, zero when nothing
	// does.
	Failures(ctx context.Context, subjects ...string) ([]Failures, error)

	// AddFailure counts one more, from one again if the last was longer ago than
	// the window.
	AddFailure(ctx context.Context, subject string, at time.Time, window time.Duration) (Failures, error)

	// ClearFailures forgets what counts against the subjects.
	ClearFailures(ctx context.Context, subjects ...string) error

	// ForgetFailures removes what was last counted before the time.
	ForgetFailures(ctx context.Context, before time.Time) error

	// LoginPlaces returns from which networks users have logged in.
	LoginPlaces(ctx context.Context) ([]auth.LoginNetwork, error)

	// AddLoginPlace remembers one, or that it was used again.
	AddLoginPlace(ctx context.Context, p auth.LoginNetwork, at time.Time) error

	// ForgetLoginPlaces removes those that were added before the time.
	ForgetLoginPlaces(ctx context.Context, before time.Time) error

	// AddKey keeps a new key.
	AddKey(ctx context.Context, k Key) error

	// Keys returns all keys, newest first.
	Keys(ctx context.Context) ([]Key, error)

	// KeyByHash returns the key whose text has the hash.
	KeyByHash(ctx context.Context, hash []byte) (Key, error)

	// UseKey notes when a key was last used, and from which address.
	UseKey(ctx context.Context, id string, at time.Time, address string) error

	// DeleteKey removes a key.
	DeleteKey(ctx context.Context, id string) error
}
