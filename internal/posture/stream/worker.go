package stream

import (
	"context"
	"time"

	"vigil/internal/posture"
)

// A worker is a running call of [Reader.Work] for one account.
type worker struct {
	wake chan struct{} // receives when a message arrived
	done chan struct{} // closed when the worker has ended
}

// Work executes the pending reads of an account until none is due and IdleWait
// passes without another message. It may be called again after it failed or after
// the process died: pending reads stay in the store until their results are recorded.
func (r *Reader) Work(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	ref := posture.AccountRef{Org: org, Account: id}
	self, err := r.startWorker(ctx, ref)
	if err != nil {
		return err
	}
	defer r.endWorker(ref)
	for {
		due, err := r.Store.PendingReads(ctx, org, id, batchSize)
		if err != nil {
			return err
		}
		if len(due) > 0 {
			next := time.NewTimer(r.BatchInterval)
			if err := r.batch(ctx, ref, due); err != nil {
				next.Stop()
				return err
			}
			if len(due) == batchSize {
				next.Reset(0) // more are due: do not wait
			}
			select {
			case <-next.C:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		if r.waitForWake(ctx, self) {
			continue
		}
		idle, err := r.Store.ReleaseIfIdle(ctx, org, id)
		if err != nil || idle {
			return err
		}
	}
}

// Wake tells the worker of an account, if one is running, that a message arrived.
func (r *Reader) Wake(ref posture.AccountRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w, ok := r.workers[ref]; ok {
		select {
		case w.wake <- struct{}{}:
		default: // a wake-up is pending already
		}
	}
}

// startWorker waits until the previous worker of the account has ended, and registers a
// new one. The previous one may have released the account in the store and still be
// returning.
func (r *Reader) startWorker(ctx context.Context, ref posture.AccountRef) (*worker, error) {
	for {
		r.mu.Lock()
		previous, busy := r.workers[ref]
		if !busy {
			w := &worker{make(chan struct{}, 1), make(chan struct{})}
			r.workers[ref] = w
			r.mu.Unlock()
			return w, nil
		}
		r.mu.Unlock()
		select {
		case <-previous.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *Reader) endWorker(ref posture.AccountRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.workers[ref].done)
	delete(r.workers, ref)
}

// waitForWake waits up to IdleWait for a message and reports whether one arrived.
func (r *Reader) waitForWake(ctx context.Context, w *worker) bool {
	timer := time.NewTimer(r.IdleWait)
	defer timer.Stop()
	select {
	case <-w.wake:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
