// Command entities compares the entity store of the posture server with simple
// implementations of the same work: API queries with hand-written SQL, graphs
// from snapshots with graphs from rows and JSON, a collection with few changes
// with one that writes everything, and readers during a collection with readers
// without one. Everything is measured in one run on the same data.
//
//	go run ./bench/entities -entities 100000,1000000
//	go run ./bench/entities -entities 100000,1000000 -database postgres://…
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"vigil/internal/gctune"
)

// options are the flags.
type options struct {
	entities int
	account  int           // entities of an account
	atOnce   int           // accounts that upsert records concurrently
	database string        // URL; a new SQLite file when empty
	dir      string        // for SQLite files
	rounds   int           // measurements per query
	only     string        // parts to run; all when empty
	queries  string        // substring of the names of queries to run
	patience time.Duration // timeout of hand-written queries
	bulk     bool          // load as fast as possible
	reuse    bool          // use the database of an earlier run
	changed  float64       // share of entities that change in the second collection
}

// isSelected reports whether a part is selected.
func (o options) isSelected(part string) bool {
	return o.only == "" || slices.Contains(strings.Split(o.only, ","), part)
}

// needsPlain reports whether a selected part compares with the plain table.
func (o options) needsPlain() bool { return o.isSelected("questions") || o.isSelected("graph") }

// check returns an error if the flags do not fit together.
func (o options) check() error {
	if o.account < 1 {
		return fmt.Errorf("-account must be at least 1")
	}
	if o.reuse && o.database == "" {
		return fmt.Errorf("-reuse needs -database, because SQLite files are removed after a run")
	}
	parts := []string{"narrow", "questions", "graph", "upsert", "readers"}
	for part := range strings.SplitSeq(o.only, ",") {
		if o.only != "" && !slices.Contains(parts, part) {
			return fmt.Errorf("%q is not a part; the parts are %s", part, strings.Join(parts, ", "))
		}
	}
	return nil
}

func main() {
	var o options
	var sizes, profile string
	flag.StringVar(&sizes, "entities", "100000", "total number of entities; several comma-separated numbers make several runs")
	flag.IntVar(&o.account, "account", 50_000, "entities of an account")
	flag.IntVar(&o.atOnce, "at-once", 8, "accounts that the part upsert records concurrently; the default is that of the server")
	flag.StringVar(&o.database, "database", "", "PostgreSQL URL; the schema vigil_bench in this database is dropped and created again; a new SQLite file when empty")
	flag.StringVar(&o.dir, "dir", "", "folder for SQLite files, which are removed afterwards; the temporary folder when empty")
	flag.IntVar(&o.rounds, "rounds", 15, "number of measurements per query")
	flag.StringVar(&o.only, "only", "", "parts to run, separated by commas: narrow (all queries, only through the API, for sizes that are too large for the plain table), questions (all queries, compared with SQL), graph (loading a graph), upsert (a second collection), readers (queries during a collection); all but narrow when empty")
	flag.StringVar(&o.queries, "ask", "", "run only queries whose name contains this")
	flag.BoolVar(&o.bulk, "bulk", false, "load two accounts at a time, and build PostgreSQL's indexes afterwards")
	flag.BoolVar(&o.reuse, "reuse", false, "use and keep the PostgreSQL database of an earlier run of this size; needs -database")
	flag.DurationVar(&o.patience, "patience", 30*time.Second, "timeout of hand-written queries")
	flag.StringVar(&profile, "profile", "", "write a CPU profile of the whole run, including loading, to this file")
	flag.Float64Var(&o.changed, "changed", 0.01, "share of entities that change in the second collection")
	flag.Parse()
	o.atOnce = max(o.atOnce, 1)
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "entities:", err)
		os.Exit(2)
	}
	gctune.Tune() // like the server
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runAll(ctx, o, sizes, profile); err != nil {
		fmt.Fprintln(os.Stderr, "entities:", err)
		os.Exit(1)
	}
}

// runAll makes one run per size and compares them.
func runAll(ctx context.Context, o options, sizes, profile string) error {
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var all []outcome
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of entities", size)
		}
		o.entities = n
		found, err := run(ctx, o)
		if err != nil {
			return err
		}
		all = append(all, found)
	}
	growth(all)
	return nil
}

// run measures the selected parts with one number of entities.
func run(ctx context.Context, o options) (outcome, error) {
	switch {
	case o.reuse:
	case o.database == "":
		dir, err := os.MkdirTemp(o.dir, "vigil-bench-")
		if err != nil {
			return outcome{}, err
		}
		defer os.RemoveAll(dir)
		o.database = "sqlite://" + filepath.ToSlash(filepath.Join(dir, "bench.db"))
	default:
		if err := emptySchema(ctx, o.database); err != nil {
			return outcome{}, err
		}
	}
	if err := setSchema(&o); err != nil {
		return outcome{}, err
	}
	b, err := open(ctx, o)
	if err != nil {
		return outcome{}, err
	}
	defer b.close()
	if err := b.load(ctx); err != nil {
		return outcome{}, err
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"questions", b.compareQuestions}, {"narrow", b.narrow}, {"graph", b.graph}, {"upsert", b.upsert}, {"readers", b.readers}} {
		if !o.isSelected(part.name) || part.name == "narrow" && o.only == "" {
			continue
		}
		if err := part.run(ctx); err != nil {
			return outcome{}, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return outcome{b.count, b.costs}, nil
}
