// Command evaluate measures the cost of evaluating the whole catalog of rules on
// an account, compared with ten of the rules written in Go and extrapolated to
// all. Both must find the same violations.
//
// Accounts of several sizes show that the cost is linear in the size. Everything runs on one core.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

type options struct {
	sizes   string
	time    time.Duration
	profile string
	each    bool
}

func main() {
	var o options
	flag.StringVar(&o.sizes, "sizes", "5000,50000,500000", "numbers of resources of the accounts")
	flag.DurationVar(&o.time, "time", 2*time.Second, "duration of each measurement; at least three runs")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile to this file")
	flag.BoolVar(&o.each, "each", false, "print the time of every rule")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	w, err := newFixture()
	if err != nil {
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
	fmt.Printf("%d rules for AWS, %d of them also by hand\n", len(w.rules), len(byHand))
	fmt.Printf("%10s %10s %12s %12s %8s %14s %14s %12s\n", "resources", "violations", "catalog", "by hand", "ratio", "per resource", "with findings", "after a change")
	for _, text := range strings.Split(o.sizes, ",") {
		size, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("size %q: %w", text, err)
		}
		r, err := w.measure(ctx, size, o)
		if err != nil {
			return err
		}
		fmt.Printf("%10d %10d %12v %12v %7.2fx %12.0fns %14v %12v\n", r.resources, r.violations, round(r.catalog), round(r.byHand),
			float64(r.catalog)/float64(r.byHand), float64(r.catalog)/float64(r.resources), round(r.allRules), round(r.afterChange))
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
