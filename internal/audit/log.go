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

	turn chan struct{} // held by whoever commits

	state sync.Mutex // guards what follows; held for moments only
	seen  Head
	key   signer
	file  *checkpointFile // nil if none is kept
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
	l.state.Lock()
	defer l.state.Unlock()
	l.key = s
	return nil
}

// Append adds a record and returns when it is on disk. It does not stop when
// ctx ends: what is to be recorded has already happened. An error means that
// the record may not have been written.
func (l *Log) Append(ctx context.Context, r Record) error {
	l.complete(&r)
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

// complete fills in what the log adds to a record.
func (l *Log) complete(r *Record) {
	if r.Time.IsZero() {
		r.Time = l.now()
	}
	r.ID = rand.Text()
	// These become columns too, and PostgreSQL is particular about text.
	r.Org, r.Actor, r.Operation = clean(r.Org), clean(r.Actor), clean(r.Operation)
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
	var last Entry
	err := l.store.Extend(ctx, func(h Head) (entries []Entry, err error) {
		l.state.Lock()
		defer l.state.Unlock()
		if err := l.check(h); err != nil {
			return nil, err
		}
		if entries, head, err = extend(h, records, l.key); err == nil {
			last = entries[len(entries)-1]
		}
		return entries, err
	})
	if err == nil {
		l.saw(head)
		l.committed(last)
	} else {
		err = fault.Wrap(fault.Unavailable, fmt.Errorf("append audit record: %w", err), "the audit log cannot be written")
	}
	for _, w := range batch {
		w.done <- err
	}
}

// saw notes a head that is on disk. Others may have got further meanwhile.
func (l *Log) saw(h Head) {
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

// Retain removes records older than the given time, and all but the newest keep
// if that is not zero, in batches, and records that it did. What is left still
// verifies.
func (l *Log) Retain(ctx context.Context, since time.Time, keep int64) (removed int64, err error) {
	key := l.signer()
	for {
		var through int64
		n, err := l.store.Cut(ctx, since, keep, cutBatch, func(h Head) (Anchor, error) {
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

// A Retention says how much of the log is kept.
type Retention struct {
	Age     time.Duration // records older than this go; zero keeps them
	Records int64         // at most so many stay; zero keeps all
}

// clockWitnesses is how many records must tell the time before anything is
// removed by its age: a clock that is wrong for a moment, or at one start, must
// not take the log with it.
const clockWitnesses = 100

// Prune removes what is not to be kept. Age is counted back from the time that
// the log itself tells, in the order of its records: that of the record which
// [clockWitnesses] others follow, and never from later than now.
func (l *Log) Prune(ctx context.Context, r Retention) (removed int64, err error) {
	var since time.Time
	if r.Age > 0 {
		told, err := l.store.TimeBefore(ctx, clockWitnesses)
		if err != nil {
			return 0, fmt.Errorf("shorten audit log: %w", err)
		}
		if now := l.now(); told.After(now) {
			told = now
		}
		if !told.IsZero() {
			since = told.Add(-r.Age)
		}
	}
	return l.Retain(ctx, since, r.Records)
}

// Run prunes the log once an hour until ctx ends.
func (l *Log) Run(ctx context.Context, log *slog.Logger, r Retention) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if _, err := l.Prune(ctx, r); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "audit log not shortened", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
