package eventdb

import (
	"context"
	"slices"
	"sync"
	"time"

	"vigil/internal/desktop"
)

// Writer writes events. [Database] implements it.
type Writer interface {
	Write(ctx context.Context, events []desktop.Event) error
}

// A Log writes events asynchronously. Record never blocks. Events are queued
// while the database is unavailable, up to a limit above which the oldest are
// dropped.
type Log struct {
	// Failed is called with the error of a batch that could not be written, and the
	// number of events dropped so far. It may be nil.
	Failed func(err error, dropped int)

	mu       sync.Mutex
	writer   Writer
	waiting  []desktop.Event
	dropped  int
	discards int           // number of times that the queue was discarded
	wake     chan struct{} // signals queued events
	changed  chan struct{} // signals another writer
}

const (
	maxWaiting   = 10_000
	maxBatch     = 200
	writeTimeout = 30 * time.Second
	firstRetry   = 2 * time.Second
	lastRetry    = time.Minute
)

// NewLog returns a log without a writer.
func NewLog() *Log {
	return &Log{wake: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
}

// Use sets the writer, which also gets the queued events. Without a writer (nil),
// events are discarded.
func (l *Log) Use(w Writer) {
	l.mu.Lock()
	l.writer = w
	if w == nil {
		l.waiting = nil
		l.discards++
	}
	l.mu.Unlock()
	signal(l.changed)
	signal(l.wake)
}

// Record queues events.
func (l *Log) Record(events ...desktop.Event) {
	l.mu.Lock()
	if l.writer != nil {
		l.keep(append(l.waiting, events...))
	}
	l.mu.Unlock()
	signal(l.wake)
}

// keep sets the queue, dropping the oldest events above the limit.
func (l *Log) keep(events []desktop.Event) {
	excess := max(len(events)-maxWaiting, 0)
	l.dropped += excess
	l.waiting = events[excess:]
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run writes queued events until the context is done, and then tries once to
// write the rest.
func (l *Log) Run(ctx context.Context) {
	retry := firstRetry
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-l.wake:
		}
		for ctx.Err() == nil && !l.flush(ctx) {
			l.pause(ctx, retry)
			retry = min(2*retry, lastRetry)
		}
		retry = firstRetry
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), firstRetry)
	defer cancel()
	l.flush(last)
}

// pause waits before the next attempt, or until the writer is replaced.
func (l *Log) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-l.changed:
	}
}

// flush writes the queue in batches and reports whether it is empty.
func (l *Log) flush(ctx context.Context) bool {
	for {
		l.mu.Lock()
		w, n, discards := l.writer, min(len(l.waiting), maxBatch), l.discards
		batch := slices.Clone(l.waiting[:n])
		l.waiting = l.waiting[n:]
		l.mu.Unlock()
		if w == nil || n == 0 {
			return true
		}
		if err := write(ctx, w, batch); err != nil {
			l.mu.Lock()
			if l.discards == discards { // if the queue was discarded meanwhile, the batch is too
				l.keep(append(batch, l.waiting...))
			}
			dropped := l.dropped
			l.mu.Unlock()
			if l.Failed != nil {
				l.Failed(err, dropped)
			}
			return false
		}
	}
}

func write(ctx context.Context, w Writer, batch []desktop.Event) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return w.Write(ctx, batch)
}
