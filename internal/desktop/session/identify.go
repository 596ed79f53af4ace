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

// Role is what a caller may do.
type Role string

// The roles. An administrator may do all that a monitor may.
const (
	Administrator Role = "admin"  // logged in, and a member of the root administrators group
	Monitor       Role = "viewer" // holds a read-only key
)

// Caller is who made a request.
type Caller struct {
	ID   string // of the session or key
	Name string // DOMAIN\user, or the key's name
	SID  string // of the user; empty for a key
	Role Role
}

// recheck is how long a token that was found good is taken to be so without
// another look at the store. A logout in this process takes effect at once, one
// in another within this time.
const recheck = time.Second

// errToken is the answer to every token that is not good.
func errToken(cause error) error {
	return fault.Wrap(fault.Unauthenticated, cause, "the access token is missing, wrong, or has expired")
}

// Identify tells who holds an access token or a key that is used from an
// address.
func (g *Gate) Identify(ctx context.Context, bearer, source string) (Caller, error) {
	if bearer == "" {
		return Caller{}, errToken(nil)
	}
	sum := sha256.Sum256([]byte(bearer))
	now := g.Now()
	if k, ok := g.seen.get(sum, now); ok && k.limits.AllowsAddress(source) {
		return k.caller, nil
	}
	before := g.seen.ended()
	var k known
	var err error
	if strings.HasPrefix(bearer, keyPrefix) {
		k, err = g.identifyKey(ctx, sum[:], source, now)
	} else {
		k, err = g.identifySession(ctx, bearer, now)
	}
	if err != nil {
		return Caller{}, err
	}
	k.checked = now
	g.seen.put(sum, k, before)
	return k.caller, nil
}

func (g *Gate) identifySession(ctx context.Context, bearer string, now time.Time) (known, error) {
	claims, err := g.Keys.Verify(ctx, bearer, auth.Want{Type: auth.AccessType, Audience: accessAudience})
	if err != nil {
		return known{}, err
	}
	s, err := g.live(ctx, claims.Session, now)
	if err != nil {
		return known{}, err
	}
	return known{caller: callerOf(s), expires: claims.ExpiresAt}, nil
}

func callerOf(s Session) Caller {
	return Caller{ID: s.ID, Name: s.User.Domain + `\` + s.User.Name, SID: s.User.SID, Role: Administrator}
}

// live returns a session that has not ended.
func (g *Gate) live(ctx context.Context, id string, now time.Time) (Session, error) {
	s, err := g.Store.Session(ctx, id)
	if fault.Is(err, fault.NotFound) || err == nil && !s.Live(now) {
		return Session{}, errToken(nil)
	}
	return s, err
}

// Holder tells whose session it is. It fails with fault.Unauthenticated when the
// session has ended.
func (g *Gate) Holder(ctx context.Context, id string) (Caller, error) {
	s, err := g.live(ctx, id, g.Now())
	if err != nil {
		return Caller{}, err
	}
	return callerOf(s), nil
}

// known is a token that was found good.
type known struct {
	caller  Caller
	expires time.Time // zero: never
	checked time.Time
	limits  auth.TokenLimits
}

// cache remembers tokens that were found good, by their hash: checking a
// signature costs more than serving a list.
type cache struct {
	mu     sync.RWMutex
	tokens map[[sha256.Size]byte]known
	ends   int // how many sessions and keys have ended
}

// maxCached bounds the memory; an overflowing cache begins anew.
const maxCached = 10_000

func newCache() *cache { return &cache{tokens: map[[sha256.Size]byte]known{}} }

func (c *cache) get(sum [sha256.Size]byte, now time.Time) (known, bool) {
	c.mu.RLock()
	k, ok := c.tokens[sum]
	c.mu.RUnlock()
	if !ok || now.Sub(k.checked) >= recheck || !k.expires.IsZero() && !now.Before(k.expires) {
		return known{}, false
	}
	return k, true
}

// ended is to be asked before a token is looked at, and told to put.
func (c *cache) ended() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.ends
}

// put remembers a token, unless something ended since it was looked at: it may
// have been this one.
func (c *cache) put(sum [sha256.Size]byte, k known, before int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends != before {
		return
	}
	if len(c.tokens) >= maxCached {
		clear(c.tokens)
	}
	c.tokens[sum] = k
}

// end forgets the tokens of a session or key.
func (c *cache) end(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends++
	for sum, k := range c.tokens {
		if k.caller.ID == id {
			delete(c.tokens, sum)
		}
	}
}
