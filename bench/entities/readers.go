package main

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vigil/internal/posture/collect"
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
	rest, err := b.wait(quick, hand)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var failed error
	ctx, stop := context.WithCancel(ctx)
	wg.Go(func() { failed = b.collect(ctx) })
	busy, err := b.wait(quick, hand)
	stop()
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

// collect collects new accounts until ctx ends.
func (b *bench) collect(ctx context.Context) error {
	for i := 2000; ctx.Err() == nil; i++ {
		a := estate.New(i, min(b.o.account, b.o.entities))
		err := b.onboard(ctx, a)
		if err == nil {
			err = b.collectAccount(ctx, a)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// What clouds do at best: this many entities a page, in this time.
const (
	cloudPage = 100
	cloudTime = 50 * time.Millisecond
)

// collectAccount collects an account page by page, many units at a time.
func (b *bench) collectAccount(ctx context.Context, a estate.Account) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(unitsAtOnce)
	for _, u := range a.Units() {
		group.Go(func() error {
			r, err := b.store.Begin(ctx, collect.Scoped{Org: org, Account: a.ID, Type: u.Type, Region: u.Region})
			if err != nil {
				return err
			}
			defer r.Discard()
			n := 0
			for e := range u.Each {
				if n%cloudPage == 0 {
					time.Sleep(cloudTime)
				}
				if err := r.Put(ctx, e); err != nil {
					return err
				}
				n++
			}
			return r.Commit(ctx, true)
		})
	}
	return group.Wait()
}

// A p99 of fewer answers than these is that of the slowest ones alone.
const (
	manyAnswers = 2000
	longEnough  = time.Minute
)

// wait asks until there are many answers, or for a time at most.
func (b *bench) wait(quick []question, hand bool) (w waits, err error) {
	ask := func(into *[]time.Duration, method, path, body string) error {
		c, err := measure(func() error {
			_, err := b.ask(method, path, body)
			return err
		})
		*into = append(*into, c.wall)
		time.Sleep(2 * time.Millisecond) // people do not ask without pause
		return err
	}
	for end := time.Now().Add(longEnough); time.Now().Before(end) && len(w.api) < manyAnswers; {
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
	}
	return w, nil
}
