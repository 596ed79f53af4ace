package main

import (
	"context"
	"fmt"
	"runtime/pprof"
	"time"

	"vigil/internal/posture/entitygen"
)

// upsert collects everything again after a share of the entities has changed (the flag
// -changed), and compares that with collecting accounts in which everything has changed,
// and with writing accounts for the first time. Small numbers of entities are collected
// several times for a meaningful result.
func (b *bench) upsert(ctx context.Context) error {
	count := min(b.o.atOnce, len(b.accounts)) // these are enough to measure all and first, because accounts have the same size
	rounds := max(1, 1_000_000/b.o.entities)
	var partial, all, first written
	revised := func(accounts []entitygen.Account, revision int, changed float64) (later []entitygen.Account) {
		for _, a := range accounts {
			a.Revision, a.Changed = revision, changed
			later = append(later, a)
		}
		return later
	}
	label := func(part string) { pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("part", part))) }
	defer pprof.SetGoroutineLabels(ctx)
	label("again")
	for round := range rounds {
		if err := partial.add(b.record(ctx, revised(b.accounts, 1+round, b.o.changed)...)); err != nil {
			return err
		}
	}
	label("all")
	if err := all.add(b.record(ctx, revised(b.accounts[:count], 1+rounds, 1)...)); err != nil {
		return err
	}
	label("first")
	var fresh []entitygen.Account
	for i := range count {
		a := entitygen.New(1000+6*i, min(b.o.account, b.o.entities))
		if err := b.onboard(ctx, a); err != nil {
			return err
		}
		fresh = append(fresh, a)
	}
	if err := first.add(b.record(ctx, fresh...)); err != nil {
		return err
	}
	printf("cost per entity of writing, %d accounts at a time, without the cost of generating them", count)
	printf("  the first time            %s", first)
	printf("  again, all changed        %s", all)
	printf("  again, %4.1f %% changed     %s", 100*b.o.changed, partial)
	printf("  all / %.1f %%               %.1f of wall-clock time, %.1f of CPU time (target 20)", 100*b.o.changed,
		ratio(all.each().wall, partial.each().wall), ratio(all.each().cpu, partial.each().cpu))
	printf("  first time / %.1f %%        %.1f of wall-clock time, %.1f of CPU time\n", 100*b.o.changed,
		ratio(first.each().wall, partial.each().wall), ratio(first.each().cpu, partial.each().cpu))
	return nil
}

// written is the total cost of some writes of entities, and their number.
type written struct {
	entities int
	cost
}

// add adds n writes with a total cost. It takes the results of record and returns err unchanged.
func (w *written) add(n int, c cost, err error) error {
	w.entities += n
	w.wall += c.wall
	w.cpu += c.cpu
	return err
}

// each returns the cost per entity.
func (w written) each() cost {
	n := max(w.entities, 1)
	return cost{w.wall / time.Duration(n), w.cpu / time.Duration(n)}
}

func (w written) String() string {
	e := w.each()
	return fmt.Sprintf("%7.2f us of wall-clock time, %7.2f us of CPU time, mean of %d writes", float64(e.wall.Nanoseconds())/1000, float64(e.cpu.Nanoseconds())/1000, w.entities)
}
