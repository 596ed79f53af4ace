package app

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/desktop"
)

// hungStore is a history whose database does not answer.
type hungStore struct{ desktop.HistoryStore }

// AppendChanges implements [desktop.HistoryStore].
func (hungStore) AppendChanges(ctx context.Context, _ []desktop.Change) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestHungDatabaseDoesNotHangTheShutdown stops the writer before and during a write.
func TestHungDatabaseDoesNotHangTheShutdown(t *testing.T) {
	t.Parallel()
	for name, isWriting := range map[string]bool{"before a write": false, "during a write": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newHistoryWriter(hungStore{}, slog.New(slog.DiscardHandler))
				ctx, cancel := context.WithCancel(t.Context())
				if !isWriting {
					cancel()
				}
				ended := make(chan struct{})
				w.add([]desktop.Change{{To: "OK"}})
				go func() {
					defer close(ended)
					w.run(ctx)
				}()
				synctest.Wait()
				cancel()
				stopped := time.Now()
				<-ended
				if took := time.Since(stopped); took > 5*time.Second {
					t.Errorf("the writer ended after %s", took)
				}
			})
		})
	}
}
