package session

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"vigil/internal/auth"
	"vigil/internal/fault"
)

// Role determines what a caller may do.
type Role string

// The roles. Administrators may do everything that monitors may.
const (
	Administrator Role = "admin"  // logged in, and a member of the root administrators group
	Monitor       Role = "viewer" // holds a read-only key
)

// Caller is the authenticated sender of a request.
type Caller struct {
	ID   string // of the session or key
	Name string // DOMAIN\user, or the key's name
	SID  string // of the user; empty for a key
	Role Role
}

// recheck is how long a validated token is cached. A logout in this process
// takes effect at once, one in another process within this time.
const recheck = time.Second

// errToken returns the error for every invalid token.
func errToken(cause error) error {
	return fault.Wrap(fault.Unauthenticated, cause, "the access token is missing, wrong, or has expired")
}

// Identify returns the caller of an access token or a key that is used from an
// address.
func (a *Authenticator) Identify(ctx context.Context, bearer, source string) (Caller, error) {
	if bearer == "" {
		return Caller{}, errToken(nil)
	}
	sum := sha256.Sum256([]byte(bearer))
	now := a.Now()
	if k, ok := a.validated.get(sum, now); ok && k.limits.AllowsAddress(source) {
		return k.caller, nil
	}
	before := a.validated.endedSessions()
	var k validatedToken
	var err error
	if strings.HasPrefix(bearer, keyPrefix) {
		k, err = a.identifyKey(ctx, sum[:], source, now)
	} else {
		k, err = a.identifySession(ctx, bearer, now)
	}
	if err != nil {
		return Caller{}, err
	}
	k.checked = now
	a.validated.put(sum, k, before)
	return k.caller, nil
}

func (a *Authenticator) identifySession(ctx context.Context, bearer string, now time.Time) (validatedToken, error) {
	claims, err := a.Keys.Verify(ctx, bearer, auth.Want{Type: auth.AccessType, Audience: accessAudience})
	if err != nil {
		return validatedToken{}, err
	}
	s, err := a.live(ctx, claims.Session, now)
	if err != nil {
		return validatedToken{}, err
	}
	return validatedToken{caller: callerOf(s), expires: claims.ExpiresAt}, nil
}

func callerOf(s Session) Caller {
	return Caller{ID: s.ID, Name: s.User.Domain + `\` + s.User.Name, SID: s.User.SID, Role: Administrator}
}

// live returns an active session.
func (a *Authenticator) live(ctx context.Context, id string, now time.Time) (Session, error) {
	s, err := a.Store.Session(ctx, id)
	if fault.Is(err, fault.NotFound) || err == nil && !s.Live(now) {
		return Session{}, errToken(nil)
	}
	return s, err
}

// Holder returns the user of a session. It fails with fault.Unauthenticated
// when the session has ended.
func (a *Authenticator) Holder(ctx context.Context, id string) (Caller, error) {
	s, err := a.live(ctx, id, a.Now())
	if err != nil {
		return Caller{}, err
	}
	return callerOf(s), nil
}

// validatedToken is a cached access token or key.
type validatedToken struct {
	caller  Caller
	expires time.Time // zero for never
	checked time.Time
	limits  auth.TokenLimits
}

// cache caches validated tokens by their hash: checking a signature costs more
// than serving a list.
type cache struct {
	mu         sync.RWMutex
	tokens     map[[sha256.Size]byte]validatedToken
	endedCount int // number of ended sessions and keys
}

// maxCached limits the size of the cache; it is cleared when full.
const maxCached = 10_000

func newCache() *cache { return &cache{tokens: map[[sha256.Size]byte]validatedToken{}} }

func (c *cache) get(sum [sha256.Size]byte, now time.Time) (validatedToken, bool) {
	c.mu.RLock()
	k, ok := c.tokens[sum]
	c.mu.RUnlock()
	if !ok || now.Sub(k.checked) >= recheck || !k.expires.IsZero() && !now.Before(k.expires) {
		return validatedToken{}, false
	}
	return k, true
}

// endedSessions returns the number of ended sessions. Call it before a token is
// validated, and pass the result to put.
func (c *cache) endedSessions() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.endedCount
}

// put caches a token, unless a session ended after endedSessions returned before:
// that may have been the session of the token.
func (c *cache) put(sum [sha256.Size]byte, k validatedToken, before int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.endedCount != before {
		return
	}
	if len(c.tokens) >= maxCached {
		clear(c.tokens)
	}
	c.tokens[sum] = k
}

// end removes the tokens of a session or key.
func (c *cache) end(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endedCount++
	for sum, k := range c.tokens {
		if k.caller.ID == id {
			delete(c.tokens, sum)
		}
	}
}
