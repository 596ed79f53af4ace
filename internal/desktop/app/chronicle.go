package app

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/store"
)

// chronicle writes changes of statuses into the history. The board does not
// wait for it.
type chronicle struct {
	store desktop.HistoryStore
	log   *slog.Logger
	wake  chan struct{}

	mu      sync.Mutex
	groups  desktop.Grouper
	waiting []desktop.Change
}

// maxWaiting bounds the memory while the database is away; the oldest are lost.
const maxWaiting = 100_000

func newChronicle(history desktop.HistoryStore, log *slog.Logger) *chronicle {
	return &chronicle{store: history, log: log, wake: make(chan struct{}, 1), groups: desktop.Grouper{NewID: store.ChangeID}}
}

func (c *chronicle) add(changes []desktop.Change) {
	c.mu.Lock()
	changes = slices.Clone(changes) // others have them too
	c.groups.Group(changes)
	c.waiting = append(c.waiting, changes...)
	c.waiting = c.waiting[max(0, len(c.waiting)-maxWaiting):]
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default: // it is about to look anyway
	}
}

// run writes until ctx ends, and then what still waits.
func (c *chronicle) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-c.wake:
		}
		if !c.write(ctx) {
			select { // the database is away; changes gather meanwhile
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
				c.add(nil)
			}
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	c.write(last)
}

// write writes what waits and reports whether that went well.
func (c *chronicle) write(ctx context.Context) bool {
	c.mu.Lock()
	batch := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	err := c.store.AppendChanges(context.WithoutCancel(ctx), batch)
	if err == nil {
		return true
	}
	c.log.ErrorContext(ctx, "changes of statuses not written", "number", len(batch), "error", err)
	c.mu.Lock()
	c.waiting = append(batch, c.waiting...)
	c.mu.Unlock()
	return false
}
