package stream

import (
	"context"
	"sync"

	"vigil/internal/posture"
)

// An inbox puts deliveries on disk. Those that come while others are being
// written share the next transaction: a disk that syncs a hundred times a second
// takes thousands of messages.
type inbox struct {
	store posture.StreamStore

	mu      sync.Mutex
	waiting []*letter
	writing bool
}

// A letter is a delivery and what became of it.
type letter struct {
	delivery posture.Delivery
	outcome  posture.StreamOutcome
	err      error
	done     chan struct{} // closed when it is written, or could not be
	lead     chan struct{} // closed when it is this one's turn to write
}

// maxLetters is how many deliveries share a transaction.
const maxLetters = 256

// accept returns when the delivery is on disk, or could not be put there. One
// that was begun is finished even when the sender has gone: it will send again,
// and that is known then.
func (b *inbox) accept(ctx context.Context, d posture.Delivery) (posture.StreamOutcome, error) {
	l := &letter{delivery: d, done: make(chan struct{}), lead: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, l)
	if !b.writing {
		b.writing = true
		close(l.lead)
	}
	b.mu.Unlock()
	select {
	case <-l.done:
	case <-l.lead:
		b.write(context.WithoutCancel(ctx))
	}
	return l.outcome, l.err
}

// write writes what waits, its own letter first among it, and leaves what came
// meanwhile to the first who waits then.
func (b *inbox) write(ctx context.Context) {
	b.mu.Lock()
	batch := b.waiting[:min(len(b.waiting), maxLetters)]
	b.waiting = b.waiting[len(batch):]
	b.mu.Unlock()
	b.commit(ctx, batch)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.waiting, b.writing = nil, false
		return
	}
	close(b.waiting[0].lead)
}

// commit writes a batch in one transaction. When that fails each is tried by
// itself, so that no sender is refused for the sake of another's delivery.
func (b *inbox) commit(ctx context.Context, batch []*letter) {
	ds := make([]posture.Delivery, len(batch))
	for i, l := range batch {
		ds[i] = l.delivery
	}
	outcomes, err := b.store.Accept(ctx, ds)
	for i, l := range batch {
		switch {
		case err == nil:
			l.outcome = outcomes[i]
		case len(batch) == 1:
			l.err = err
		default:
			var single []posture.StreamOutcome
			if single, l.err = b.store.Accept(ctx, ds[i:i+1]); l.err == nil {
				l.outcome = single[0]
			}
		}
		close(l.done)
	}
}
