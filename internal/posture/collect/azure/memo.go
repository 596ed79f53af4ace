package azure

import (
	"context"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

const (
	memoSize = 4 << 20         // bytes of answers that a session remembers
	memoAge  = 5 * time.Minute // for how long
)

// A memo remembers lists that several collectors need: a server's databases are
// entities of their own and edges of the server. What does not fit is read
// again.
type memo struct {
	now func() time.Time

	mu    sync.Mutex
	slots map[string]*slot
	order []string // addresses, the oldest first
	size  int
}

type slot struct {
	size int           // bytes that count; guarded by the memo's mu
	busy chan struct{} // holds a token while somebody reads

	// The rest is for who holds the token.
	answer gjson.Result
	read   time.Time // zero while there is no answer
}

// read returns the answer of an address, from memory or by read. Of several that
// ask at a time one reads and the others wait for it.
func (m *memo) read(ctx context.Context, address string, read func() (gjson.Result, error)) (gjson.Result, error) {
	s := m.slot(address)
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return gjson.Result{}, ctx.Err()
	}
	defer func() { <-s.busy }()
	if !s.read.IsZero() && m.now().Sub(s.read) < memoAge {
		return s.answer, nil
	}
	answer, err := read()
	if err != nil {
		return gjson.Result{}, err
	}
	s.answer, s.read = answer, m.now()
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

// grow counts an answer and forgets the oldest while there are too many.
// Whoever reads a forgotten one still has it.
func (m *memo) grow(address string, s *slot, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.slots[address] != s { // forgotten meanwhile
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
