package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"vigil/internal/posture/estate"
)

// readers asks questions at rest and while an account is collected.
func (b *bench) readers(ctx context.Context) error {
	var quick []question
	for _, q := range b.asked() {
		if len(quick) < 8 { // pages and narrow filters: what people wait for
			quick = append(quick, q)
		}
	}
	ask := func(done <-chan struct{}, most time.Duration) (all []time.Duration, err error) {
		for end := time.Now().Add(most); time.Now().Before(end); {
			for _, q := range quick {
				c, err := measure(func() error {
					_, err := b.ask(q.method, q.path, q.body)
					return err
				})
				if err != nil {
					return nil, err
				}
				all = append(all, c.wall)
				time.Sleep(2 * time.Millisecond) // people do not ask without pause
			}
			select {
			case <-done:
				return all, nil
			default:
			}
		}
		return all, nil
	}
	rest, err := ask(nil, 5*time.Second)
	if err != nil {
		return err
	}
	a := estate.New(2000, b.o.account)
	if err := b.onboard(ctx, a); err != nil {
		return err
	}
	var wg sync.WaitGroup
	var failed error
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		_, _, failed = b.record(ctx, a)
	})
	busy, err := ask(done, time.Minute)
	wg.Wait()
	if err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	say("readers, %d questions at rest and %d during a collection", len(rest), len(busy))
	say("  p50 %10s and %10s", short(quantile(rest, 0.5)), short(quantile(busy, 0.5)))
	say("  p99 %10s and %10s: %.1f times (target 2.0)\n", short(quantile(rest, 0.99)), short(quantile(busy, 0.99)), ratio(quantile(busy, 0.99), quantile(rest, 0.99)))
	return nil
}
