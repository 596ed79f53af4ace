package judge

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"vigil/internal/posture"
)

// A verdict is what was judged, and recorded.
type verdict struct {
	sight
	serial int64     // of the judgement
	at     time.Time // when
}

// verdicts remembers how accounts were when they were last judged here.
type verdicts struct {
	mu    sync.Mutex
	known *simplelru.LRU[posture.AccountRef, verdict] // nil before the first one
}

// verdictsKept is how many accounts are remembered. Their graphs are mostly the
// ones that are kept anyway.
const verdictsKept = 256

// get returns how an account was, unless it was added anew since.
func (v *verdicts) get(now sight) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil {
		return verdict{}, false
	}
	was, ok := v.known.Get(now.ref())
	return was, ok && was.created.Equal(now.created) && was.Generation <= now.Generation
}

// put remembers how an account was, unless a later judgement is known.
func (v *verdicts) put(now verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil {
		v.known, _ = simplelru.NewLRU[posture.AccountRef, verdict](verdictsKept, nil) // fails for sizes below 1 only
	}
	if was, ok := v.known.Get(now.ref()); !ok || was.serial < now.serial {
		v.known.Add(now.ref(), now)
	}
}

func (s sight) ref() posture.AccountRef { return posture.AccountRef{Org: s.Org, Account: s.ID} }
