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
	// maxBatch limits the records of one commit.
	maxBatch = 500

	// pruneBatch limits the records that one commit removes.
	pruneBatch = 5000
)

// ErrTruncated means that records which this process or a checkpoint has seen are
// missing.
var ErrTruncated = errors.New("the audit log is shorter than it was")

// Log is the audit log. It is safe for concurrent use.
//
// Records that arrive during a commit are written together in the next one
// (group commit), so that concurrent writers do not wait for the disk one by
// one.
type Log struct {
	store Store
	box   Sealer
	now   func() time.Time

	mu    sync.Mutex
	queue []*waiting

	commitLock chan struct{} // semaphore of size one: held by the writer that commits

	state sync.Mutex // guards the fields below; held briefly
	seen  Head       // the newest committed head that this process knows
	key   signer
	file  *checkpointFile // nil without a checkpoint file
}

// waiting is a queued record whose writer waits for the commit.
type waiting struct {
	record Record
	done   chan error // buffered
}

// Open returns the log in a store. It creates the first signing key if there is
// none. If now is nil, the log uses time.Now.
func Open(ctx context.Context, store Store, box Sealer, now func() time.Time) (*Log, error) {
	if now == nil {
		now = time.Now
	}
	l := &Log{store: store, box: box, now: now, commitLock: make(chan struct{}, 1)}
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

// firstKey creates the first key, or returns that of a process that was faster.
func (l *Log) firstKey(ctx context.Context) ([]Key, error) {
	k, err := newKey(ctx, l.box, l.now())
	if err != nil {
		return nil, err
	}
	if err := l.store.AddFirstKey(ctx, k); err != nil && !fault.Is(err, fault.Stale) {
		return nil, err
	}
	return l.store.Keys(ctx)
}

// RotateKey creates a new signing key. Other processes use the old one until
// they restart; both are valid.
func (l *Log) RotateKey(ctx context.Context) error {
	k, err := newKey(ctx, l.box, l.now())
	if err == nil {
		err = l.store.AddKey(ctx, k)
	}
	if err != nil {
		return fmt.Errorf("rotate audit key: %w", err)
	}
	s, err := k.open(ctx, l.box)
	if err != nil {
		return err
	}
	l.state.Lock()
	defer l.state.Unlock()
	l.key = s
	return nil
}

// Append adds a record and returns when it is committed. It ignores the end of
// ctx, because the recorded action has already happened. An error means that
// the record may not have been written.
func (l *Log) Append(ctx context.Context, r Record) error {
	l.complete(&r)
	w := &waiting{record: r, done: make(chan error, 1)}
	l.mu.Lock()
	l.queue = append(l.queue, w)
	l.mu.Unlock()
	for { // a commit may leave this record to the next one, because of maxBatch
		select {
		case err := <-w.done:
			return err
		case l.commitLock <- struct{}{}:
			l.commit(context.WithoutCancel(ctx))
			<-l.commitLock
		}
	}
}

// complete sets the fields that the log adds to a record.
func (l *Log) complete(r *Record) {
	if r.Time.IsZero() {
		r.Time = l.now()
	}
	r.ID = rand.Text()
	// These fields are also columns, and PostgreSQL refuses invalid text.
	r.Org, r.Actor, r.Operation = clean(r.Org), clean(r.Actor), clean(r.Operation)
}

// Waiting returns the number of queued records, for metrics.
func (l *Log) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// commit writes the queued records. The caller holds commitLock.
func (l *Log) commit(ctx context.Context) {
	l.mu.Lock()
	n := min(len(l.queue), maxBatch)
	batch := l.queue[:n:n]
	l.queue = l.queue[n:]
	l.mu.Unlock()
	if n == 0 {
		return // the previous commit included this writer's record
	}
	records := make([]Record, n)
	for i, w := range batch {
		records[i] = w.record
	}
	var last Entry
	err := l.store.Extend(ctx, func(h Head) (entries []Entry, err error) {
		l.state.Lock()
		defer l.state.Unlock()
		if err := l.check(h); err != nil {
			return nil, err
		}
		entries, err = extend(h, records, l.key)
		if err == nil {
			last = entries[len(entries)-1]
		}
		return entries, err
	})
	if err == nil {
		l.onCommit(last)
	} else {
		err = fault.Wrap(fault.Unavailable, fmt.Errorf("append audit record: %w", err), "the audit log cannot be written")
	}
	for _, w := range batch {
		w.done <- err
	}
}

// recordHead records a committed head, unless a newer one was recorded meanwhile.
func (l *Log) recordHead(h Head) {
	l.state.Lock()
	defer l.state.Unlock()
	if h.Number > l.seen.Number {
		l.seen = h
	}
}

// signer returns the key in use.
func (l *Log) signer() signer {
	l.state.Lock()
	defer l.state.Unlock()
	return l.key
}

// check fails if a head is older than one that was seen before. The caller holds state.
func (l *Log) check(h Head) error {
	if h.Number < l.seen.Number || h.Number == l.seen.Number && !bytes.Equal(h.Hash, l.seen.Hash) {
		return fmt.Errorf("%w: it ends at %d and had %d records", ErrTruncated, h.Number, l.seen.Number)
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

// Retain removes the records older than since, and the oldest records if there are
// more than keep. A zero since or keep sets no such limit. It removes them in
// batches, and adds a record of each batch to the log. The remaining chain still
// verifies.
func (l *Log) Retain(ctx context.Context, since time.Time, keep int64) (removed int64, err error) {
	key := l.signer()
	for {
		var through int64
		n, err := l.store.Cut(ctx, since, keep, pruneBatch, func(h Head) (Anchor, error) {
			through = h.Number
			return Anchor{Head: h, Key: key.id, Signature: key.sign(aboutAnchor, h)}, nil
		})
		if err != nil {
			return removed, fmt.Errorf("prune audit log: %w", err)
		}
		removed += n
		if n > 0 {
			err = l.Append(ctx, Record{
				Operation: "audit.retain", ActorName: "system", Outcome: Success,
				Targets: map[string]string{"through": fmt.Sprint(through), "removed": fmt.Sprint(n)},
			})
		}
		if n < pruneBatch || err != nil {
			return removed, err
		}
	}
}

// A Retention determines how much of the log is kept.
type Retention struct {
	Age     time.Duration // maximum age of records; zero for unlimited
	Records int64         // maximum number of records; zero for unlimited
}

// minClockRecords is the number of records that must confirm the time before
// records are removed by age: a clock that is wrong temporarily, or at one
// start, must not delete the log.
const minClockRecords = 100

// Prune removes the records that exceed the retention. Age is computed from the
// log's own time: the time of the record that has [minClockRecords] newer ones,
// or now if that is earlier.
func (l *Log) Prune(ctx context.Context, r Retention) (removed int64, err error) {
	var since time.Time
	if r.Age > 0 {
		confirmed, err := l.store.TimeBefore(ctx, minClockRecords)
		if err != nil {
			return 0, fmt.Errorf("prune audit log: %w", err)
		}
		if now := l.now(); confirmed.After(now) {
			confirmed = now
		}
		if !confirmed.IsZero() {
			since = confirmed.Add(-r.Age)
		}
	}
	return l.Retain(ctx, since, r.Records)
}

// Run prunes the log once an hour until ctx is done.
func (l *Log) Run(ctx context.Context, log *slog.Logger, r Retention) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if _, err := l.Prune(ctx, r); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "prune audit log", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
