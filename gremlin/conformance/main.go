// Command conformance runs a file of Gremlin scenarios against the engine:
//
//	go run ./gremlin/conformance -scenarios FILE -graphs DIR
//
// It prints each scenario that fails and, as its last line, how many passed and
// failed. It exits with 1 if any failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"vigil/gremlin/conformance/internal/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(errs)
	scenarios := flags.String("scenarios", "", "`file` of scenarios, one JSON object a line")
	graphs := flags.String("graphs", "", "`folder` of graphs, one JSON file each")
	only := flags.String("only", "", "run only scenarios whose id, tags or query contain `text`")
	verbose := flags.Bool("v", false, "print scenarios that pass, too")
	summary := flags.Bool("summary", false, "print how many failed for each kind of failure")
	if flags.Parse(args) != nil {
		return 2
	}
	if *scenarios == "" || *graphs == "" {
		fmt.Fprintln(errs, "conformance: -scenarios and -graphs are needed")
		return 2
	}
	all, err := load(*scenarios)
	if err != nil {
		fmt.Fprintln(errs, "conformance:", err)
		return 2
	}
	loaded, err := suite.LoadGraphs(*graphs)
	if err != nil {
		fmt.Fprintln(errs, "conformance:", err)
		return 2
	}
	r := &suite.Report{Out: out, Verbose: *verbose, Summary: *summary}
	s := &suite.Suite{Engine: engine(), Graphs: loaded}
	for _, sc := range all {
		if sc.Mentions(*only) && ctx.Err() == nil {
			r.Add(s.Run(ctx, sc))
		}
	}
	r.End()
	if r.Failed > 0 || ctx.Err() != nil {
		return 1
	}
	return 0
}

func load(file string) ([]suite.Scenario, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return suite.ReadScenarios(f)
}
