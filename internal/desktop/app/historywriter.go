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

func (w *historyWriter) add(changes []desktop.Change) {
	w.mu.Lock()
	changes = slices.Clone(changes) // other listeners share the slice
	w.groups.Group(changes)
	w.waiting = append(w.waiting, changes...)
	w.waiting = w.waiting[max(0, len(w.waiting)-maxWaiting):]
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default: // a write is already pending
	}
}

// run writes changes until ctx is done, and then the remaining ones.
func (w *historyWriter) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-w.wake:
		}
		if !w.write(ctx) {
			select { // the database is unavailable: retry later
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
				w.add(nil)
			}
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	w.write(last)
}

// write writes the queued changes and reports whether it succeeded.
func (w *historyWriter) write(ctx context.Context) bool {
	w.mu.Lock()
	batch := w.waiting
	w.waiting = nil
	w.mu.Unlock()
	err := w.store.AppendChanges(context.WithoutCancel(ctx), batch)
	if err == nil {
		return true
	}
	w.log.ErrorContext(ctx, "write changes of statuses", "number", len(batch), "error", err)
	w.mu.Lock()
	w.waiting = append(batch, w.waiting...)
	w.mu.Unlock()
	return false
}
