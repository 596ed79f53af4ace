package job

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestAttemptInterruptedBeforeItBeganDoesNotCount stops a process while an attempt waits to take the lock of its job or to
// release its unique key.
func TestAttemptInterruptedBeforeItBeganDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, metadata := range []string{`{"exclusive":"account/1"}`, `{"until_started":true}`} {
		db := dbtest.Open(t, dbtest.SQLite(t))
		if err := Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		q, err := New(db, Config{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		ended := make(chan error, 1)
		begun := func() bool {
			q.mu.Lock()
			defer q.mu.Unlock()
			return len(q.active) > 0
		}
		err = db.Write(t.Context(), func(*sqldb.Tx) error { // the attempt waits, because no other write begins meanwhile
			go func() {
				ended <- q.work(ctx, &rivertype.JobRow{ID: 1, Attempt: 1, Metadata: []byte(metadata)}, func(context.Context) error { return nil })
			}()
			for !begun() {
				runtime.Gosched()
			}
			q.stopping.Store(true)
			interrupt()
			return <-ended
		})
		if _, ok := errors.AsType[*river.JobSnoozeError](err); !ok {
			t.Errorf("%s: the attempt ended with %v, want that the job returns to its queue", metadata, err)
		}
	}
}
