package sweep

import (
	"context"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A keeper keeps the lease of a run and reports how far it has come.
type keeper struct {
	sweep *Sweep
	org   posture.OrgID
	stop  context.CancelCauseFunc

	mu  sync.Mutex
	run posture.Run
}

// progress notes how far the run has come. The next beat saves it.
func (k *keeper) progress(o collect.Outcome, done int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.run.Collectors, k.run.Entities, k.run.Units, k.run.Done = o.Collectors, o.Entities, o.Units, done
}

// snapshot returns the run as it stands.
func (k *keeper) snapshot() posture.Run {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.run
}

// keep renews the lease until done is closed or the run is to end.
func (k *keeper) keep(ctx context.Context, done <-chan struct{}) {
	tick := time.NewTicker(min(k.sweep.Lease/4, 2*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if !k.renew(ctx) {
			return
		}
	}
}

// renew renews the lease. It stops the run, and reports false, when somebody wants
// that or when the run is over already.
func (k *keeper) renew(ctx context.Context) bool {
	now := k.sweep.Now()
	r := k.snapshot()
	r.Updated = now
	stop, err := k.sweep.Store.RenewRun(ctx, k.org, r, now.Add(k.sweep.Lease))
	switch {
	case stop, fault.Is(err, fault.NotFound):
		k.stop(errStopped)
		return false
	case err != nil && ctx.Err() == nil:
		k.sweep.Log.WarnContext(ctx, "lease of a run not renewed", "run", r.ID, "error", err)
	}
	return true
}
