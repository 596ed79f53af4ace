package collect

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// EarlierAnswers keeps responses between the runs of one account, so that calls whose
// declaration has the key "unchanged" are not made again for resources that did not
// change. The responses are in memory only.
type EarlierAnswers struct {
	store   *EarlierStore
	account string // organisation and account
}

// An EarlierStore keeps the most recently used responses of all accounts, up to a total size. It
// is safe for concurrent use.
type EarlierStore struct {
	limit int
	now   func() time.Time

	mu      sync.Mutex
	size    int                                   // bytes of all answers
	answers *simplelru.LRU[string, earlierAnswer] // by account, region and call
}

type earlierAnswer struct {
	pages []page
	read  time.Time
}

// maxEarlier is how long a response is used again. It limits the time for which a change
// is overlooked if a cloud does not give a changed resource a new version.
const maxEarlier = 7 * 24 * time.Hour

// NewEarlierStore returns an empty store for at most limit bytes of responses.
func NewEarlierStore(limit int, now func() time.Time) *EarlierStore {
	s := &EarlierStore{limit: limit, now: now}
	// The number of entries has no limit: put limits their bytes. NewLRU fails only for a limit below 1.
	s.answers, _ = simplelru.NewLRU(math.MaxInt, func(key string, a earlierAnswer) { s.size -= a.bytes(key) })
	return s
}

// Of returns the responses of an account.
func (s *EarlierStore) Of(org posture.OrgID, account posture.AccountID) *EarlierAnswers {
	return &EarlierAnswers{s, string(org) + " " + string(account)}
}

// bytes returns the approximate size of an entry.
func (a earlierAnswer) bytes(key string) int {
	n := len(key)
	for _, p := range a.pages {
		n += p.bytes()
	}
	return n
}

func (s *EarlierStore) get(key string) ([]page, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.answers.Get(key)
	if ok && s.now().Sub(a.read) > maxEarlier {
		s.answers.Remove(key)
		return nil, false
	}
	return a.pages, ok
}

func (s *EarlierStore) put(key string, pages []page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers.Remove(key) // subtracts its size
	a := earlierAnswer{pages, s.now()}
	s.answers.Add(key, a)
	s.size += a.bytes(key)
	for s.size > s.limit {
		s.answers.RemoveOldest()
	}
}

// unchanged returns the earlier response of a call if it describes the listed version of
// the item, and otherwise makes the call.
func (r *Reader) unchanged(ctx context.Context, call *resource.Call, item *resource.Item) (*cacheEntry, error) {
	address, err := call.Address(item, r.Context.Vars)
	if err != nil {
		return nil, err
	}
	input := call.Input.JSON(item, r.Context.Vars)
	key := r.Earlier.account + " " + r.Context.Region + " " + address + " " + string(input)
	agrees := func(entry *cacheEntry) bool { return call.Unchanged.Agree(item, entry.result(), r.Context.Vars) }
	if pages, ok := r.Earlier.store.get(key); ok {
		if entry := (&cacheEntry{done: true, pages: pages}); agrees(entry) {
			return entry, nil
		}
	}
	entry := new(cacheEntry)
	err = entry.read(ctx, func(ctx context.Context) ([]page, error) { return r.readPages(ctx, &call.Request, address, input) })
	if err == nil && agrees(entry) {
		r.Earlier.store.put(key, entry.pages)
	}
	return entry, err
}
