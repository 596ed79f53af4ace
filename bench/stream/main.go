// Command stream measures the time from a change in a cloud until the API shows
// the finding, and the time of each stage.
//
// The server is the product and runs in a separate process. This process
// simulates its environment: an AWS, which changes, reports changes in signed
// messages and answers the official SDK, and a client that polls the newest
// findings through the API. Both share the cores of the machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

type options struct {
	Accounts int
	Size     int
	Rate     float64
	Time     time.Duration
	Dir      string
	Database string
	Profile  string
	serve    bool
}

func main() {
	var o options
	flag.IntVar(&o.Accounts, "accounts", 20, "number of accounts")
	flag.IntVar(&o.Size, "size", 5000, "number of resources per account")
	flag.Float64Var(&o.Rate, "rate", 200, "changes per second, over all accounts")
	flag.DurationVar(&o.Time, "time", 30*time.Second, "how long to measure")
	flag.StringVar(&o.Dir, "dir", "", "keep the installation in this directory and reuse it in the next run")
	flag.StringVar(&o.Database, "database", "", "database to use instead of a SQLite file")
	flag.StringVar(&o.Profile, "cpuprofile", "", "write a profile of the server over the measured time to a file")
	flag.BoolVar(&o.serve, "serve", false, "run the server (internal)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	do := run
	if o.serve {
		do = func(ctx context.Context, _ options) error { return serve(ctx, os.Stdin, os.Stdout) }
	}
	if err := do(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "stream:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "vigil-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.Dir = dir
	}
	begin := time.Now()
	c, err := newCloud(ctx, o)
	if err != nil {
		return err
	}
	defer c.close()
	s, err := start(ctx, o, c)
	if err != nil {
		return err
	}
	defer s.stop()
	fmt.Printf("%d accounts, %d entities, %d rules, collected and judged in %s\n", o.Accounts, s.ready.Entities, s.ready.Rules, time.Since(begin).Round(time.Second))
	if s.ready.Entities < o.Accounts*o.Size {
		return fmt.Errorf("not all resources were collected, want at least %d entities: the machine was too busy", o.Accounts*o.Size)
	}
	r, err := measure(ctx, o, c, s)
	if err != nil {
		return err
	}
	r.print(os.Stdout)
	return nil
}
