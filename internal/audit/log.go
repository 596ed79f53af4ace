package audit

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"vigil/internal/fault"
)

const (
	// maxBatch bounds how many records one commit takes.
	maxBatch = 500

	// cutBatch bounds how many records one commit removes.
	cutBatch = 5000
)

// ErrCut says that records which this process has written are gone.
var ErrCut = errors.New("the audit log is shorter than it was")

// Log is the audit log. It is safe for concurrent use.
//
// Records that arrive while others are being committed wait and go together in
// the next commit, so that many writers do not queue for the disk one by one.
type Log struct {
	store Store
	box   Sealer
	now   func() time.Time

	mu    sync.Mutex
	queue []*waiting

	turn chan struct{} // held by whoever commits; guards seen and signer
	seen Head
	key  signer
}

// waiting is a record whose writer waits for the commit.
type waiting struct {
	record Record
	done   chan error // buffered
}

// Open returns the log in a store and makes its first signing key if there is
// none. Now is time.Now if nil.
func Open(ctx context.Context, store Store, box Sealer, now func() time.Time) (*Log, error) {
	if now == nil {
		now = time.Now
	}
	l := &Log{store: store, box: box, now: now, turn: make(chan struct{}, 1)}
	keys, err := store.Keys(ctx)
	if err == nil && len(keys) == 0 {
		keys, err = l.firstKey(ctx)
	}
	if err == nil {
		l.key, err = keys[len(keys)-1].open(ctx, box)
	}
	if err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	return l, nil
}

// firstKey makes the first key, or takes that of a process which was faster.
func (l *Log) firstKey(ctx context.Context) ([]Key, error) {
	k, err := newKey(ctx, l.box, l.now())
	if err != nil {
		return nil, err
	}
	if err := l.store.AddKey(ctx, k, true); err != nil && !fault.Is(err, fault.Stale) {
		return nil, err
	}
	return l.store.Keys(ctx)
}

// RotateKey makes a new signing key. Other processes go on with the old one
// until they restart; both are good.
func (l *Log) RotateKey(ctx context.Context) error {
	k, err := newKey(ctx, l.box, l.now())
	if err == nil {
		err = l.store.AddKey(ctx, k, false)
	}
	if err != nil {
		return fmt.Errorf("rotate audit key: %w", err)
	}
	s, err := k.open(ctx, l.box)
	if err != nil {
		return err
	}
	l.turn <- struct{}{}
	l.key = s
	<-l.turn
	return nil
}

// Append adds a record and returns when it is on disk. It does not stop when
// ctx ends: what is to be recorded has already happened. An error means that
// the record may not have been written.
func (l *Log) Append(ctx context.Context, r Record) error {
	if r.Time.IsZero() {
		r.Time = l.now()
	}
	r.ID = rand.Text()
	// These become columns too, and PostgreSQL is particular about text.
	r.Org, r.Actor, r.Operation = clean(r.Org), clean(r.Actor), clean(r.Operation)
	w := &waiting{record: r, done: make(chan error, 1)}
	l.mu.Lock()
	l.queue = append(l.queue, w)
	l.mu.Unlock()
	for {
		select {
		case err := <-w.done:
			return err
		case l.turn <- struct{}{}:
			l.commit(context.WithoutCancel(ctx))
			<-l.turn
		}
	}
}

// Waiting returns how many records wait for a commit, for metrics.
func (l *Log) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// commit writes what is waiting. The caller has the turn.
func (l *Log) commit(ctx context.Context) {
	l.mu.Lock()
	n := min(len(l.queue), maxBatch)
	batch := l.queue[:n:n]
	l.queue = l.queue[n:]
	l.mu.Unlock()
	if n == 0 {
		return // the one before us took our record along
	}
	records := make([]Record, n)
	for i, w := range batch {
		records[i] = w.record
	}
	var head Head
	err := l.store.Extend(ctx, func(h Head) (entries []Entry, err error) {
		if err := l.check(h); err != nil {
			return nil, err
		}
		entries, head, err = extend(h, records, l.key)
		return entries, err
	})
	if err == nil {
		l.seen = head
	} else {
		err = fault.Wrap(fault.Unavailable, fmt.Errorf("append audit record: %w", err), "the audit log cannot be written")
	}
	for _, w := range batch {
		w.done <- err
	}
}

// check refuses to go on after a head that is older than one we have seen.
func (l *Log) check(h Head) error {
	if h.Number < l.seen.Number || h.Number == l.seen.Number && !bytes.Equal(h.Hash, l.seen.Hash) {
		return fmt.Errorf("%w: it ends at %d and had %d records", ErrCut, h.Number, l.seen.Number)
	}
	return nil
}

// Page returns records of an organisation, newest first.
func (l *Log) Page(ctx context.Context, f Filter) ([]Record, error) {
	page, err := l.store.Page(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return page, nil
}

// Retain removes records older than the given time, in batches, and records
// that it did. What is left still verifies.
func (l *Log) Retain(ctx context.Context, since time.Time) (removed int64, err error) {
	l.turn <- struct{}{}
	key := l.key
	<-l.turn
	for {
		var through int64
		n, err := l.store.Cut(ctx, since, cutBatch, func(h Head) (Anchor, error) {
			through = h.Number
			return Anchor{Head: h, Key: key.id, Signature: key.sign(aboutAnchor, h)}, nil
		})
		if err != nil {
			return removed, fmt.Errorf("shorten audit log: %w", err)
		}
		if removed += n; n > 0 {
			err = l.Append(ctx, Record{
				Operation: "audit.retain", ActorName: "system", Outcome: Success,
				Targets: map[string]string{"through": fmt.Sprint(through), "removed": fmt.Sprint(n)},
			})
		}
		if n < cutBatch || err != nil {
			return removed, err
		}
	}
}

// Run removes records older than keep, once an hour, until ctx ends. A keep of
// zero keeps everything.
func (l *Log) Run(ctx context.Context, log *slog.Logger, keep time.Duration) {
	if keep <= 0 {
		return
	}
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if _, err := l.Retain(ctx, l.now().Add(-keep)); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "audit log not shortened", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
