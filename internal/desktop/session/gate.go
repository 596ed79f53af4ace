package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"vigil/internal/auth"
	"vigil/internal/desktop"
	"vigil/internal/fault"
	"vigil/internal/secret"
)

// The audiences and the type of our tokens. A refresh token is none that any
// other operation takes.
const (
	accessAudience  = "desktop"
	refreshAudience = "desktop-refresh"
	refreshType     = "rt+jwt"
)

// Credentials are what a caller logs in with.
type Credentials struct {
	Domain   string // NetBIOS or DNS name
	Username string
	Password secret.Text
	Source   string // address of the caller
}

// A Refusal says why a login was refused. Callers of the API never learn it.
type Refusal struct {
	Cause   string // for the audit record: "wrong password", "not an administrator"
	Counted bool   // the directory counts it towards its lockout
	Err     error

	// Misconfigured says that nobody can log in until an administrator mends the
	// configuration, so it belongs in the log.
	Misconfigured bool
}

func (r *Refusal) Error() string { return r.Cause }

// Unwrap returns the directory's own error.
func (r *Refusal) Unwrap() error { return r.Err }

// Directory knows who may log in.
type Directory interface {
	// Find returns the domain of a NetBIOS or DNS name, without regard to case.
	Find(name string) (desktop.Domain, bool)

	// Login tries a password and checks that the user is an administrator. It
	// fails with a *Refusal when the directory answered and the answer is no.
	Login(ctx context.Context, d desktop.Domain, username string, password secret.Text) (User, error)

	// Lockout returns the domain's own rule for locking accounts.
	Lockout(d desktop.ID) desktop.LockoutPolicy
}

// Options say how sessions are kept.
type Options struct {
	Store       Store
	Keys        *auth.Keys
	Directory   Directory
	AccessLife  time.Duration // 30 minutes when zero
	RefreshLife time.Duration // 8 hours when zero
	KeyLife     time.Duration // of monitoring keys whose end is not said; 90 days when zero
	Throttle    ThrottleOptions
	Now         func() time.Time // time.Now when nil
	Log         *slog.Logger

	// Report is told of every login and logout, also refused ones, with the true
	// cause. It may be nil.
	Report func(ctx context.Context, e Event)
}

// Event is a login or logout for the audit log and the event database.
type Event struct {
	At       time.Time
	Action   string // login, logout
	Domain   string
	Username string
	SID      string // empty while it is not known
	Source   string
	Session  string
	Refused  string // the true cause; empty for a success
}

// Gate logs in and out and identifies callers. It is safe for concurrent use.
type Gate struct {
	Options
	throttle *throttle
	seen     *cache
}

// NewGate makes a gate.
func NewGate(o Options) *Gate {
	o.AccessLife = cmp.Or(o.AccessLife, 30*time.Minute)
	o.RefreshLife = cmp.Or(o.RefreshLife, 8*time.Hour)
	o.KeyLife = cmp.Or(o.KeyLife, DefaultKeyLife)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Report == nil {
		o.Report = func(context.Context, Event) {}
	}
	return &Gate{Options: o, throttle: newThrottle(o.Store, o.Throttle, o.Now), seen: newCache()}
}

// Tokens are what a login brings.
type Tokens struct{ Access, Refresh string }

// refused is the one answer to every login that is not accepted.
func refused(after time.Duration) error {
	return &fault.Error{
		Kind: fault.Unauthenticated, After: after,
		Message: "the domain, the user name or the password is wrong, or the user may not log in",
	}
}

// Login begins a session and returns its tokens.
func (g *Gate) Login(ctx context.Context, c Credentials) (Tokens, error) {
	s, err := g.Enter(ctx, c, g.RefreshLife)
	if err != nil {
		return Tokens{}, err
	}
	return g.sign(ctx, s)
}

// Enter begins a session that lasts for the given time. Whatever the cause of a
// refusal, the answer is the same; the true cause goes to Report.
func (g *Gate) Enter(ctx context.Context, c Credentials, life time.Duration) (Session, error) {
	event := Event{At: g.Now(), Action: "login", Domain: c.Domain, Username: c.Username, Source: c.Source}
	user, after, err := g.admit(ctx, c)
	if r, ok := errors.AsType[*Refusal](err); ok {
		event.Refused = r.Cause
		if r.Misconfigured && g.Log != nil {
			g.Log.ErrorContext(ctx, "nobody can log in", "cause", r.Cause, "error", errors.Unwrap(r.Err))
		}
		g.Report(ctx, event)
		return Session{}, refused(after)
	}
	if f, ok := errors.AsType[*desktop.Failure](err); ok {
		err = &fault.Error{Kind: fault.Unavailable, Message: "the directory cannot be asked now", After: 10 * time.Second, Err: f}
	}
	if err != nil {
		event.Refused = "the directory could not be asked"
		g.Report(ctx, event)
		return Session{}, err
	}
	now := g.Now()
	s := Session{ID: uuid.NewString(), User: user, Source: c.Source, CreatedAt: now, ExpiresAt: now.Add(life)}
	if err := g.Store.AddSession(ctx, s); err != nil {
		return Session{}, err
	}
	event.Domain, event.Username, event.SID, event.Session = user.Domain, user.Name, user.SID, s.ID
	g.Report(ctx, event)
	return s, nil
}

