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

// Listen binds the server's address, reads the inventory and returns the URL.
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
	// The demo sets the inventory's path in Prepare.
	a.watcher.Path = a.o.Install.Config.Desktop.Inventory
	if err := a.watcher.Load(); err != nil {
		return "", err
	}
	return url, nil
}

// runAudit runs the maintenance of the audit log, unless the posture server of
// this process does.
func (a *App) runAudit(ctx context.Context) {
	if !a.o.Install.Config.Posture.Enabled {
		a.o.Install.RunAudit(ctx, a.o.Log)
	}
}

// Serve serves requests and monitors the components until ctx is done, then
// waits for running requests. Call Listen first.
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
	// All requests have ended: stop the parts that they used.
	a.stopping.Store(true)
	cancel()
	a.heartbeats.Stop()
	a.alerts.Stop()
	wait.Wait()
	a.closeEventDatabase()
	return err
}

// closeEventDatabase closes the event database after the last events were written. It does not
// wait long for a probe of the database that does not return.
func (a *App) closeEventDatabase() {
	if a.eventDB == nil {
		return
	}
	closed := make(chan struct{})
	go func() {
		a.eventDB.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
	}
}

func (a *App) runProbes(ctx context.Context) {
	if stuck := a.probes.Run(ctx); stuck > 0 {
		a.o.Log.WarnContext(ctx, "probes did not return", "number", stuck)
	}
}

// tick derives the statuses that change with time.
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

// tidy deletes expired records periodically.
func (a *App) tidy(ctx context.Context) {
	t := time.NewTicker(10 * time.Minute)
	defer t.Stop()
	for {
		if err := a.forget(ctx); err != nil && ctx.Err() == nil {
			a.o.Log.ErrorContext(ctx, "remove old records", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (a *App) forget(ctx context.Context) error {
	if err := a.authenticator.Tidy(ctx); err != nil {
		return err
	}
	now := a.o.Now()
	monitored := func(k desktop.Kind, id desktop.ID) bool {
		_, _, ok := a.board.Record(k, id)
		return ok
	}
	return errors.Join(
		a.store.ForgetChanges(ctx, now.Add(-a.o.HistoryKept), monitored),
		a.store.ForgetSamples(ctx, desktop.FineStep, now.Add(-desktop.FineKept)),
		a.store.ForgetSamples(ctx, desktop.CoarseStep, now.Add(-a.o.HistoryKept)),
	)
}

// apply replaces the inventory.
func (a *App) apply(inv desktop.Inventory, d inventory.Diff) {
	a.o.Log.Info("inventory loaded", "changes", d.String())
	wasRefused := a.board.Refused() != nil
	a.directory.Configure(inv)
	a.board.Configure(inv)
	if inv.EventDatabase == nil {
		a.eventDB = nil
		a.events.Use(nil)
	}
	a.probes.Configure(a.targets.Targets(inv))
	if wasRefused {
		a.probeSelf()
	}
}

// rejectInventory records that a file was refused. The server's own record, its
// overview and its metrics show it until a file is accepted.
func (a *App) rejectInventory(err error) {
	a.o.Log.Error("inventory refused; the last good one stays in use", "error", err)
	a.board.RefuseInventory(desktop.RefusedInventory{At: desktop.MillisOf(a.o.Now()), Message: err.Error()})
	a.probeSelf()
}

// probeSelf triggers the probe of this server's own record.
func (a *App) probeSelf() {
	if self, ok := a.board.Inventory().Self(); ok {
		a.probes.Probe(desktop.KindConnectionServer, self.ID)
	}
}

// eventDatabase returns the probe of the event database and the function that the scheduler
// calls when it closes the target. The database also receives this server's events.
func (a *App) eventDatabase(spec desktop.EventDatabase) (probe.Probe, func()) {
	if a.eventDB != nil && a.eventDBSpec == spec {
		// A reload did not change the database. The scheduler keeps the old target and closes the new one,
		// which must not close the database: the old target still uses it.
		return a.eventDB.Probe, func() {}
	}
	db, err := eventdb.New(spec, a.secrets, a.o.Now)
	if err != nil {
		a.eventDB = nil // the scheduler closes the old database with its target
		return unusable(err), func() {}
	}
	a.eventDB, a.eventDBSpec = db, spec
	a.events.Use(db)
	return db.Probe, func() {
		// At a stop, the scheduler closes its targets before the last events are written.
		if !a.stopping.Load() {
			db.Close()
		}
	}
}

// unusable returns a probe that always fails, for an invalid configuration.
func unusable(err error) probe.Probe {
	return func(context.Context) (desktop.Reading, *desktop.Certificate, error) {
		return nil, nil, &desktop.Failure{Cause: desktop.Malformed, Reason: fmt.Sprintf("it cannot be used: %v", err), Err: err}
	}
}

func (a *App) virtualCenter(spec desktop.VirtualCenter) (probe.Probe, func()) {
	c := vcenter.New(spec, a.secrets, a.o.Now)
	return c.Probe, c.Close
}
