// Package websession manages browser sessions: a cookie instead of the bearer
// token that programs send.
//
// The cookie has two parts. The handle identifies the session and does not
// change; the secret is rotated every few minutes. A secret is accepted until
// the browser has sent its successor, and for a short grace period after that,
// for concurrent requests. A secret that is used later was copied from the
// browser, and the session is ended. Only hashes of handle and secrets are stored.
//
// A session ends by logout, after an idle time, and at a maximum age. Requests
// that change something must also carry a CSRF token, which other origins
// cannot read.
//
// The package does not know users. Each server stores in a session who logged
// in and by which grant, such as an API token, and checks at every request that
// the grant is still valid.
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

// An Identity is the user who logged in.
type Identity struct {
	Org     string // empty where there are no organisations
	Subject string // id of the user
	Grant   string // the id of the API token or directory login that the session depends on; may be empty
	Name    string // display name of the user
	Method  string // login method: "apiToken", "password", "oidc", "link"
}

// A Session is a browser session.
type Session struct {
	ID string // for lists and audit records; it does not authenticate
	Identity
	CreatedAt time.Time
	UsedAt    time.Time // with a precision of a minute
	EndsAt    time.Time // maximum age
	EndedAt   time.Time // zero while active
	Address   string    // of the login
	Agent     string    // the User-Agent header

	handle string // empty unless the session was read by its cookie
}

// CSRFToken returns the token that changing requests of this session must send
// in the header X-CSRF-Token. It is derived from the handle, and "" if the session
// was not read by its cookie.
func (s Session) CSRFToken() string {
	if s.handle == "" {
		return ""
	}
	return encode(hash("csrf " + s.handle))
}

// Options configure the sessions of one server.
type Options struct {
	Realm  string // name of the server; sessions are not valid in another realm
	Secure bool   // browsers use HTTPS
	Now    func() time.Time

	Idle   time.Duration // maximum time between requests; 30 minutes when zero
	Life   time.Duration // maximum age; 10 hours when zero
	Rotate time.Duration // rotation interval of the secret; 5 minutes when zero
	Grace  time.Duration // how long a secret is accepted after its successor was used; 1 minute when zero
}

// Sessions manages the sessions of one server. It is safe for concurrent use,
// also by several processes.
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

// Reasons why sessions end.
const (
	EndedByLogout = "logout"
	EndedByAdmin  = "ended by an administrator"
	EndedByReuse  = "a cookie was used after its successor: it was copied"
)

// usedPrecision is the precision of the time of last use.
const usedPrecision = time.Minute

// begin stores a new session and returns its cookie's value.
func (s *Sessions) begin(ctx context.Context, identity Identity, address, agent string) (Session, string, error) {
	now := s.Now()
	session := Session{
		ID: uuid.NewString(), Identity: identity, CreatedAt: now, UsedAt: now, EndsAt: now.Add(s.Life),
		Address: address, Agent: shorten(agent), handle: rand.Text(),
	}
	secret := rand.Text()
	if err := s.insert(ctx, session, hash(secret)); err != nil {
		return Session{}, "", fmt.Errorf("begin a browser session: %w", err)
	}
	return session, session.handle + "." + secret, nil
}

// identify returns the session of a cookie's value and, when a rotation is due,
// the value to replace it with.
func (s *Sessions) identify(ctx context.Context, cookie string) (Session, string, error) {
	handle, secret, ok := strings.Cut(cookie, ".")
	if !ok || len(cookie) > 200 {
		return Session{}, "", refusalError(errors.New("the cookie is malformed"))
	}
	row, err := s.read(ctx, hash(handle))
	if fault.Is(err, fault.NotFound) {
		return Session{}, "", refusalError(errors.New("the session does not exist"))
	}
	if err != nil {
		return Session{}, "", err
	}
	now := s.Now()
	if err := s.live(row.session, now); err != nil {
		return row.session, "", refusalError(err)
	}
	hashed := hash(secret)
	switch {
	case equal(hashed, row.secret):
	case equal(hashed, row.pending):
		// The browser has received the new secret: the old one is valid only for the
		// grace period.
		if err := s.promote(ctx, row, now); err != nil {
			return Session{}, "", err
		}
		row.rotatedAt, row.pending, row.pendingAt = now, nil, time.Time{}
	case equal(hashed, row.previous) && now.Before(row.previousUntil):
		row.rotatedAt = now // a request sent before the rotation must not start another
	default:
		if err := s.end(ctx, row.session.ID, EndedByReuse, now); err != nil && !fault.Is(err, fault.NotFound) {
			return Session{}, "", err
		}
		return row.session, "", refusalError(errors.New(EndedByReuse))
	}
	if now.Sub(row.session.UsedAt) >= usedPrecision {
		if err := s.touch(ctx, row.session.ID, now); err != nil {
			return Session{}, "", err
		}
		row.session.UsedAt = now
	}
	row.session.handle = handle
	next, err := s.rotate(ctx, row, now)
	return row.session, next, err
}

// rotate returns a new cookie value when the secret is older than Rotate. Only one of
// several concurrent requests gets a new value. If its response is lost, a request
// after the grace period gets another new value.
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

// live returns an error if a session has ended.
func (s *Sessions) live(session Session, now time.Time) error {
	switch {
	case !session.EndedAt.IsZero():
		return errors.New("the session was ended: by logout, by an administrator or because its cookie was copied")
	case !now.Before(session.EndsAt):
		return errors.New("the session has reached its maximum age")
	case now.Sub(session.UsedAt) >= s.Idle+usedPrecision: // UsedAt may be too early by usedPrecision
		return errors.New("the session was idle for too long")
	}
	return nil
}

// IdleEnd returns when the session ends if no request is sent.
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

// End ends a session of a user. It fails with fault.NotFound when the session
// does not exist or has ended.
func (s *Sessions) End(ctx context.Context, org, subject, id, reason string) error {
	session, err := s.byID(ctx, id)
	if err != nil {
		return err
	}
	if session.Org != org || session.Subject != subject || s.live(session, s.Now()) != nil {
		return notFound()
	}
	return s.end(ctx, id, reason, s.Now())
}

// Invite creates a ticket. The first browser that presents it within its
// lifetime is logged in as the identity.
func (s *Sessions) Invite(ctx context.Context, identity Identity, lifetime time.Duration) (string, error) {
	ticket := rand.Text()
	return ticket, s.addTicket(ctx, hash(ticket), identity, s.Now().Add(lifetime))
}

// Run deletes ended sessions and expired tickets periodically until ctx is
// done.
func (s *Sessions) Run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.forget(ctx, s.Now().Add(-24*time.Hour)); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "remove old browser sessions", "error", err)
			}
		}
	}
}

// refusalError returns the error for every invalid cookie; the cause is logged only.
func refusalError(cause error) error {
	return fault.Wrap(fault.Unauthenticated, cause, "the browser session is not valid or has ended; log in again")
}

func notFound() error { return fault.New(fault.NotFound, "the session was not found") }

func hash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

func equal(a, b []byte) bool { return len(b) > 0 && subtle.ConstantTimeCompare(a, b) == 1 }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// shorten truncates a User-Agent header.
func shorten(agent string) string {
	const maxLength = 200
	agent = strings.ToValidUTF8(strings.ReplaceAll(agent, "\x00", ""), "")
	if len(agent) > maxLength {
		agent = strings.ToValidUTF8(agent[:maxLength], "")
	}
	return agent
}
