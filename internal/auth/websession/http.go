package websession

import (
	"context"
	"crypto/subtle"
	"net/http"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// CSRFHeader carries the CSRF token of requests that change something.
const CSRFHeader = "X-CSRF-Token"

// cookieName differs between servers, because browsers do not tell ports of one
// host apart. The prefix has browsers refuse a cookie that another host of the
// same domain, or plain HTTP, has set.
func (s *Sessions) cookieName() string {
	if s.Secure {
		return "__Host-vigil-" + s.Realm
	}
	return "vigil-" + s.Realm
}

// cookie returns the cookie of a value. It ends with the browser; the server
// knows by itself when the session ends.
func (s *Sessions) cookie(value string) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(), Value: value, Path: "/", Secure: s.Secure, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// expired has the browser forget the cookie.
func (s *Sessions) expired() *http.Cookie {
	c := s.cookie("")
	c.MaxAge = -1
	return c
}

// Begin logs a browser in: the answer to the request sets its cookie. A session
// that the browser had before ends.
func (s *Sessions) Begin(r *http.Request, who Identity) (Session, error) {
	ctx := r.Context()
	if old, err := r.Cookie(s.cookieName()); err == nil {
		if session, _, err := s.identify(ctx, old.Value); err == nil {
			if err := s.end(ctx, session.ID, EndedByLogout, s.Now()); err != nil && !fault.Is(err, fault.NotFound) {
				return Session{}, err
			}
		}
	}
	session, value, err := s.begin(ctx, who, httpapi.Source(ctx), r.UserAgent())
	if err != nil {
		return Session{}, err
	}
	httpapi.SetCookie(ctx, s.cookie(value))
	return session, nil
}

// Redeem returns whom a ticket is for. A ticket is good once.
func (s *Sessions) Redeem(ctx context.Context, ticket string) (Identity, error) {
	who, err := s.takeTicket(ctx, hash(ticket))
	if fault.Is(err, fault.NotFound) {
		return Identity{}, fault.New(fault.Unauthenticated, "the link was used before or has expired; log in, or ask for a new one")
	}
	return who, err
}

// CheckOrigin refuses a request that changes something and that a page of
// another origin has sent. Logins, which have no CSRF token yet, call it.
func CheckOrigin(r *http.Request) error {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return fault.Wrap(fault.Forbidden, err, "the request was sent by a page of another origin")
	}
	return nil
}

// Has reports whether a request carries a cookie of this server.
func (s *Sessions) Has(r *http.Request) bool {
	_, err := r.Cookie(s.cookieName())
	return err == nil
}

// Authenticate returns the session of a request's cookie. It fails with
// fault.Unauthenticated when the session is not good, and with fault.Forbidden
// when the request may have been sent by a page of another origin. The answer
// to the request replaces the cookie when it is time.
//
// The caller must still check that what the session rests on is good.
func (s *Sessions) Authenticate(r *http.Request) (Session, error) {
	ctx := r.Context()
	cookie, err := r.Cookie(s.cookieName())
	if err != nil {
		return Session{}, fault.New(fault.Unauthenticated, "log in first")
	}
	session, next, err := s.identify(ctx, cookie.Value)
	if fault.Is(err, fault.Unauthenticated) {
		httpapi.SetCookie(ctx, s.expired())
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
	// SameSite=Strict keeps the cookie off such requests; this holds where a
	// browser does not know it.
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
	httpapi.SetCookie(ctx, s.expired())
	err := s.end(ctx, session.ID, EndedByLogout, s.Now())
	if fault.Is(err, fault.NotFound) {
		return nil // it was ended elsewhere a moment ago
	}
	return err
}
