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

// historyWriter writes changes of statuses into the history asynchronously, so that
// the board does not wait for the database.
type historyWriter struct {
	store desktop.HistoryStore
	log   *slog.Logger
	wake  chan struct{}

	mu      sync.Mutex
	groups  desktop.Grouper
	waiting []desktop.Change
}

// maxWaiting limits the queue while the database is unavailable; the oldest
// changes are dropped.
const maxWaiting = 100_000

func newHistoryWriter(history desktop.HistoryStore, log *slog.Logger) *historyWriter {
	return &historyWriter{store: history, log: log, wake: make(chan struct{}, 1), groups: desktop.Grouper{NewID: store.ChangeID}}
}

func (c *historyWriter) add(changes []desktop.Change) {
	c.mu.Lock()
	changes = slices.Clone(changes) // other listeners share the slice
	c.groups.Group(changes)
	c.waiting = append(c.waiting, changes...)
	c.waiting = c.waiting[max(0, len(c.waiting)-maxWaiting):]
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default: // a write is already pending
	}
}

// run writes changes until ctx is done, and then the remaining ones.
func (c *historyWriter) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-c.wake:
		}
		if !c.write(ctx) {
			select { // the database is unavailable: retry later
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

// write writes the queued changes and reports whether it succeeded.
func (c *historyWriter) write(ctx context.Context) bool {
	c.mu.Lock()
	batch := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	err := c.store.AppendChanges(context.WithoutCancel(ctx), batch)
	if err == nil {
		return true
	}
	c.log.ErrorContext(ctx, "write changes of statuses", "number", len(batch), "error", err)
	c.mu.Lock()
	c.waiting = append(batch, c.waiting...)
	c.mu.Unlock()
	return false
}
