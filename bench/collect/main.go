// Command collect measures the cost of collecting accounts, compared with
// listing the same pages with only the SDK.
//
//	cd bench/collect && go run .
//
// The cloud is simulated in a separate process, so that its work is not counted.
// Every mode also runs in a separate process, so that each has its own peak of
// memory. The operating system reports the processor time and memory of these
// processes. The modes:
//
//	bare    the official SDK lists the pages, makes the further calls for their
//	        items, and discards the answers
//	read    the product's collectors produce entities, which are discarded
//	first   the product collects the account into an empty database
//	again   the product collects it once more: everything is compared, nothing
//	        has changed
//
// The cloud counts its calls, and the run fails unless all modes make the same
// calls, except that the product assumes the role of an account three times: it
// checks that the trust policy refuses a missing and a wrong external id. There is
// no rate limiter.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// options are the flags.
type options struct {
	resources int    // resources of the large account
	accounts  int    // number of small accounts
	each      int    // resources per small account
	rounds    int    // measurements per mode
	profile   string // prefix of the CPU profile files, one for each mode and number of resources
}

func main() {
	var o options
	flag.IntVar(&o.resources, "resources", 200_000, "resources of the large account")
	flag.IntVar(&o.accounts, "accounts", 200, "number of small accounts")
	flag.IntVar(&o.each, "each", 1000, "resources per small account")
	flag.IntVar(&o.rounds, "rounds", 1, "number of measurements per mode; the median is reported")
	flag.StringVar(&o.profile, "profile", "", "write a CPU profile of each mode to a file with this prefix")
	cloud := flag.String("cloud", "", "run the simulated cloud (internal)")
	work := flag.String("work", "", "read accounts (internal)")
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

// child decodes the flag value with which the parent process started this one, and
// calls do with it.
func child[T any](text string, do func(T) error) error {
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	return do(value)
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
