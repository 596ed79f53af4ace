package judge

import (
	"container/list"
	"sync"
	"time"

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
	mu     sync.Mutex
	known  map[posture.AccountRef]*list.Element
	recent list.List // of *verdict, the most recent first
}

// verdictsKept is how many accounts are remembered. Their graphs are mostly the
// ones that are kept anyway.
const verdictsKept = 256

// get returns how an account was, unless it was added anew since.
func (v *verdicts) get(now sight) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at, ok := v.known[now.ref()]
	if !ok {
		return verdict{}, false
	}
	v.recent.MoveToFront(at)
	was := at.Value.(*verdict)
	return *was, was.created.Equal(now.created) && was.Generation <= now.Generation
}

// put remembers how an account was, unless a later judgement is known.
func (v *verdicts) put(now verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil {
		v.known = map[posture.AccountRef]*list.Element{}
	}
	ref := now.ref()
	if at, ok := v.known[ref]; ok {
		if at.Value.(*verdict).serial < now.serial {
			at.Value = &now
		}
		v.recent.MoveToFront(at)
		return
	}
	v.known[ref] = v.recent.PushFront(&now)
	for v.recent.Len() > verdictsKept {
		last := v.recent.Back()
		delete(v.known, last.Value.(*verdict).ref())
		v.recent.Remove(last)
	}
}

func (s sight) ref() posture.AccountRef { return posture.AccountRef{Org: s.Org, Account: s.ID} }
