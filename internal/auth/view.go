package auth

import (
	"context"
	"sync"
	"time"
)

const (
	// viewAge bounds how long a change made by another process goes unseen.
	viewAge = 500 * time.Millisecond

	// viewSize bounds the memory; it is far more than are in use at once.
	viewSize = 100_000
)

// view is what is known about tokens in use. Entries live until anything
// changes, which is seen by a number in the store that all processes share.
type view struct {
	store Store
	now   func() time.Time

	mu         sync.Mutex
	generation int64
	checked    time.Time
	entries    map[TokenID]Standing
}

func newView(store Store, now func() time.Time) *view {
	return &view{store: store, now: now, entries: make(map[TokenID]Standing)}
}

// standing returns what a token stands for, as it was at most viewAge ago.
func (v *view) standing(ctx context.Context, id TokenID) (Standing, error) {
	s, ok, generation, err := v.look(ctx, id)
	if err != nil || ok {
		return s, err
	}
	s, err = v.store.Standing(ctx, id)
	if err != nil {
		return Standing{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	// What was read before a change is not kept after it.
	if v.generation == generation {
		if len(v.entries) >= viewSize {
			clear(v.entries)
		}
		v.entries[id] = s
	}
	return s, nil
}

// look makes sure of the generation and returns the entry, if there is one.
// Those who come while the store is asked wait for the same answer.
func (v *view) look(ctx context.Context, id TokenID) (Standing, bool, int64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := v.now(); v.checked.IsZero() || now.Sub(v.checked) >= viewAge {
		generation, err := v.store.Generation(ctx)
		if err != nil {
			return Standing{}, false, 0, err
		}
		if generation != v.generation {
			clear(v.entries)
		}
		v.generation, v.checked = generation, now
	}
	s, ok := v.entries[id]
	return s, ok, v.generation, nil
}

// forget drops everything, after a change by this process.
func (v *view) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.generation, v.checked = -1, time.Time{}
	clear(v.entries)
}
