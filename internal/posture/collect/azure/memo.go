package azure

import (
	"context"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

const (
	memoSize = 4 << 20         // bytes of responses that a session caches
	memoAge  = 5 * time.Minute // lifetime of a cache entry
)

// A memo caches lists that several types need: the databases of a server are entities of
// their own and edges of the server. Lists that have been evicted are read again.
type memo struct {
	now func() time.Time

	mu    sync.Mutex
	slots map[string]*slot
	order []string // URLs, oldest first
	size  int
}

type slot struct {
	size int           // bytes counted against memoSize; guarded by the memo's mu
	busy chan struct{} // semaphore: holds a token during a read

	// The following fields are guarded by the semaphore.
	answer gjson.Result
	readAt time.Time // zero while there is no response
}

// get returns the cached response of a URL, or else what read returns. While one caller
// reads, other callers with the same URL wait.
func (m *memo) get(ctx context.Context, address string, read func() (gjson.Result, error)) (gjson.Result, error) {
	s := m.slot(address)
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return gjson.Result{}, ctx.Err()
	}
	defer func() { <-s.busy }()
	if !s.readAt.IsZero() && m.now().Sub(s.readAt) < memoAge {
		return s.answer, nil
	}
	answer, err := read()
	if err != nil {
		return gjson.Result{}, err
	}
	s.answer, s.readAt = answer, m.now()
	m.grow(address, s, len(answer.Raw))
	return answer, nil
}

func (m *memo) slot(address string) *slot {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.slots[address]
	if !ok {
		s = &slot{busy: make(chan struct{}, 1)}
		if m.slots == nil {
			m.slots = map[string]*slot{}
		}
		m.slots[address] = s
		m.order = append(m.order, address)
	}
	return s
}

// grow adds the size of a response and evicts the oldest entries while the cache is too
// large. Callers that hold an evicted entry can still use it.
func (m *memo) grow(address string, s *slot, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.slots[address] != s { // evicted meanwhile
		return
	}
	m.size += size - s.size
	s.size = size
	for m.size > memoSize {
		oldest := m.order[0]
		m.order = m.order[1:]
		m.size -= m.slots[oldest].size
		delete(m.slots, oldest)
	}
}
