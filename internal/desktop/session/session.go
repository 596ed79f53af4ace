// Package session logs administrators in and identifies callers.
//
// A login is checked by the directory, under a throttle that stays below the
// directory's lockout threshold, and opens a session. An access token is valid
// until it expires or its session ends, so that a logout invalidates all access
// tokens of the session at once. Refresh tokens are not rotated, because the
// response to a refresh has no field for a new one.
//
// Monitoring systems that cannot log in use a key with read-only access.
package session

import (
	"context"
	"time"

	"vigil/internal/auth"
	"vigil/internal/desktop"
)

// User is an administrator in the directory.
type User struct {
	DomainID desktop.ID // of the domain in the inventory
	Domain   string     // NetBIOS name
	Name     string     // account name in the directory's spelling
	SID      string
}

// Session is a login session.
type Session struct {
	ID        string
	User      User
	Source    string // address of the login
	CreatedAt time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // zero while active
}

// Live reports whether the session has neither ended nor expired.
func (s Session) Live(now time.Time) bool { return s.EndedAt.IsZero() && now.Before(s.ExpiresAt) }

// Failures counts the refused logins of a subject: a user of a domain, a
// network, or a user at a network.
type Failures struct {
	Count int
	Last  time.Time
}

// Store stores sessions, failures and keys.
//
// Methods are safe for concurrent use, also by several processes. They fail
// with fault.NotFound for an object that does not exist.
type Store interface {
	// AddSession stores a new session.
	AddSession(ctx context.Context, s Session) error

	// Session returns a session, even if it has ended.
	Session(ctx context.Context, id string) (Session, error)

	// EndSession ends a session. It fails with fault.NotFound when it has already
	// ended.
	EndSession(ctx context.Context, id string, at time.Time) error

	// SessionsOf returns the sessions of a user that have not ended, newest first.
	SessionsOf(ctx context.Context, sid string) ([]Session, error)

	// ForgetSessions deletes sessions that expired or ended before the time.
	ForgetSessions(ctx context.Context, before time.Time) error

	// Failures returns the failures of each subject, zero for none.
	Failures(ctx context.Context, subjects ...string) ([]Failures, error)

	// AddFailure counts one more failure. The count restarts at one if the last
	// failure is older than the window.
	AddFailure(ctx context.Context, subject string, at time.Time, window time.Duration) (Failures, error)

	// ClearFailures deletes the failures of each subject if they still equal seen. If
	// another failure was counted meanwhile, all failures of the subject are kept.
	ClearFailures(ctx context.Context, seen map[string]Failures) error

	// ForgetFailures deletes failures that were last counted before the time.
	ForgetFailures(ctx context.Context, before time.Time) error

	// LoginNetworks returns the networks from which users have logged in.
	LoginNetworks(ctx context.Context) ([]auth.LoginNetwork, error)

	// AddLoginNetwork stores a network, or the time of its latest use.
	AddLoginNetwork(ctx context.Context, p auth.LoginNetwork, at time.Time) error

	// ForgetLoginNetworks deletes networks that were last used before the time.
	ForgetLoginNetworks(ctx context.Context, before time.Time) error

	// AddKey stores a new key.
	AddKey(ctx context.Context, k Key) error

	// Keys returns all keys, newest first.
	Keys(ctx context.Context) ([]Key, error)

	// KeyByHash returns the key whose text has the hash.
	KeyByHash(ctx context.Context, hash []byte) (Key, error)

	// UseKey records the time and address of a key's last use.
	UseKey(ctx context.Context, id string, at time.Time, address string) error

	// DeleteKey removes a key.
	DeleteKey(ctx context.Context, id string) error
}
