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

// lastWrite limits how long run continues to write when its context is done.
const lastWrite = 5 * time.Second

// run writes changes until ctx is done, and then the remaining ones. A write that is running then
// is not cancelled at once, because it may have been committed already, and a retry would store
// its changes twice.
func (w *historyWriter) run(ctx context.Context) {
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	// After ctx is done, a running write may take lastWrite.
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastWrite, cancel) })
	defer stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-w.wake:
		}
		if !w.write(writing) {
			select { // the database is unavailable: retry later
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
				w.add(nil) // wakes the loop
			}
		}
	}
	w.write(writing)
}

// write writes the queued changes and reports whether it succeeded.
func (w *historyWriter) write(ctx context.Context) bool {
	w.mu.Lock()
	batch := w.waiting
	w.waiting = nil
	w.mu.Unlock()
	err := w.store.AppendChanges(ctx, batch)
	if err == nil {
		return true
	}
	w.log.ErrorContext(ctx, "write changes of statuses", "number", len(batch), "error", err)
	w.mu.Lock()
	w.waiting = append(batch, w.waiting...)
	w.mu.Unlock()
	return false
}
