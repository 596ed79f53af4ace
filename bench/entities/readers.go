package main

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitygen"
)

// readers measures queries with and without a concurrent collection.
// Hand-written queries compete with the collection for the same processors and disk as
// those of the API. Their slowdown shows how much of the slowdown of the API this causes.
// Each kind runs in one long series, because hand-written queries read whole tables and
// evict everything else from the caches.
func (b *bench) readers(ctx context.Context) error {
	quick := b.allQuestions()[:8] // pages and selective filters: interactive queries
	readers := []reader{{"API", func(q question) error {
		_, err := b.send(q.method, q.path, q.body)
		return err
	}}}
	if b.o.needsPlain() {
		readers = append(readers, reader{"by hand", func(q question) error {
			_, err := b.send("POST", "/plain/"+url.PathEscape(q.name), "{}")
			return err
		}})
	}
	idle, err := allLatencies(readers, quick)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var failed error
	ctx, stop := context.WithCancel(ctx)
	wg.Go(func() { failed = b.collect(ctx) })
	busy, err := allLatencies(readers, quick)
	stop()
	wg.Wait()
	if err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	printf("readers, %d questions at rest and %d during a collection", len(idle[0]), len(busy[0]))
	for i, r := range readers {
		for _, q := range []float64{0.5, 0.99} {
			atRest, underLoad := quantile(idle[i], q), quantile(busy[i], q)
			printf("  %-8s p%-3.0f %10s and %10s: %.1f times", r.name, 100*q, short(atRest), short(underLoad), ratio(underLoad, atRest))
		}
	}
	printf("  the target is 2.0 times for the p99 of the API\n")
	return nil
}

// A reader runs queries in one way.
type reader struct {
	name string
	run  func(question) error
}

// collect collects new accounts until ctx ends.
func (b *bench) collect(ctx context.Context) error {
	for i := 2000; ctx.Err() == nil; i++ { // accounts that neither b.accounts nor upsert contains
		a := entitygen.New(i, min(b.o.account, b.o.entities))
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

// A fast cloud returns a page of cloudPage entities in cloudTime.
const (
	cloudPage = 100
	cloudTime = 50 * time.Millisecond
)

// collectAccount collects an account page by page, several units concurrently.
func (b *bench) collectAccount(ctx context.Context, a entitygen.Account) error {
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

// A reader measures enoughSamples queries, because the p99 of fewer would depend on single
// outliers. It stops earlier after maxSampling.
const (
	enoughSamples = 2000
	maxSampling   = time.Minute
)

// allLatencies returns the latencies of each reader.
func allLatencies(readers []reader, quick []question) (all [][]time.Duration, err error) {
	for _, r := range readers {
		measured, err := r.latencies(quick)
		if err != nil {
			return nil, err
		}
		all = append(all, measured)
	}
	return all, nil
}

// latencies repeats queries until it has enoughSamples, or until maxSampling has passed.
func (r reader) latencies(quick []question) (measured []time.Duration, err error) {
	for end := time.Now().Add(maxSampling); time.Now().Before(end) && len(measured) < enoughSamples; {
		for _, q := range quick {
			c, err := measure(func() error { return r.run(q) })
			if err != nil {
				return measured, err
			}
			measured = append(measured, c.wall)
			time.Sleep(2 * time.Millisecond) // users pause between queries
		}
	}
	return measured, nil
}
