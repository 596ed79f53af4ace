// Command findings measures queries of many findings: first and deep pages,
// substrings and nested aggregations, each at two sizes in one run. The results
// have the same size, so the times should not differ much.
//
//	go run ./bench/findings
//	go run ./bench/findings -database postgres://…
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// options are the flags.
type options struct {
	small, large int
	database     string  // URL, or a folder of SQLite files; a new one when empty
	rounds       int     // measurements per query
	most         float64 // maximum ratio of the times at both sizes
}

func main() {
	var o options
	flag.IntVar(&o.small, "small", 10_000, "findings of the small organisation")
	flag.IntVar(&o.large, "large", 1_000_000, "findings of the large organisation")
	flag.StringVar(&o.database, "database", "", "URL of a PostgreSQL database, or a folder for SQLite files; a new folder when empty")
	flag.IntVar(&o.rounds, "rounds", 15, "number of measurements per query; the fastest is used")
	flag.Float64Var(&o.most, "most", 3, "maximum ratio of the time at the large size to that at the small size")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "findings:", err)
		os.Exit(1)
	}
}

var errSlow = errors.New("a query exceeds the maximum ratio")

func run(ctx context.Context, o options) error {
	if o.database == "" {
		dir, err := os.MkdirTemp("", "vigil-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.database = dir
	}
	var worlds []*world
	for _, size := range []int{o.small, o.large} {
		start := time.Now()
		w, err := open(ctx, o.database, size)
		if err != nil {
			return err
		}
		defer w.db.Close()
		if err := w.load(ctx); err != nil {
			return err
		}
		fmt.Printf("%d findings loaded in %v\n", size, time.Since(start).Round(time.Second))
		worlds = append(worlds, w)
	}
	fmt.Printf("%-46s %12s %12s %8s\n", "question", fmt.Sprint("at ", o.small), fmt.Sprint("at ", o.large), "ratio")
	slow := false
	for _, q := range questions {
		var elapsed [2]time.Duration
		for i, w := range worlds {
			var err error
			if elapsed[i], err = w.measure(ctx, q, o.rounds); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
		ratio := float64(elapsed[1]) / float64(elapsed[0])
		note := ""
		if ratio > o.most {
			slow, note = true, "  slow"
		}
		fmt.Printf("%-46s %12v %12v %7.2fx%s\n", q.name, round(elapsed[0]), round(elapsed[1]), ratio, note)
	}
	if slow {
		return errSlow
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
