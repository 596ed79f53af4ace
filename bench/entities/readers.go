package main

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"vigil/internal/posture/estate"
)

// waits are how long answers took, of the API and by hand.
type waits struct{ api, hand []time.Duration }

// readers asks questions at rest and while an account is collected. Somebody who
// asks by hand has the same processors and the same disk, and waits for them as
// long: the second ratio says how much of the first is that.
func (b *bench) readers(ctx context.Context) error {
	quick := b.asked()[:8] // pages and narrow filters: what people wait for
	hand := b.o.runs("questions") || b.o.runs("graph")
	rest, err := b.wait(quick, hand, nil, 5*time.Second)
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
	busy, err := b.wait(quick, hand, done, time.Minute)
	wg.Wait()
	if err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	say("readers, %d questions at rest and %d during a collection", len(rest.api), len(busy.api))
	tell := func(who string, rest, busy []time.Duration) {
		for _, q := range []float64{0.5, 0.99} {
			say("  %-8s p%-3.0f %10s and %10s: %.1f times", who, 100*q, short(quantile(rest, q)), short(quantile(busy, q)), ratio(quantile(busy, q), quantile(rest, q)))
		}
	}
	tell("API", rest.api, busy.api)
	if hand {
		tell("by hand", rest.hand, busy.hand)
	}
	say("  the target is 2.0 times for the p99 of the API\n")
	return nil
}

// wait asks until done is closed, or for a time at most.
func (b *bench) wait(quick []question, hand bool, done <-chan struct{}, most time.Duration) (w waits, err error) {
	ask := func(into *[]time.Duration, method, path, body string) error {
		c, err := measure(func() error {
			_, err := b.ask(method, path, body)
			return err
		})
		*into = append(*into, c.wall)
		time.Sleep(2 * time.Millisecond) // people do not ask without pause
		return err
	}
	for end := time.Now().Add(most); time.Now().Before(end); {
		for _, q := range quick {
			if err := ask(&w.api, q.method, q.path, q.body); err != nil {
				return w, err
			}
			if !hand {
				continue
			}
			if err := ask(&w.hand, "POST", "/plain/"+url.PathEscape(q.name), "{}"); err != nil {
				return w, err
			}
		}
		select {
		case <-done:
			return w, nil
		default:
		}
	}
	return w, nil
}
