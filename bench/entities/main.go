// Command entities measures the entity half of the posture server beside the
// same work done in the plain way: questions through the API beside hand-written
// SQL, graphs from snapshots beside rows and JSON, a collection that finds little
// changed beside one that writes everything, and readers during a collection
// beside readers at rest. Everything is measured in one run on the same data.
//
//	go run ./bench/entities -entities 100000
//	go run ./bench/entities -entities 1000000 -database postgres://…
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strings"
)

// options are what a run is told.
type options struct {
	entities int
	account  int    // entities of an account
	database string // URL; a new SQLite file when empty
	rounds   int    // measurements of each question
	only     string // parts to run; all when empty
	keep     bool
	profile  string
	changed  float64
}

func main() {
	var o options
	flag.IntVar(&o.entities, "entities", 100_000, "entities in all")
	flag.IntVar(&o.account, "account", 50_000, "entities of an account")
	flag.StringVar(&o.database, "database", "", "database URL; a new SQLite file when empty")
	flag.IntVar(&o.rounds, "rounds", 15, "how often each question is asked")
	flag.StringVar(&o.only, "only", "", "parts to run, of questions, graph, upsert and readers; all when empty")
	flag.BoolVar(&o.keep, "keep", false, "keep the SQLite file")
	flag.StringVar(&o.profile, "profile", "", "write a processor profile of all parts but the loading to this file")
	flag.Float64Var(&o.changed, "changed", 0.01, "share of entities that are different in the second collection")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "entities:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.database == "" {
		dir, err := os.MkdirTemp("", "vigil-bench-")
		if err != nil {
			return err
		}
		if !o.keep {
			defer os.RemoveAll(dir)
		}
		o.database = "sqlite://" + filepath.ToSlash(filepath.Join(dir, "bench.db"))
	}
	b, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.load(ctx); err != nil {
		return err
	}
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"questions", b.questions}, {"graph", b.graph}, {"upsert", b.upsert}, {"readers", b.readers}} {
		if o.only == "" || strings.Contains(o.only, part.name) {
			if err := part.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	return nil
}
