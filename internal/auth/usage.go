package auth

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// usagePrecision is the precision of the time of last use: each token's use is
// written at most once per usagePrecision.
const usagePrecision = time.Minute

// usage buffers uses of tokens until they are written.
type usage struct {
	mu      sync.Mutex
	written map[TokenID]time.Time
	pending map[TokenID]Use
}

func newUsage() *usage {
	return &usage{written: make(map[TokenID]time.Time), pending: make(map[TokenID]Use)}
}

// add records a use, unless one was written within usagePrecision before.
func (u *usage) add(use Use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.written[use.Token]; ok && use.At.Sub(last) < usagePrecision {
		return
	}
	u.pending[use.Token] = use
}

// take returns and removes the uses to write.
func (u *usage) take(now time.Time) []Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, at := range u.written {
		if now.Sub(at) >= usagePrecision {
			delete(u.written, id)
		}
	}
	uses := make([]Use, 0, len(u.pending))
	for id, use := range u.pending {
		uses = append(uses, use)
		u.written[id] = use.At
	}
	clear(u.pending)
	return uses
}

// Flush writes when tokens were last used. Call it before the process ends.
func (r *Registry) Flush(ctx context.Context) error {
	uses := r.used.take(r.now())
	if len(uses) == 0 {
		return nil
	}
	if err := r.store.Used(ctx, uses); err != nil {
		return fmt.Errorf("record use of tokens: %w", err)
	}
	return nil
}

// Run writes the last use of tokens periodically, and once more when ctx is
// done.
func (r *Registry) Run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(usagePrecision / 2)
	defer tick.Stop()
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-tick.C:
		}
		flushCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		if err := r.Flush(flushCtx); err != nil {
			log.WarnContext(ctx, "record use of tokens", "error", err)
		}
		cancel()
	}
}
