package heartbeat

import (
	"context"

	"vigil/internal/fault"
)

// beatWriter writes beats to the database before they are accepted. Beats that
// arrive during a write are written together in the next transaction (group
// commit), so that hundreds of agents need few transactions.
type beatWriter struct {
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

// maxBatch limits the duration of one transaction.
const maxBatch = 256

func newBeatWriter(store Store) *beatWriter {
	return &beatWriter{store: store, in: make(chan entry, maxBatch), done: make(chan struct{})}
}

// run writes batches until ctx is done.
func (w *beatWriter) run(ctx context.Context) {
	defer close(w.done)
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-w.in:
			w.write(ctx, w.gather(first))
		}
	}
}

// gather collects the queued beats. A batch never contains two beats of one
// agent, so that each sequence number is compared with the one before.
func (w *beatWriter) gather(first entry) []entry {
	batch := []entry{first}
	seen := map[Agent]bool{first.beat.Agent: true}
	for len(batch) < maxBatch {
		select {
		case e := <-w.in:
			if seen[e.beat.Agent] {
				e.out <- outcome{err: fault.New(fault.Limited, "another report of this machine is being processed; send one at a time")}
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

func (w *beatWriter) write(ctx context.Context, batch []entry) {
	beats := make([]Beat, len(batch))
	for i, e := range batch {
		beats[i] = e.beat
	}
	verdicts, err := w.store.Record(ctx, beats)
	for i, e := range batch {
		if err != nil {
			e.out <- outcome{err: err}
		} else {
			e.out <- outcome{verdict: verdicts[i]}
		}
	}
}

// record queues a beat, waits until it is written, and returns the verdict.
func (w *beatWriter) record(ctx context.Context, b Beat) (Verdict, error) {
	e := entry{beat: b, out: make(chan outcome, 1)}
	select {
	case w.in <- e:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-w.done:
		return 0, errStopped
	}
	select {
	case o := <-e.out:
		return o.verdict, o.err
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-w.done:
		return 0, errStopped
	}
}

var errStopped = fault.New(fault.Unavailable, "the server is stopping")
