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
func (v *tokenCache) state(ctx context.Context, id TokenID) (TokenState, error) {
	s, ok, generation, err := v.lookup(ctx, id)
	if err != nil || ok {
		return s, err
	}
	s, err = v.store.TokenState(ctx, id)
	if err != nil {
		return TokenState{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	// Do not cache a value that was read before a concurrent change.
	if v.generation == generation {
		if len(v.entries) >= cacheSize {
			clear(v.entries)
		}
		v.entries[id] = s
	}
	return s, nil
}

// lookup checks the generation and returns the cached entry, if there is one.
// Concurrent callers wait for the same check, because it holds the lock.
func (v *tokenCache) lookup(ctx context.Context, id TokenID) (TokenState, bool, int64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := v.now(); v.checked.IsZero() || now.Sub(v.checked) >= cacheAge {
		generation, err := v.store.Generation(ctx)
		if err != nil {
			return TokenState{}, false, 0, err
		}
		if generation != v.generation {
			clear(v.entries)
		}
		v.generation, v.checked = generation, now
	}
	s, ok := v.entries[id]
	return s, ok, v.generation, nil
}

// forget clears the cache, after a change by this process.
func (v *tokenCache) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.generation, v.checked = -1, time.Time{}
	clear(v.entries)
}
