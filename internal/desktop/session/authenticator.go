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

// The audiences and the type of tokens. No other operation accepts a refresh
// token.
const (
	accessAudience  = "desktop"
	refreshAudience = "desktop-refresh"
	refreshType     = "rt+jwt"
)

// Credentials are the input of a login.
type Credentials struct {
	Domain   string // NetBIOS or DNS name
	Username string
	Password secret.Text
	Source   string // address of the caller
}

// A Refusal is the reason why a login was refused. API responses do not reveal
// it.
type Refusal struct {
	Cause   string // for the audit record: "wrong password", "not an administrator"
	Counted bool   // the directory counts it towards its lockout
	Err     error

	// Misconfigured means that nobody can log in until an administrator fixes the
	// configuration. Such a refusal is logged.
	Misconfigured bool
}

func (r *Refusal) Error() string { return r.Cause }

// Unwrap returns the directory's own error.
func (r *Refusal) Unwrap() error { return r.Err }

// Directory authenticates users.
type Directory interface {
	// Find returns the domain with a NetBIOS or DNS name, ignoring case.
	Find(name string) (desktop.Domain, bool)

	// Login checks a password and that the user is an administrator. It fails with
	// a *Refusal when the directory refuses the user.
	Login(ctx context.Context, d desktop.Domain, username string, password secret.Text) (User, error)

	// Lockout returns the domain's lockout policy.
	Lockout(d desktop.ID) desktop.LockoutPolicy

	// LongestWindow returns the longest time for which a domain counts failures.
	LongestWindow() time.Duration
}

// Options configure an Authenticator.
type Options struct {
	Store       Store
	Keys        *auth.Keys
	Directory   Directory
	AccessLife  time.Duration // 30 minutes when zero
	RefreshLife time.Duration // 8 hours when zero
	KeyLife     time.Duration // default lifetime of monitoring keys; 90 days when zero
	Throttle    ThrottleOptions
	Now         func() time.Time // time.Now when nil
	Log         *slog.Logger

	// Report is called with every login and logout, including refused ones with
	// their actual cause. It may be nil.
	Report func(ctx context.Context, e Event)
}

// Event is a login or logout for the audit log and the event database.
type Event struct {
	At       time.Time
	Action   string // login, logout
	Domain   string
	Username string
	SID      string // empty while unknown
	Source   string
	Session  string
	Refused  string // the actual cause; empty for a success
}

// Authenticator logs users in and out and identifies callers. It is safe for concurrent
// use.
type Authenticator struct {
	Options
	throttle  *throttle
	validated *cache
}

// NewAuthenticator returns a new authenticator.
func NewAuthenticator(o Options) *Authenticator {
	o.AccessLife = cmp.Or(o.AccessLife, 30*time.Minute)
	o.RefreshLife = cmp.Or(o.RefreshLife, 8*time.Hour)
	o.KeyLife = cmp.Or(o.KeyLife, DefaultKeyLife)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Report == nil {
		o.Report = func(context.Context, Event) {}
	}
	return &Authenticator{Options: o, throttle: newThrottle(o.Store, o.Throttle, o.Now), validated: newCache()}
}

// Tokens are the result of a login.
type Tokens struct{ Access, Refresh string }

// loginRefused returns the error for every refused login. The error does not reveal the cause.
func loginRefused(after time.Duration) error {
	return &fault.Error{
		Kind: fault.Unauthenticated, After: after,
		Message: "the domain, the user name or the password is wrong, or the user may not log in",
	}
}

// Login opens a session and returns its tokens.
func (a *Authenticator) Login(ctx context.Context, c Credentials) (Tokens, error) {
	s, err := a.OpenSession(ctx, c, a.RefreshLife)
	if err != nil {
		return Tokens{}, err
	}
	return a.sign(ctx, s)
}

