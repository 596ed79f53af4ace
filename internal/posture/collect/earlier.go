package collect

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// EarlierAnswers keeps responses between the runs of one account, so that calls whose
// declaration says unchanged are not made again for resources that did not change. The
// responses are in memory only.
type EarlierAnswers struct {
	store   *EarlierStore
	account string // organisation and account
}

// An EarlierStore keeps the responses of all accounts up to a total size, the most recently
// used ones. It is safe for concurrent use.
type EarlierStore struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex
	size  int
	byKey map[string]*list.Element
	used  *list.List // of earlierAnswer, the most recently used first
}

type earlierAnswer struct {
	key   string
	pages []gjson.Result
	read  time.Time
}

// maxEarlier is how long a response is used again. It limits the time for which a change
// is overlooked if a cloud does not give a changed resource a new version.
const maxEarlier = 7 * 24 * time.Hour

// NewEarlierStore returns an empty store for at most limit bytes of responses.
func NewEarlierStore(limit int, now func() time.Time) *EarlierStore {
	return &EarlierStore{limit: limit, now: now, byKey: map[string]*list.Element{}, used: list.New()}
}

// Of returns the responses of an account.
func (s *EarlierStore) Of(org posture.OrgID, account posture.AccountID) *EarlierAnswers {
	return &EarlierAnswers{s, string(org) + " " + string(account)}
}

// bytes returns the approximate size of an entry.
func (a earlierAnswer) bytes() int {
	n := len(a.key)
	for _, page := range a.pages {
		n += len(page.Raw)
	}
	return n
}

func (s *EarlierStore) get(key string) ([]gjson.Result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		return nil, false
	}
	a := e.Value.(earlierAnswer)
	if s.now().Sub(a.read) > maxEarlier {
		s.remove(e)
		return nil, false
	}
	s.used.MoveToFront(e)
	return a.pages, true
}

func (s *EarlierStore) put(key string, pages []gjson.Result) {
	a := earlierAnswer{key, pages, s.now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.remove(e)
	}
	s.byKey[key] = s.used.PushFront(a)
	for s.size += a.bytes(); s.size > s.limit; {
		s.remove(s.used.Back())
	}
}

// remove removes an entry. The caller holds the lock.
func (s *EarlierStore) remove(e *list.Element) {
	a := s.used.Remove(e).(earlierAnswer)
	delete(s.byKey, a.key)
	s.size -= a.bytes()
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
	agrees := func(k *cacheEntry) bool { return call.Unchanged.Agree(item, k.result(), r.Context.Vars) }
	if pages, ok := r.Earlier.store.get(key); ok {
		if k := (&cacheEntry{done: true, pages: pages}); agrees(k) {
			return k, nil
		}
	}
	k := new(cacheEntry)
	err = k.read(ctx, func(ctx context.Context) (pages []gjson.Result, err error) {
		err = r.send(ctx, &call.Request, address, input, func(answer gjson.Result) error {
			pages = append(pages, answer)
			return nil
		})
		return pages, err
	})
	if err == nil && agrees(k) {
		r.Earlier.store.put(key, k.pages)
	}
	return k, err
}
