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
	org                = posture.OrgID("bench")
	concurrentAccounts = 4
	concurrentLists    = 8 // lists of an account that are read concurrently
)

// A task is one mode of reading all accounts of a cloud.
type task struct {
	Mode     string
	Cloud    cloud
	Database string // a SQLite file
	Profile  string // file for a CPU profile; no profile when empty
}

// A result is the cost of a task.
type result struct {
	Resources int
	Took      cost
	Peak      int64 // bytes of memory

	// OfBare is the CPU time divided by the mean of the bare runs before and after the task.
	// The parent process sets it.
	OfBare float64
}

// run runs the task and prints its cost to standard output.
func (t task) run(ctx context.Context) error {
	if t.Mode != "bare" {
		gctune.Tune() // like the server
	}
	transport, err := egress.New(egress.Options{Gateway: &egress.Gateway{Address: t.Cloud.Address, CA: t.Cloud.CA}})
	if err != nil {
		return err
	}
	defer transport.Close()
	read, done, err := t.reader(ctx, transport)
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
		group.SetLimit(concurrentAccounts)
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
		return fmt.Errorf("%s: %w", t.Mode, err)
	}
	return json.NewEncoder(os.Stdout).Encode(result{Resources: int(total.Load()), Took: took, Peak: peak()})
}

// reader returns a function that reads one account, and a cleanup function.
func (t task) reader(ctx context.Context, transport *egress.Transport) (func(context.Context, posture.Access) (int, error), func(), error) {
	if t.Mode == "bare" {
		return bare{t.Cloud, transport.Client()}.read, func() {}, nil
	}
	runner := &collect.Runner{
		Sources: map[posture.Provider]collect.Source{posture.AWS: aws.New(aws.Options{
			HTTP: transport.Client(), Identity: aws.Identity{AccessKeyID: t.Cloud.Key, SecretAccessKey: t.Cloud.Secret},
		})},
		Recorder: discardRecorder{}, Parallel: concurrentLists, Log: slog.New(slog.DiscardHandler),
	}
	done := func() {}
	if t.Mode != "read" {
		db, err := t.open(ctx)
		if err != nil {
			return nil, nil, err
		}
		runner.Recorder, done = store.New(db, plainBox{}, nil), func() { _ = db.Close() }
	}
	return func(ctx context.Context, a posture.Access) (int, error) {
		o := runner.Run(ctx, a, posture.RunScope{Types: types}, nil)
		if o.Status != posture.RunCompleted {
			return 0, fmt.Errorf("the run ended as %s: %s %v", o.Status, o.Reason, o.Collectors)
		}
		return o.Entities, nil
	}, done, nil
}

// open opens the database. In mode "first" it is new, and open adds the accounts.
func (t task) open(ctx context.Context) (*sqldb.DB, error) {
	db, err := sqldb.Open(ctx, "sqlite:"+t.Database, sqldb.Options{WriteTimeout: time.Hour, WaitTimeout: time.Hour})
	if err != nil {
		return nil, err
	}
	if err := store.Migrate(ctx, db); err != nil {
		return nil, err
	}
	if t.Mode != "first" {
		return db, nil
	}
	return db, store.New(db, plainBox{}, nil).Onboard(ctx, org, func(tx posture.OnboardingTx) error {
		for _, a := range t.Cloud.Accounts {
			err := tx.AddAccount(posture.Account{ID: posture.AccountID(a.ID), Provider: posture.AWS, Name: a.ID, ETag: rand.Text()})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// discardRecorder is a recorder that discards all entities.
type discardRecorder struct{}

func (discardRecorder) Begin(context.Context, collect.Scoped) (collect.Recording, error) {
	return discardRecorder{}, nil
}
func (discardRecorder) Put(context.Context, posture.Entity) error { return nil }
func (discardRecorder) Commit(context.Context, bool) error        { return nil }
func (discardRecorder) Discard()                                  {}

// plainBox does not encrypt: there are no secrets here.
type plainBox struct{}

func (plainBox) Seal(_ context.Context, _ secret.Cell, plain []byte) ([]byte, error) {
	return plain, nil
}
func (plainBox) Open(_ context.Context, _ secret.Cell, sealed []byte) ([]byte, error) {
	return sealed, nil
}