// OpenSession opens a session that lasts for the given time. All refusals return the
// same error; the actual cause goes to Report.
func (a *Authenticator) OpenSession(ctx context.Context, c Credentials, lifetime time.Duration) (Session, error) {
	event := Event{At: a.Now(), Action: "login", Domain: c.Domain, Username: c.Username, Source: c.Source}
	user, after, err := a.authenticate(ctx, c)
	if r, ok := errors.AsType[*Refusal](err); ok {
		event.Refused = r.Cause
		if r.Misconfigured && a.Log != nil {
			// The text of r.Err is the cause again; the error in r.Err has the details.
			a.Log.ErrorContext(ctx, "nobody can log in", "cause", r.Cause, "error", errors.Unwrap(r.Err))
		}
		a.Report(ctx, event)
		return Session{}, loginRefused(after)
	}
	cause := "the login could not be checked"
	if f, ok := errors.AsType[*desktop.Failure](err); ok {
		cause = "the directory was not available"
		err = &fault.Error{Kind: fault.Unavailable, Message: "the directory is not available now; try again later", After: 10 * time.Second, Err: f}
	}
	if err != nil {
		event.Refused = cause
		a.Report(ctx, event)
		return Session{}, err
	}
	now := a.Now()
	s := Session{ID: uuid.NewString(), User: user, Source: c.Source, CreatedAt: now, ExpiresAt: now.Add(lifetime)}
	event.Domain, event.Username, event.SID = user.Domain, user.Name, user.SID
	if err := a.Store.AddSession(ctx, s); err != nil {
		event.Refused = "the session could not be stored"
		a.Report(ctx, event)
		return Session{}, err
	}
	event.Session = s.ID
	a.Report(ctx, event)
	return s, nil
}

// authenticate checks the credentials, limited by the throttle. If the throttle refuses
// the attempt, it returns how long to wait before the next one.
func (a *Authenticator) authenticate(ctx context.Context, c Credentials) (User, time.Duration, error) {
	d, ok := a.Directory.Find(c.Domain)
	if !ok {
		// A wrong domain name counts as a failure of the address, as a wrong password does.
		after, err := a.throttle.count(ctx, c.Source)
		if err != nil {
			return User{}, 0, err
		}
		return User{}, after, &Refusal{Cause: "unknown domain"}
	}
	var user User
	after, err := a.throttle.try(ctx, attemptOf(d, c), a.Directory.Lockout(d.ID), func() error {
		var err error
		user, err = a.Directory.Login(ctx, d, c.Username, c.Password)
		return err
	})
	return user, after, err
}

// KnownAccount returns the name under which the rate limit counts a login of a user
// who has logged in from the same network before, and "" otherwise.
func (a *Authenticator) KnownAccount(ctx context.Context, c Credentials) string {
	d, ok := a.Directory.Find(c.Domain)
	if !ok {
		return ""
	}
	return a.throttle.knownUser(ctx, attemptOf(d, c))
}

// Verify checks credentials without a login, limited by the throttle, so that it
// cannot lock accounts. try must fail with a *Refusal when the directory refuses
// the credentials.
func (a *Authenticator) Verify(ctx context.Context, d desktop.Domain, username, source string, try func() error) (time.Duration, error) {
	c := Credentials{Domain: d.DNSName, Username: username, Source: source}
	return a.throttle.try(ctx, attemptOf(d, c), a.Directory.Lockout(d.ID), try)
}

func (a *Authenticator) sign(ctx context.Context, s Session) (Tokens, error) {
	access, err := a.access(ctx, s)
	if err != nil {
		return Tokens{}, err
	}
	refresh, err := a.Keys.Sign(ctx, refreshType, auth.Claims{
		Audience: refreshAudience, Subject: s.User.SID, Session: s.ID, ExpiresAt: s.ExpiresAt,
	})
	return Tokens{Access: access, Refresh: refresh}, err
}

