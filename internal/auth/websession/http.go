package websession

import (
	"context"
	"crypto/subtle"
	"net/http"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// CSRFHeader is the header with the CSRF token in requests that change
// something.
const CSRFHeader = "X-CSRF-Token"

// cookieName returns the cookie's name. It differs between servers, because
// browsers share cookies between the ports of a host. With the prefix __Host-,
// browsers refuse a cookie that was set by another host of the same domain or over
// plain HTTP.
func (s *Sessions) cookieName() string {
	if s.Secure {
		return "__Host-vigil-" + s.Realm
	}
	return "vigil-" + s.Realm
}

// cookie returns a session cookie with a value. It has no expiry: the server
// decides when the session ends.
func (s *Sessions) cookie(value string) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(), Value: value, Path: "/", Secure: s.Secure, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// expiredCookie returns a cookie that makes the browser delete the session cookie.
func (s *Sessions) expiredCookie() *http.Cookie {
	c := s.cookie("")
	c.MaxAge = -1
	return c
}

// ShortCookie returns a cookie for a login at another server. The browser sends the
// cookie when a link or redirect of that server leads back here (SameSite=Lax). A cookie
// with an empty value makes the browser delete the earlier one.
func (s *Sessions) ShortCookie(name, value string, lifetime time.Duration) *http.Cookie {
	c := s.cookie(value)
	c.Name, c.SameSite, c.MaxAge = s.cookieName()+"-"+name, http.SameSiteLaxMode, int(lifetime/time.Second)
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// Begin logs a browser in: the response sets the session cookie. A previous session
// of the browser ends.
func (s *Sessions) Begin(r *http.Request, identity Identity) (Session, error) {
	ctx := r.Context()
	if old, err := r.Cookie(s.cookieName()); err == nil {
		if session, _, err := s.identify(ctx, old.Value); err == nil {
			if err := s.end(ctx, session.ID, EndedByLogout, s.Now()); err != nil && !fault.Is(err, fault.NotFound) {
				return Session{}, err
			}
		}
	}
	session, value, err := s.begin(ctx, identity, httpapi.Source(ctx), r.UserAgent())
	if err != nil {
		return Session{}, err
	}
	httpapi.SetCookie(ctx, s.cookie(value))
	return session, nil
}

// Redeem returns the identity of a ticket. A ticket is valid once.
func (s *Sessions) Redeem(ctx context.Context, ticket string) (Identity, error) {
	identity, err := s.takeTicket(ctx, hash(ticket))
	if fault.Is(err, fault.NotFound) {
		return Identity{}, fault.New(fault.Unauthenticated, "the link was used before or has expired; log in, or ask for a new one")
	}
	return identity, err
}

// CheckOrigin returns an error if a changing request was sent by a page of
// another origin. Logins, which have no CSRF token yet, call it.
func CheckOrigin(r *http.Request) error {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return fault.Wrap(fault.Forbidden, err, "the request was sent by a page of another origin")
	}
	return nil
}

// Has reports whether a request has a session cookie of this server.
func (s *Sessions) Has(r *http.Request) bool {
	_, err := r.Cookie(s.cookieName())
	return err == nil
}

// Authenticate returns the session of a request's cookie. It fails with
// fault.Unauthenticated when the session is not valid, and with fault.Forbidden
// when the request may have been sent by a page of another origin. When the
// cookie's secret is due for rotation, the response replaces the cookie.
//
// The caller must still check that the session's grant is valid.
func (s *Sessions) Authenticate(r *http.Request) (Session, error) {
	ctx := r.Context()
	cookie, err := r.Cookie(s.cookieName())
	if err != nil {
		return Session{}, fault.New(fault.Unauthenticated, "log in first")
	}
	session, next, err := s.identify(ctx, cookie.Value)
	if fault.Is(err, fault.Unauthenticated) {
		httpapi.SetCookie(ctx, s.expiredCookie())
	}
	if err != nil {
		return session, err
	}
	if err := checkRequest(r, session); err != nil {
		return session, err
	}
	if next != "" {
		httpapi.SetCookie(ctx, s.cookie(next))
	}
	return session, nil
}

func checkRequest(r *http.Request, session Session) error {
	// SameSite=Strict keeps the cookie out of requests from other sites. This check also
	// refuses those from other origins of the same site, such as another port or subdomain.
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return fault.New(fault.Forbidden, "the request was sent by a page of another origin")
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if err := CheckOrigin(r); err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(CSRFHeader)), []byte(session.CSRFToken())) != 1 {
		return fault.New(fault.Forbidden, "the header %s is missing or wrong: take csrfToken from GET /console/session", CSRFHeader)
	}
	return nil
}

// Logout ends the session of a request that Authenticate accepted.
func (s *Sessions) Logout(ctx context.Context, session Session) error {
	httpapi.SetCookie(ctx, s.expiredCookie())
	err := s.end(ctx, session.ID, EndedByLogout, s.Now())
	if fault.Is(err, fault.NotFound) {
		return nil // it was ended concurrently
	}
	return err
}
