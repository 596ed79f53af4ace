package auth

import (
	"context"
	"sync"
	"time"
)

const (
	// cacheAge is the longest time until a change by another process is seen.
	cacheAge = 500 * time.Millisecond

	// cacheSize limits the number of cached entries; far fewer are in use.
	cacheSize = 100_000
)

// tokenCache caches the state of tokens in use. A generation number in the store,
// which all processes share, invalidates the whole cache after any change.
type tokenCache struct {
	store Store
	now   func() time.Time

	mu         sync.Mutex
	generation int64
	checked    time.Time
	entries    map[TokenID]TokenState
}

func newTokenCache(store Store, now func() time.Time) *tokenCache {
	return &tokenCache{store: store, now: now, entries: make(map[TokenID]TokenState)}
}

// state returns the state of a token, at most cacheAge old.
func (c *tokenCache) state(ctx context.Context, id TokenID) (TokenState, error) {
	s, ok, generation, err := c.lookup(ctx, id)
	if err != nil || ok {
		return s, err
	}
	s, err = c.store.TokenState(ctx, id)
	if err != nil {
		return TokenState{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Do not cache a value that was read before a concurrent change.
	if c.generation == generation {
		if len(c.entries) >= cacheSize {
			clear(c.entries)
		}
		c.entries[id] = s
	}
	return s, nil
}

// lookup checks the generation and returns the cached entry, if there is one.
// Concurrent callers wait for the same check, because it holds the lock.
func (c *tokenCache) lookup(ctx context.Context, id TokenID) (TokenState, bool, int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); c.checked.IsZero() || now.Sub(c.checked) >= cacheAge {
		generation, err := c.store.Generation(ctx)
		if err != nil {
			return TokenState{}, false, 0, err
		}
		if generation != c.generation {
			clear(c.entries)
		}
		c.generation, c.checked = generation, now
	}
	s, ok := c.entries[id]
	return s, ok, c.generation, nil
}

// forget clears the cache, after a change by this process.
func (c *tokenCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation, c.checked = -1, time.Time{}
	clear(c.entries)
}
