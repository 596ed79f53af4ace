// Command collect measures what it costs to collect accounts beside what the
// bare SDK takes to list the same pages and throw them away.
//
//	go run ./bench/collect
//
// The cloud is simulated and runs in a process of its own, so that its work does
// not count; so does every way to read it, so that each has a peak of memory of
// its own. Processor time and memory are what the operating system says of those
// processes. The ways:
//
//	bare    the official SDK lists the pages and drops them
//	read    the product's collectors make entities of them, which nobody keeps
//	first   the product collects the account into an empty database
//	again   the product collects it once more: everything is compared, nothing
//	        has changed
//
// The cloud counts its calls, and the run fails unless all ways made the same
// ones. There is no limiter: the clouds' limits are not what is measured.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// options are what a run is told.
type options struct {
	resources int    // of the large account
	accounts  int    // in the fleet
	each      int    // resources of an account of the fleet
	rounds    int    // measurements of each way
	profile   string // where to write processor profiles, one a way
}

func main() {
	var o options
	flag.IntVar(&o.resources, "resources", 200_000, "resources of the large account")
	flag.IntVar(&o.accounts, "accounts", 200, "accounts of the fleet")
	flag.IntVar(&o.each, "each", 1000, "resources of an account of the fleet")
	flag.IntVar(&o.rounds, "rounds", 1, "how often each way is measured; the median counts")
	flag.StringVar(&o.profile, "profile", "", "write a processor profile of each way to a file that begins with this")
	cloud := flag.String("cloud", "", "be the simulated cloud (for the command's own use)")
	work := flag.String("work", "", "read accounts (for the command's own use)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *cloud != "":
		err = child(*cloud, func(w world) error { return simulate(ctx, w) })
	case *work != "":
		err = child(*work, func(t task) error { return t.run(ctx) })
	default:
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "collect:", err)
		os.Exit(1)
	}
}

// child does what this process was started for.
func child[T any](text string, do func(T) error) error {
	var what T
	if err := json.Unmarshal([]byte(text), &what); err != nil {
		return err
	}
	return do(what)
}

func run(ctx context.Context, o options) error {
	small, err := measureWorld(ctx, o, world{Accounts: 1, Each: o.resources / 10})
	if err != nil {
		return err
	}
	small.print("one account, a tenth of the size")
	large, err := measureWorld(ctx, o, world{Accounts: 1, Each: o.resources})
	if err != nil {
		return err
	}
	large.print("one large account")
	large.compareMemory(small)
	fleet, err := measureWorld(ctx, o, world{Accounts: o.accounts, Each: o.each})
	if err != nil {
		return err
	}
	fleet.print("many small accounts")
	return nil
}
