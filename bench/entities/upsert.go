package main

import (
	"context"
	"fmt"

	"vigil/internal/posture/estate"
)

// upsert collects everything once more with one entity in a hundred changed, and
// compares that with writing accounts for the first time.
func (b *bench) upsert(ctx context.Context) error {
	var again, first cost
	entities, written := 0, 0
	for _, a := range b.accounts {
		a.Revision, a.Changed = 1, b.o.changed
		n, took, err := b.record(ctx, a)
		if err != nil {
			return err
		}
		entities += n
		again.wall += took.wall
		again.cpu += took.cpu
	}
	for i := range min(2, len(b.accounts)) { // writing costs the same for every account
		a := estate.New(1000+5*i+i, min(b.o.account, b.o.entities))
		if err := b.onboard(ctx, a); err != nil {
			return err
		}
		n, took, err := b.record(ctx, a)
		if err != nil {
			return err
		}
		written += n
		first.wall += took.wall
		first.cpu += took.cpu
	}
	each := func(c cost, n int) string {
		return fmt.Sprintf("%.2f us by the clock, %.2f us of processor", float64(c.wall.Nanoseconds())/1000/float64(n), float64(c.cpu.Nanoseconds())/1000/float64(n))
	}
	say("writing entities, each, without making them up")
	say("  the first time            %s", each(first, written))
	say("  again, %4.1f %% changed     %s", 100*b.o.changed, each(again, entities))
	say("  first / again             %.1f by the clock, %.1f of processor (target 20)\n",
		ratio(first.wall, again.wall)*float64(entities)/float64(written), ratio(first.cpu, again.cpu)*float64(entities)/float64(written))
	return nil
}
