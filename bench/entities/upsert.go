package main

import (
	"context"
	"fmt"
	"runtime/pprof"
	"time"

	"vigil/internal/posture/estate"
)

// upsert collects everything once more with one entity in a hundred changed, and
// compares that with collecting accounts in which everything has changed, and
// with writing accounts for the first time.
func (b *bench) upsert(ctx context.Context) error {
	few := b.accounts[:min(2, len(b.accounts))] // writing costs the same for every account
	var again, all, first written
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("part", "again")))
	for _, a := range b.accounts {
		a.Revision, a.Changed = 1, b.o.changed
		if err := again.add(b.record(ctx, a)); err != nil {
			return err
		}
	}
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("part", "all")))
	for _, a := range few {
		a.Revision, a.Changed = 2, 1
		if err := all.add(b.record(ctx, a)); err != nil {
			return err
		}
	}
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("part", "first")))
	for i := range few {
		a := estate.New(1000+6*i, min(b.o.account, b.o.entities))
		if err := b.onboard(ctx, a); err != nil {
			return err
		}
		if err := first.add(b.record(ctx, a)); err != nil {
			return err
		}
	}
	pprof.SetGoroutineLabels(ctx)
	say("writing %d entities, each, without making them up", again.entities)
	say("  the first time            %s", first)
	say("  again, all changed        %s", all)
	say("  again, %4.1f %% changed     %s", 100*b.o.changed, again)
	say("  all / %.1f %%               %.1f by the clock, %.1f of processor (target 20)", 100*b.o.changed,
		ratio(all.each().wall, again.each().wall), ratio(all.each().cpu, again.each().cpu))
	say("  first time / %.1f %%        %.1f by the clock, %.1f of processor\n", 100*b.o.changed,
		ratio(first.each().wall, again.each().wall), ratio(first.each().cpu, again.each().cpu))
	return nil
}

// written is what writing some entities took.
type written struct {
	entities int
	cost
}

func (w *written) add(n int, c cost, err error) error {
	w.entities += n
	w.wall += c.wall
	w.cpu += c.cpu
	return err
}

// each returns what one entity took.
func (w written) each() cost {
	n := max(w.entities, 1)
	return cost{w.wall / time.Duration(n), w.cpu / time.Duration(n)}
}

func (w written) String() string {
	e := w.each()
	return fmt.Sprintf("%7.2f us by the clock, %7.2f us of processor", float64(e.wall.Nanoseconds())/1000, float64(e.cpu.Nanoseconds())/1000)
}
