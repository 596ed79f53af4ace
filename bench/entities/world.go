package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"vigil/internal/cursor"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/api"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitygen"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/store"
	"vigil/internal/posture/walk"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

const org = posture.OrgID("bench")

// bench is a filled database with both implementations of the queries.
type bench struct {
	o               options
	db              *sqldb.DB
	store           *store.Store
	accounts        []entitygen.Account
	mux             *httpapi.Mux // the API, and the same queries as hand-written SQL
	count           int          // number of loaded entities
	cachedQuestions []question
	costs           map[string]cost // cost of the API by query
}

// plainBox does not encrypt: continuation tokens are not measured.
type plainBox struct{}

func (plainBox) Seal(_ context.Context, _ secret.Cell, plaintext []byte) ([]byte, error) {
	return plaintext, nil
}
func (plainBox) Open(_ context.Context, _ secret.Cell, sealed []byte) ([]byte, error) {
	return sealed, nil
}

func open(ctx context.Context, o options) (*bench, error) {
	db, err := sqldb.Open(ctx, o.database, sqldb.Options{WriteTimeout: time.Hour})
	if err != nil {
		return nil, err
	}
	if !o.reuse {
		if err := store.Migrate(ctx, db); err != nil {
			return nil, err
		}
	}
	b := &bench{o: o, db: db, store: store.New(db, plainBox{}, nil), costs: map[string]cost{}}
	size := min(o.account, o.entities)
	for i := range max(1, o.entities/size) {
		b.accounts = append(b.accounts, entitygen.New(i, size))
	}
	if err := b.makePlain(ctx); err != nil {
		return nil, err
	}
	a := &api.API{
		Org: func(context.Context) posture.OrgID { return org }, Entities: b.store, Cursors: cursor.New(plainBox{}), Now: time.Now,
		Walker:       walk.New(graphcache.New(b.store, graphcache.Options{}), b.store, walk.Options{}),
		Declarations: func() []collect.Declaration { return nil },
	}
	var routes []httpapi.Route
	for _, r := range a.Routes() {
		if strings.Contains(r.Pattern, "/v1/entities") {
			r.Need = httpapi.Public
			routes = append(routes, r)
		}
	}
	b.mux, err = httpapi.NewMux(append(routes, b.plainRoutes()...), httpapi.Options{
		Rates: map[string]httpapi.Rate{httpapi.RateDefault: {}, httpapi.RateHeavy: {}}, Timeout: time.Hour,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	return b, err
}

func (b *bench) close() { _ = b.db.Close() }

// load fills the tables of the entity store and the plain table.
func (b *bench) load(ctx context.Context) error {
	fmt.Printf("%s, %d entities in %d accounts\n\n", b.db.Dialect(), b.o.entities, len(b.accounts))
	if b.o.reuse {
		return b.reuse(ctx)
	}
	before := b.size(ctx)
	stored, err := measure(func() error {
		if b.o.bulk {
			return b.loadBulk(ctx)
		}
		return b.loadEach(ctx)
	})
	if err != nil {
		return err
	}
	bytes := b.size(ctx) - before
	perItem := func(d time.Duration, n int) float64 { return float64(d.Microseconds()) / float64(max(n, 1)) }
	printf("load: %d entities, %.1f us of wall-clock time and %.1f us of CPU time each, including generation", b.count, perItem(stored.wall, b.count), perItem(stored.cpu, b.count))
	printf("size: %d bytes per entity with edges, tokens, hashes and counters", bytes/int64(max(b.count, 1)))
	if !b.o.needsPlain() {
		return nil
	}
	plainTable, err := measure(func() error { return b.loadPlain(ctx) })
	if err != nil {
		return err
	}
	printf("      %d bytes per entity in plain tables with JSON and indexes, %.1f us of wall-clock time each\n",
		(b.size(ctx)-before-bytes)/int64(max(b.count, 1)), perItem(plainTable.wall, b.count))
	return nil
}

// loadEach records one account after another, like collections.
func (b *bench) loadEach(ctx context.Context) error {
	for _, a := range b.accounts {
		if err := b.onboard(ctx, a); err != nil {
			return err
		}
		n, _, err := b.record(ctx, a)
		if err != nil {
			return err
		}
		b.count += n
	}
	return nil
}

// onboard adds an account.
func (b *bench) onboard(ctx context.Context, a entitygen.Account) error {
	return b.store.Onboard(ctx, org, func(tx posture.OnboardingTx) error {
		return tx.AddAccount(posture.Account{ID: a.ID, Provider: a.Provider, Name: string(a.ID), ETag: rand.Text()})
	})
}

// unitsAtOnce is the number of units of an account that the server reads concurrently.
const unitsAtOnce = 8

// record collects some accounts, a few at a time. It returns their number of entities
// and the cost of recording them, without that of generating them.
func (b *bench) record(ctx context.Context, accounts ...entitygen.Account) (n int, elapsed cost, err error) {
	for chunk := range slices.Chunk(accounts, b.o.atOnce) {
		var work []func(context.Context) error
		for _, a := range chunk {
			count, collect := b.collection(a)
			n += count
			work = append(work, collect)
		}
		runtime.GC() // exclude the garbage of generation
		c, err := measure(func() error {
			group, ctx := errgroup.WithContext(ctx)
			for _, collect := range work {
				group.Go(func() error { return collect(ctx) })
			}
			return group.Wait()
		})
		if err != nil {
			return n, elapsed, err
		}
		elapsed.wall += c.wall
		elapsed.cpu += c.cpu
	}
	return n, elapsed, nil
}

// collection generates the entities of an account. It returns their number and a
// function that records them.
func (b *bench) collection(a entitygen.Account) (n int, record func(context.Context) error) {
	units := a.Units()
	read := make([][]posture.Entity, len(units))
	for i, u := range units {
		read[i] = slices.Collect(u.Each)
		n += len(read[i])
	}
	return n, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(unitsAtOnce)
		for i, u := range units {
			group.Go(func() error {
				return b.recordUnit(ctx, collect.Scoped{Org: org, Account: a.ID, Type: u.Type, Region: u.Region}, read[i])
			})
		}
		return group.Wait()
	}
}

func (b *bench) recordUnit(ctx context.Context, scope collect.Scoped, es []posture.Entity) error {
	r, err := b.store.Begin(ctx, scope)
	if err != nil {
		return err
	}
	defer r.Discard()
	for _, e := range es {
		if err := r.Put(ctx, e); err != nil {
			return err
		}
	}
	return r.Commit(ctx, true)
}

// size returns the bytes of the database on disk.
func (b *bench) size(ctx context.Context) (bytes int64) {
	_ = b.db.Write(ctx, func(tx *sqldb.Tx) error {
		if tx.Dialect() == sqldb.Postgres {
			return tx.QueryRow(`SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
				JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = current_schema()`).Scan(&bytes)
		}
		return tx.QueryRow(`SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&bytes)
	})
	return bytes
}

// all yields the entities of all accounts.
func (b *bench) all() iter.Seq[posture.Entity] {
	return func(yield func(posture.Entity) bool) {
		for _, a := range b.accounts {
			for e := range a.All() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// send sends a request and fails unless its status is 200.
func (b *bench) send(method, path, body string) (string, error) {
	r, err := http.NewRequest(method, path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	w := &answer{header: http.Header{}}
	b.mux.ServeHTTP(w, r)
	if w.status != http.StatusOK {
		return "", fmt.Errorf("%s %s: %d %.300s", path, body, w.status, w.body.String())
	}
	return w.body.String(), nil
}

// answer stores the response of a handler.
type answer struct {
	header http.Header
	status int
	body   strings.Builder
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// sample returns about n entities, evenly spread over the account in the middle of the list.
func (b *bench) sample(n int) []posture.Entity {
	var batch []posture.Entity
	middle := b.accounts[len(b.accounts)/2]
	step := max(1, middle.Entities/n)
	i := 0
	for e := range middle.All() {
		i++
		if i%step == 0 {
			batch = append(batch, e)
		}
	}
	return slices.Clip(batch)
}

func printf(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }
