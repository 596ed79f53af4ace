package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"vigil/internal/gctune"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/store"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

const (
	org      = posture.OrgID("bench")
	accounts = 4 // that are read at a time
	lists    = 8 // of an account that are read at a time
)

// A task is one way to read all accounts of a cloud.
type task struct {
	Way      string
	Cloud    cloud
	Database string // a SQLite file
	Profile  string
}

// A result is what a task took.
type result struct {
	Resources int
	Took      cost
	Peak      int64   // bytes of memory
	OfBare    float64 // processor, in proportion to the bare SDK before and after it
}

// run does the task and says on standard output what it took.
func (t task) run(ctx context.Context) error {
	if t.Way != "bare" {
		gctune.Tune() // as the server does
	}
	way, err := egress.New(egress.Options{Gateway: &egress.Gateway{Address: t.Cloud.Address, CA: t.Cloud.CA}})
	if err != nil {
		return err
	}
	defer way.Close()
	read, done, err := t.reader(ctx, way)
	if err != nil {
		return err
	}
	defer done()
	if t.Profile != "" {
		f, err := os.Create(t.Profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var total atomic.Int64
	took, err := measure(func() error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(accounts)
		for _, a := range t.Cloud.Accounts {
			group.Go(func() error {
				n, err := read(ctx, access(a))
				total.Add(int64(n))
				return err
			})
		}
		return group.Wait()
	})
	if err != nil {
		return fmt.Errorf("%s: %w", t.Way, err)
	}
	return json.NewEncoder(os.Stdout).Encode(result{Resources: int(total.Load()), Took: took, Peak: peak()})
}

// reader returns what reads one account, and what to do at the end.
func (t task) reader(ctx context.Context, way *egress.Transport) (func(context.Context, posture.Access) (int, error), func(), error) {
	if t.Way == "bare" {
		return bare{t.Cloud, way.Client()}.read, func() {}, nil
	}
	runner := &collect.Runner{
		Sources: map[posture.Provider]collect.Source{posture.AWS: aws.New(aws.Options{
			HTTP: way.Client(), Identity: aws.Identity{AccessKeyID: t.Cloud.Key, SecretAccessKey: t.Cloud.Secret},
		})},
		Recorder: nowhere{}, Parallel: lists, Log: slog.New(slog.DiscardHandler),
	}
	done := func() {}
	if t.Way != "read" {
		db, err := t.open(ctx)
		if err != nil {
			return nil, nil, err
		}
		runner.Recorder, done = store.New(db, noBox{}, nil), func() { _ = db.Close() }
	}
	return func(ctx context.Context, a posture.Access) (int, error) {
		o := runner.Run(ctx, a, posture.RunScope{Types: types}, nil)
		if o.Status != posture.RunCompleted {
			return 0, fmt.Errorf("the run ended as %s: %s %v", o.Status, o.Reason, o.Collectors)
		}
		return o.Entities, nil
	}, done, nil
}

// open opens the database and makes sure that it knows the accounts.
func (t task) open(ctx context.Context) (*sqldb.DB, error) {
	db, err := sqldb.Open(ctx, "sqlite:"+t.Database, sqldb.Options{WriteTimeout: time.Hour, WaitTimeout: time.Hour})
	if err != nil {
		return nil, err
	}
	if err := store.Migrate(ctx, db); err != nil {
		return nil, err
	}
	if t.Way != "first" {
		return db, nil
	}
	return db, store.New(db, noBox{}, nil).Onboard(ctx, org, func(tx posture.OnboardingTx) error {
		for _, a := range t.Cloud.Accounts {
			err := tx.AddAccount(posture.Account{ID: posture.AccountID(a.ID), Provider: posture.AWS, Name: a.ID, ETag: rand.Text()})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// nowhere is a recorder that keeps nothing.
type nowhere struct{}

func (nowhere) Begin(context.Context, collect.Scoped) (collect.Recording, error) {
	return nowhere{}, nil
}
func (nowhere) Put(context.Context, posture.Entity) error { return nil }
func (nowhere) Commit(context.Context, bool) error        { return nil }
func (nowhere) Discard()                                  {}

// noBox seals nothing: there are no secrets here.
type noBox struct{}

func (noBox) Seal(_ context.Context, _ secret.Cell, plain []byte) ([]byte, error) { return plain, nil }
func (noBox) Open(_ context.Context, _ secret.Cell, sealed []byte) ([]byte, error) {
	return sealed, nil
}
