// Package websession keeps the sessions of browsers: a cookie in place of the
// bearer token that programs send.
//
// The cookie has two parts. The handle names the session and stays the same; the
// secret is rotated every few minutes. A secret is accepted until the browser has
// shown its successor, and for a short grace after that, for requests that were
// under way. A secret that comes back later was copied from the browser: the
// session ends for everybody who holds it. Only hashes of both are stored.
//
// A session ends by logout, after a time without requests, and after a fixed
// time in all. Requests that change something must also carry a CSRF token,
// which other origins cannot read.
//
// The package knows no user. Each server stores in a session who logged in and
// what the login rests on, an API token for one, and checks at every request
// that this is still good.
package websession

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"vigil/internal/fault"
	"vigil/internal/sqldb"
)

// An Identity is who logged in, as the server that let them in knows them.
type Identity struct {
	Org     string // empty where there are no organisations
	Subject string // id of the user
	Grant   string // what the login rests on: the id of an API token or of a directory login; may be empty
	Name    string // of the user, for people
	Method  string // how they logged in: "apiToken", "password", "oidc", "link"
}

// A Session is the time between a login and its end.
type Session struct {
	ID string // for lists and audit records; it opens nothing
	Identity
	CreatedAt time.Time
	UsedAt    time.Time // exact to a minute
	EndsAt    time.Time // whatever happens
	EndedAt   time.Time // zero while it lives
	Address   string    // of the login
	Agent     string    // the browser's own name for itself

	handle string // set where the cookie is at hand
}

// CSRFToken is what requests of this session that change something must carry
// in the header X-CSRF-Token. It is known only where the cookie is.
func (s Session) CSRFToken() string {
	if s.handle == "" {
		return ""
	}
	return encode(hash("csrf " + s.handle))
}

// Options describe the sessions of one server.
type Options struct {
	Realm  string // name of the server; sessions of one realm mean nothing in another
	Secure bool   // browsers reach the server by HTTPS
	Now    func() time.Time

	Idle   time.Duration // without requests for this long a session ends; 30 minutes when zero
	Life   time.Duration // and after this long in any case; 10 hours when zero
	Rotate time.Duration // how long a secret is used; 5 minutes when zero
	Grace  time.Duration // how long after its successor was seen a secret is still accepted; 1 minute when zero
}

// Sessions are the sessions of one server. They are safe for concurrent use, by
// several processes too.
type Sessions struct {
	Options
	db *sqldb.DB
}

// New returns the sessions of a server.
func New(db *sqldb.DB, o Options) *Sessions {
	o.Idle = cmp.Or(o.Idle, 30*time.Minute)
	o.Life = cmp.Or(o.Life, 10*time.Hour)
	o.Rotate = cmp.Or(o.Rotate, 5*time.Minute)
	o.Grace = cmp.Or(o.Grace, time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sessions{Options: o, db: db}
}

// Why sessions end.
const (
	EndedByLogout = "logout"
	EndedByAdmin  = "ended by an administrator"
	EndedByReuse  = "a cookie was used after its successor: it was copied"
)

// usedGrain is how exact the time of last use is.
const usedGrain = time.Minute

// begin stores a session and returns its cookie's value.
func (s *Sessions) begin(ctx context.Context, who Identity, address, agent string) (Session, string, error) {
	now := s.Now()
	session := Session{
		ID: uuid.NewString(), Identity: who, CreatedAt: now, UsedAt: now, EndsAt: now.Add(s.Life),
		Address: address, Agent: shorten(agent), handle: rand.Text(),
	}
	secret := rand.Text()
	if err := s.insert(ctx, session, hash(secret)); err != nil {
		return Session{}, "", fmt.Errorf("begin a browser session: %w", err)
	}
	return session, session.handle + "." + secret, nil
}

// identify returns the session of a cookie's value and, when it is time, the
// value to replace it with.
func (s *Sessions) identify(ctx context.Context, cookie string) (Session, string, error) {
	handle, secret, ok := strings.Cut(cookie, ".")
	if !ok || len(cookie) > 200 {
		return Session{}, "", refused(errors.New("the cookie is malformed"))
	}
	row, err := s.read(ctx, hash(handle))
	if fault.Is(err, fault.NotFound) {
		return Session{}, "", refused(errors.New("there is no such session"))
	}
	if err != nil {
		return Session{}, "", err
	}
	now := s.Now()
	if err := s.live(row.session, now); err != nil {
		return row.session, "", refused(err)
	}
	given := hash(secret)
	switch {
	case equal(given, row.secret):
	case equal(given, row.pending):
		// The browser has the new secret: the old one is good for the grace alone.
		if err := s.promote(ctx, row, now); err != nil {
			return Session{}, "", err
		}
		row.rotatedAt, row.pending, row.pendingAt = now, nil, time.Time{}
	case equal(given, row.previous) && now.Before(row.previousUntil):
		row.rotatedAt = now // a request from before the rotation must not begin another
	default:
		if err := s.end(ctx, row.session.ID, EndedByReuse, now); err != nil && !fault.Is(err, fault.NotFound) {
			return Session{}, "", err
		}
		return row.session, "", refused(errors.New(EndedByReuse))
	}
	if now.Sub(row.session.UsedAt) >= usedGrain {
		if err := s.touch(ctx, row.session.ID, now); err != nil {
			return Session{}, "", err
		}
		row.session.UsedAt = now
	}
	row.session.handle = handle
	next, err := s.rotate(ctx, row, now)
	return row.session, next, err
}

// rotate returns a new value for the cookie when the secret is old. One request
// of many at the same time gets it; when its answer is lost, another does after
// the grace.
func (s *Sessions) rotate(ctx context.Context, row storedSession, now time.Time) (string, error) {
	if now.Sub(row.rotatedAt) < s.Rotate || !row.pendingAt.IsZero() && now.Sub(row.pendingAt) < s.Grace {
		return "", nil
	}
	secret := rand.Text()
	won, err := s.propose(ctx, row, hash(secret), now)
	if err != nil || !won {
		return "", err
	}
	return row.session.handle + "." + secret, nil
}

// live says why a session has ended, if it has.
func (s *Sessions) live(session Session, now time.Time) error {
	switch {
	case !session.EndedAt.IsZero():
		return errors.New("the session was ended")
	case !now.Before(session.EndsAt):
		return errors.New("the session has reached its end")
	case now.Sub(session.UsedAt) >= s.Idle+usedGrain:
		return errors.New("the session was idle for too long")
	}
	return nil
}

// IdleEnd is when the session ends if no request comes.
func (s *Sessions) IdleEnd(session Session) time.Time {
	if idle := session.UsedAt.Add(s.Idle); idle.Before(session.EndsAt) {
		return idle
	}
	return session.EndsAt
}

// List returns the sessions of a user that have not ended, newest first.
func (s *Sessions) List(ctx context.Context, org, subject string) ([]Session, error) {
	all, err := s.list(ctx, org, subject)
	now := s.Now()
	var live []Session
	for _, session := range all {
		if s.live(session, now) == nil {
			live = append(live, session)
		}
	}
	return live, err
}

// End ends a session of a user. It fails with fault.NotFound when there is no
// such session or it has ended.
func (s *Sessions) End(ctx context.Context, org, subject, id, why string) error {
	session, err := s.byID(ctx, id)
	if err != nil {
		return err
	}
	if session.Org != org || session.Subject != subject || s.live(session, s.Now()) != nil {
		return notFound()
	}
	return s.end(ctx, id, why, s.Now())
}

// Invite makes a ticket: whoever shows it first, within its life, is logged in
// as the identity.
func (s *Sessions) Invite(ctx context.Context, who Identity, life time.Duration) (string, error) {
	ticket := rand.Text()
	return ticket, s.addTicket(ctx, hash(ticket), who, s.Now().Add(life))
}

// Run forgets sessions and tickets that are over, now and then until ctx ends.
func (s *Sessions) Run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.forget(ctx, s.Now().Add(-24*time.Hour)); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "old browser sessions not removed", "error", err)
			}
		}
	}
}

// refused is the one answer to every cookie that is not good; the cause is for
// the log.
func refused(cause error) error {
	return fault.Wrap(fault.Unauthenticated, cause, "the browser session is not valid or has ended; log in again")
}

func notFound() error { return fault.New(fault.NotFound, "the session was not found") }

func hash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

func equal(a, b []byte) bool { return len(b) > 0 && subtle.ConstantTimeCompare(a, b) == 1 }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// shorten bounds what a browser says of itself.
func shorten(agent string) string {
	const most = 200
	agent = strings.ToValidUTF8(strings.ReplaceAll(agent, "\x00", ""), "")
	if len(agent) > most {
		agent = strings.ToValidUTF8(agent[:most], "")
	}
	return agent
}