// access signs an access token, which does not outlive its session.
func (a *Authenticator) access(ctx context.Context, s Session) (string, error) {
	expires := a.Now().Add(a.AccessLife)
	if expires.After(s.ExpiresAt) {
		expires = s.ExpiresAt
	}
	return a.Keys.Sign(ctx, auth.AccessType, auth.Claims{
		Audience: accessAudience, Subject: s.User.SID, Session: s.ID, ExpiresAt: expires,
		Roles: []string{string(Administrator)},
	})
}

// Refresh returns a new access token for the session of a refresh token.
func (a *Authenticator) Refresh(ctx context.Context, token string) (string, error) {
	s, err := a.sessionOfRefreshToken(ctx, token)
	if err != nil {
		return "", err
	}
	return a.access(ctx, s)
}

// Logout ends the session of a refresh token.
func (a *Authenticator) Logout(ctx context.Context, token, source string) error {
	s, err := a.sessionOfRefreshToken(ctx, token)
	if err != nil {
		return err
	}
	return a.end(ctx, s, source)
}

// end ends a session. It succeeds if the session has ended meanwhile.
func (a *Authenticator) end(ctx context.Context, s Session, source string) error {
	now := a.Now()
	if err := a.Store.EndSession(ctx, s.ID, now); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	a.validated.end(s.ID)
	a.Report(ctx, Event{
		At: now, Action: "logout", Domain: s.User.Domain, Username: s.User.Name, SID: s.User.SID,
		Source: source, Session: s.ID,
	})
	return nil
}

// Sessions returns the active sessions of a user, newest first.
func (a *Authenticator) Sessions(ctx context.Context, sid string) ([]Session, error) {
	all, err := a.Store.SessionsOf(ctx, sid)
	now := a.Now()
	return slices.DeleteFunc(all, func(s Session) bool { return !s.Live(now) }), err
}

// End ends a session of a user. It fails with fault.NotFound when the user has
// no such session, or it has ended.
func (a *Authenticator) End(ctx context.Context, sid, id, source string) error {
	s, err := a.Store.Session(ctx, id)
	if err != nil {
		return err
	}
	if s.User.SID != sid || !s.Live(a.Now()) {
		return fault.New(fault.NotFound, "there is no such session")
	}
	return a.end(ctx, s, source)
}

// errRefresh is the error for every invalid refresh token. The API document
// specifies the status 400 for it, not 401.
var errRefresh = fault.Field("refresh_token", "is not valid, has expired or was revoked")

// sessionOfRefreshToken returns the live session that a refresh token belongs to.
func (a *Authenticator) sessionOfRefreshToken(ctx context.Context, token string) (Session, error) {
	claims, err := a.Keys.Verify(ctx, token, auth.Want{Type: refreshType, Audience: refreshAudience})
	if fault.Is(err, fault.Unauthenticated) {
		return Session{}, errRefresh
	}
	if err != nil {
		return Session{}, err
	}
	s, err := a.Store.Session(ctx, claims.Session)
	if fault.Is(err, fault.NotFound) || err == nil && !s.Live(a.Now()) {
		return Session{}, errRefresh
	}
	return s, err
}

// loginNetworksKept is how long networks of past logins are stored.
const loginNetworksKept = 180 * 24 * time.Hour

// failuresKept is how long failures are stored at least. They are stored longer if a
// directory still counts them, which may be for months: for each failure that is forgotten
// too early, the throttle passes on one wrong password too many.
const failuresKept = 24 * time.Hour

// Tidy deletes expired records. It is called periodically.
func (a *Authenticator) Tidy(ctx context.Context) error {
	now := a.Now()
	return errors.Join(
		a.Store.ForgetSessions(ctx, now.Add(-24*time.Hour)),
		a.Store.ForgetFailures(ctx, now.Add(-max(failuresKept, a.Directory.LongestWindow()))),
		a.Store.ForgetLoginNetworks(ctx, now.Add(-loginNetworksKept)),
	)
}