// admit tries the credentials under the throttle. With a refusal it returns when
// to try again, if the throttle is to blame.
func (g *Gate) admit(ctx context.Context, c Credentials) (User, time.Duration, error) {
	d, ok := g.Directory.Find(c.Domain)
	if !ok {
		// Addresses that guess at domains are counted like those that guess at
		// passwords.
		after, err := g.throttle.count(ctx, c.Source)
		if err != nil {
			return User{}, 0, err
		}
		return User{}, after, &Refusal{Cause: "unknown domain"}
	}
	var user User
	after, err := g.throttle.try(ctx, attemptOf(d, c), g.Directory.Lockout(d.ID), func() error {
		var err error
		user, err = g.Directory.Login(ctx, d, c.Username, c.Password)
		return err
	})
	return user, after, err
}

// KnownAccount names the account that limits count a login against, if it has
// logged in from the same network before, and "" otherwise.
func (g *Gate) KnownAccount(ctx context.Context, c Credentials) string {
	d, ok := g.Directory.Find(c.Domain)
	if !ok {
		return ""
	}
	return g.throttle.knownUser(ctx, attemptOf(d, c))
}

// Verify tries the credentials of an account that is not to log in, under the
// same throttle, so that this way cannot lock accounts either. Try must fail
// with a *Refusal when the directory says no.
func (g *Gate) Verify(ctx context.Context, d desktop.Domain, username, source string, try func() error) (time.Duration, error) {
	c := Credentials{Domain: d.DNSName, Username: username, Source: source}
	return g.throttle.try(ctx, attemptOf(d, c), g.Directory.Lockout(d.ID), try)
}

func (g *Gate) sign(ctx context.Context, s Session) (Tokens, error) {
	access, err := g.access(ctx, s)
	if err != nil {
		return Tokens{}, err
	}
	refresh, err := g.Keys.Sign(ctx, refreshType, auth.Claims{
		Audience: refreshAudience, Subject: s.User.SID, Session: s.ID, ExpiresAt: s.ExpiresAt,
	})
	return Tokens{Access: access, Refresh: refresh}, err
}

// access signs an access token, which never outlives its session.
func (g *Gate) access(ctx context.Context, s Session) (string, error) {
	ends := g.Now().Add(g.AccessLife)
	if ends.After(s.ExpiresAt) {
		ends = s.ExpiresAt
	}
	return g.Keys.Sign(ctx, auth.AccessType, auth.Claims{
		Audience: accessAudience, Subject: s.User.SID, Session: s.ID, ExpiresAt: ends,
		Roles: []string{string(Administrator)},
	})
}

// Refresh returns a new access token of the session that a refresh token
// belongs to.
func (g *Gate) Refresh(ctx context.Context, token string) (string, error) {
	s, err := g.refreshed(ctx, token)
	if err != nil {
		return "", err
	}
	return g.access(ctx, s)
}

// Logout ends the session that a refresh token belongs to.
func (g *Gate) Logout(ctx context.Context, token, source string) error {
	s, err := g.refreshed(ctx, token)
	if err != nil {
		return err
	}
	return g.end(ctx, s, source)
}

// end ends a session; one that has ended meanwhile is all right too.
func (g *Gate) end(ctx context.Context, s Session, source string) error {
	now := g.Now()
	if err := g.Store.EndSession(ctx, s.ID, now); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	g.seen.end(s.ID)
	g.Report(ctx, Event{
		At: now, Action: "logout", Domain: s.User.Domain, Username: s.User.Name, SID: s.User.SID,
		Source: source, Session: s.ID,
	})
	return nil
}

// Sessions returns the sessions of a user that live, newest first.
func (g *Gate) Sessions(ctx context.Context, sid string) ([]Session, error) {
	all, err := g.Store.SessionsOf(ctx, sid)
	now := g.Now()
	return slices.DeleteFunc(all, func(s Session) bool { return !s.Live(now) }), err
}

// End ends a session of a user. It fails with fault.NotFound when the user has
// no such session, or it has ended.
func (g *Gate) End(ctx context.Context, sid, id, source string) error {
	s, err := g.Store.Session(ctx, id)
	if err != nil {
		return err
	}
	if s.User.SID != sid || !s.Live(g.Now()) {
		return fault.New(fault.NotFound, "there is no such session")
	}
	return g.end(ctx, s, source)
}

// errRefresh is the answer to every refresh token that is good no more. It is
// the request that is wrong, says the API document, not the caller.
var errRefresh = fault.Field("refresh_token", "is not valid, has expired or was revoked")

func (g *Gate) refreshed(ctx context.Context, token string) (Session, error) {
	claims, err := g.Keys.Verify(ctx, token, auth.Want{Type: refreshType, Audience: refreshAudience})
	if fault.Is(err, fault.Unauthenticated) {
		return Session{}, errRefresh
	}
	if err != nil {
		return Session{}, err
	}
	s, err := g.Store.Session(ctx, claims.Session)
	if fault.Is(err, fault.NotFound) || err == nil && !s.Live(g.Now()) {
		return Session{}, errRefresh
	}
	return s, err
}

// placesKept is how long it is remembered that a user logged in from somewhere.
const placesKept = 180 * 24 * time.Hour

// Tidy forgets what is of no more use. It is called now and then.
func (g *Gate) Tidy(ctx context.Context) error {
	now := g.Now()
	return errors.Join(
		g.Store.ForgetSessions(ctx, now.Add(-24*time.Hour)),
		g.Store.ForgetFailures(ctx, now.Add(-24*time.Hour)),
		g.Store.ForgetLoginPlaces(ctx, now.Add(-placesKept)),
	)
}
