package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/inventory"
	"vigil/internal/desktop/probe"
	"vigil/internal/desktop/probe/eventdb"
	"vigil/internal/desktop/probe/vcenter"
)

// Listen takes the server's address, reads the inventory and returns the URL.
func (a *App) Listen(ctx context.Context) (string, error) {
	if err := a.server.Listen(ctx); err != nil {
		return "", err
	}
	url := a.server.URL()
	if a.o.Prepare != nil {
		if err := a.o.Prepare(url); err != nil {
			return "", err
		}
	}
	known, err := a.store.LastStatuses(ctx)
	if err != nil {
		return "", fmt.Errorf("read the last statuses: %w", err)
	}
	a.board.RestoreStatuses(known)
	// The demo's inventory is there only now.
	a.watcher.Path = a.o.Install.Config.Desktop.Inventory
	if err := a.watcher.Load(); err != nil {
		return "", err
	}
	return url, nil
}

// runAudit looks after the audit log, unless the posture server of this process
// does.
func (a *App) runAudit(ctx context.Context) {
	if !a.o.Install.Config.Posture.Enabled {
		a.o.Install.RunAudit(ctx, a.o.Log)
	}
}

// Serve answers requests and watches the estate until ctx ends, then lets what
// is under way finish. It comes after Listen.
func (a *App) Serve(ctx context.Context) error {
	if err := a.heartbeats.Start(ctx); err != nil {
		return err
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	for _, run := range []func(context.Context){
		a.runProbes, a.tick, a.tidy, a.history.run, a.events.Run, a.sampler.Run,
		func(ctx context.Context) { a.watcher.Run(ctx, a.o.Reload) },
		func(ctx context.Context) { a.keys.Run(ctx, a.o.Log) },
		func(ctx context.Context) { a.browsers.Run(ctx, a.o.Log) },
		a.runAudit,
	} {
		wait.Go(func() { run(work) })
	}
	a.alerts.Start(ctx)
	err := a.server.Serve(ctx)
	// Requests are over: what they need may stop.
	cancel()
	a.heartbeats.Stop()
	a.alerts.Stop()
	wait.Wait()
	return err
}

func (a *App) runProbes(ctx context.Context) {
	if stuck := a.probes.Run(ctx); stuck > 0 {
		a.o.Log.WarnContext(ctx, "probes did not come back", "number", stuck)
	}
}

// tick derives the statuses that time alone changes.
func (a *App) tick(ctx context.Context) {
	t := time.NewTicker(a.o.Tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			a.board.Tick()
		}
	}
}

// tidy forgets what is of no more use.
func (a *App) tidy(ctx context.Context) {
	t := time.NewTicker(10 * time.Minute)
	defer t.Stop()
	for {
		if err := a.forget(ctx); err != nil && ctx.Err() == nil {
			a.o.Log.ErrorContext(ctx, "old records not removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (a *App) forget(ctx context.Context) error {
	if err := a.gate.Tidy(ctx); err != nil {
		return err
	}
	now := a.o.Now()
	return errors.Join(
		a.store.ForgetChanges(ctx, now.Add(-a.o.HistoryKept)),
		a.store.ForgetSamples(ctx, desktop.FineStep, now.Add(-desktop.FineKept)),
		a.store.ForgetSamples(ctx, desktop.CoarseStep, now.Add(-a.o.HistoryKept)),
	)
}

// apply takes over an inventory.
func (a *App) apply(inv desktop.Inventory, d inventory.Diff) {
	a.o.Log.Info("inventory taken over", "changes", d.String())
	wasRefused := a.board.Refused() != nil
	a.directory.Configure(inv)
	a.board.Configure(inv)
	if inv.EventDatabase == nil {
		a.eventsIn = nil
		a.events.Use(nil)
	}
	a.probes.Configure(a.estate.Targets(inv))
	if wasRefused {
		a.lookAtSelf()
	}
}

// rejectInventory takes note of a file that is not taken over. The server's own
// record, its overview and its metrics say so until a good one is.
func (a *App) rejectInventory(err error) {
	a.o.Log.Error("the inventory is not taken over; the last good one stays in use", "error", err)
	a.board.RefuseInventory(desktop.RefusedInventory{At: desktop.MillisOf(a.o.Now()), Message: err.Error()})
	a.lookAtSelf()
}

// lookAtSelf has the server's own record brought up to date now.
func (a *App) lookAtSelf() {
	if self, ok := a.board.Inventory().Self(); ok {
		a.probes.Look(desktop.KindConnectionServer, self.ID)
	}
}

// eventDatabase makes the look at the event database, which is also where our
// own events go.
func (a *App) eventDatabase(spec desktop.EventDatabase) (probe.Look, func()) {
	if a.eventsIn != nil && a.eventsSpec == spec {
		return a.eventsIn.Look, a.eventsIn.Close // a reload that leaves it as it is
	}
	db, err := eventdb.New(spec, a.secrets, a.o.Now)
	if err != nil {
		return unusable(err), func() {}
	}
	a.eventsIn, a.eventsSpec = db, spec
	a.events.Use(db)
	return db.Look, db.Close
}

// unusable is the look at something whose configuration makes no sense.
func unusable(err error) probe.Look {
	return func(context.Context) (desktop.Reading, *desktop.Certificate, error) {
		return nil, nil, &desktop.Failure{Cause: desktop.Malformed, Reason: fmt.Sprintf("it cannot be used: %v", err), Err: err}
	}
}

func (a *App) virtualCenter(spec desktop.VirtualCenter) (probe.Look, func()) {
	c := vcenter.New(spec, a.secrets, a.o.Now)
	return c.Look, c.Close
}
