package stream

import (
	"context"
	"sync"

	"vigil/internal/posture"
)

// A groupCommitter stores deliveries with group commit: those that arrive while a
// transaction is being committed share the next one, so that a disk that syncs a
// hundred times a second accepts thousands of messages.
type groupCommitter struct {
	store posture.StreamStore

	mu         sync.Mutex
	queue      []*commit
	committing bool
}

// A commit is a queued delivery and, once done is closed, its result.
type commit struct {
	delivery posture.Delivery
	outcome  posture.StreamOutcome
	err      error
	done     chan struct{} // closed when outcome and err are set
	leader   chan struct{} // closed when the caller of accept must commit the next batch
}

// maxBatch is how many deliveries share a transaction.
const maxBatch = 256

// accept returns when the delivery is on disk or storing it has failed. It does not
// stop when ctx ends: the sender will deliver the message again, and the store then
// recognises the duplicate.
func (g *groupCommitter) accept(ctx context.Context, d posture.Delivery) (posture.StreamOutcome, error) {
	c := &commit{delivery: d, done: make(chan struct{}), leader: make(chan struct{})}
	g.mu.Lock()
	g.queue = append(g.queue, c)
	if !g.committing {
		g.committing = true
		close(c.leader)
	}
	g.mu.Unlock()
	select {
	case <-c.done:
	case <-c.leader:
		g.lead(context.WithoutCancel(ctx))
	}
	return c.outcome, c.err
}

// lead commits one batch, in which the leader's own delivery is the first, and makes
// the first of those that were queued in the meantime the next leader.
func (g *groupCommitter) lead(ctx context.Context) {
	g.mu.Lock()
	batch := g.queue[:min(len(g.queue), maxBatch)]
	g.queue = g.queue[len(batch):]
	g.mu.Unlock()
	g.commit(ctx, batch)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.queue, g.committing = nil, false
		return
	}
	close(g.queue[0].leader)
}

// commit stores a batch in one transaction. If that fails it stores each delivery in
// a transaction of its own, so that a bad delivery does not fail the others.
func (g *groupCommitter) commit(ctx context.Context, batch []*commit) {
	ds := make([]posture.Delivery, len(batch))
	for i, c := range batch {
		ds[i] = c.delivery
	}
	outcomes, err := g.store.Accept(ctx, ds)
	for i, c := range batch {
		switch {
		case err == nil:
			c.outcome = outcomes[i]
		case len(batch) == 1:
			c.err = err
		default:
			var single []posture.StreamOutcome
			single, c.err = g.store.Accept(ctx, ds[i:i+1])
			if c.err == nil {
				c.outcome = single[0]
			}
		}
		close(c.done)
	}
}
