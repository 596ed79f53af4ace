package judge

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"vigil/internal/posture"
)

// recorded is an account as it was when it was last judged, and the judgement's number.
type recorded struct {
	accountView
	serial   int64     // of the judgement
	judgedAt time.Time // of the judgement
}

// judgementCache keeps the last recorded judgement of each account, for
// [evaluate.Evaluator.Reevaluate].
type judgementCache struct {
	mu    sync.Mutex
	known *simplelru.LRU[posture.AccountRef, recorded] // nil before the first one
}

// judgementsKept is how many accounts the cache holds. Their graphs are shared with the
// cache of graphs.
const judgementsKept = 256

// get returns the last judgement of an account. It returns false if the account was
// removed and added again since, or if the view has an earlier generation than the
// judgement: changes are known only from a generation to later ones.
func (c *judgementCache) get(now accountView) (recorded, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		return recorded{}, false
	}
	last, ok := c.known.Get(now.ref())
	return last, ok && last.created.Equal(now.created) && last.Generation <= now.Generation
}

// put keeps a judgement, unless a later one of the account is kept.
func (c *judgementCache) put(now recorded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known, _ = simplelru.NewLRU[posture.AccountRef, recorded](judgementsKept, nil) // fails for sizes below 1 only
	}
	if last, ok := c.known.Get(now.ref()); !ok || last.serial < now.serial {
		c.known.Add(now.ref(), now)
	}
}

func (v accountView) ref() posture.AccountRef { return posture.AccountRef{Org: v.Org, Account: v.ID} }
