package sweep

import (
	"context"
	"sync/atomic"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A leaseKeeper renews the lease of a run and saves its progress.
type leaseKeeper struct {
	sweep    *Sweep
	org      posture.OrgID
	run      posture.Run // without progress
	stop     context.CancelCauseFunc
	progress atomic.Pointer[collect.Progress] // nil until the first unit is done
}

// snapshot returns the current state of the run.
func (k *leaseKeeper) snapshot() posture.Run {
	r := k.run
	if p := k.progress.Load(); p != nil {
		r.Collectors, r.Entities, r.Units, r.Done = p.Collectors(), p.Entities, p.Units, p.Done
	}
	return r
}

// keep renews the lease periodically until done is closed or the run ended.
func (k *leaseKeeper) keep(ctx context.Context, done <-chan struct{}) {
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

// renew renews the lease once. If a stop was requested or the run has ended already, it
// cancels the run and returns false.
func (k *leaseKeeper) renew(ctx context.Context) bool {
	now := k.sweep.Now()
	r := k.snapshot()
	r.Updated = now
	stop, err := k.sweep.Store.RenewRun(ctx, k.org, r, now.Add(k.sweep.Lease))
	switch {
	case stop, fault.Is(err, fault.NotFound):
		k.stop(errStopped)
		return false
	case err != nil && ctx.Err() == nil:
		k.sweep.Log.WarnContext(ctx, "lease renewal of a run failed", "run", r.ID, "error", err)
	}
	return true
}
