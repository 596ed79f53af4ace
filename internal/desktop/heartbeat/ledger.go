package heartbeat

import (
	"context"

	"vigil/internal/fault"
)

// ledger keeps beats on disk before they count. Beats that come in while others
// are being written are written together with one another, so that hundreds of
// agents cost a few transactions, not hundreds.
type ledger struct {
	store Store
	in    chan entry
	done  chan struct{}
}

type entry struct {
	beat Beat
	out  chan outcome
}

type outcome struct {
	verdict Verdict
	err     error
}

// maxBatch bounds the time that one transaction holds up others.
const maxBatch = 256

func newLedger(store Store) *ledger {
	return &ledger{store: store, in: make(chan entry, maxBatch), done: make(chan struct{})}
}

// run writes until ctx ends.
func (l *ledger) run(ctx context.Context) {
	defer close(l.done)
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-l.in:
			l.write(ctx, l.gather(first))
		}
	}
}

// gather takes what is waiting. Two beats of one agent are never in one batch,
// so that each is judged by the one before.
func (l *ledger) gather(first entry) []entry {
	batch := []entry{first}
	seen := map[Agent]bool{first.beat.Agent: true}
	for len(batch) < maxBatch {
		select {
		case e := <-l.in:
			if seen[e.beat.Agent] {
				e.out <- outcome{err: fault.New(fault.Limited, "one report at a time")}
				continue
			}
			seen[e.beat.Agent] = true
			batch = append(batch, e)
		default:
			return batch
		}
	}
	return batch
}

func (l *ledger) write(ctx context.Context, batch []entry) {
	beats := make([]Beat, len(batch))
	for i, e := range batch {
		beats[i] = e.beat
	}
	verdicts, err := l.store.Record(ctx, beats)
	for i, e := range batch {
		if err != nil {
			e.out <- outcome{err: err}
		} else {
			e.out <- outcome{verdict: verdicts[i]}
		}
	}
}

// record has a beat written and returns the verdict on it.
func (l *ledger) record(ctx context.Context, b Beat) (Verdict, error) {
	e := entry{beat: b, out: make(chan outcome, 1)}
	select {
	case l.in <- e:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-l.done:
		return 0, errStopped
	}
	select {
	case o := <-e.out:
		return o.verdict, o.err
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-l.done:
		return 0, errStopped
	}
}

var errStopped = fault.New(fault.Unavailable, "the server is stopping")
