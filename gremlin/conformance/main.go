// Command conformance runs Gremlin scenarios against the engine:
//
//	go run ./gremlin/conformance
//	go run ./gremlin/conformance -scenarios FILE -graphs DIR
//
// Without a file it runs the scenarios that Apache TinkerPop publishes, which it
// downloads from Maven Central the first time. It prints each scenario that
// fails and, as its last line, the number of passed and failed ones. It exits
// with 1 if any failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"vigil/graph"
	"vigil/gremlin/conformance/internal/suite"
	"vigil/gremlin/internal/tinkerpop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run implements main and returns the exit status.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(errs)
	scenarios := flags.String("scenarios", "", "`file` of scenarios, one JSON object per line")
	graphs := flags.String("graphs", "", "`folder` of graphs, one JSON file each")
	only := flags.String("only", "", "run only scenarios whose id, tags or query contain `text`")
	verbose := flags.Bool("v", false, "also print scenarios that pass or are skipped")
	fetchOnly := flags.Bool("fetch", false, "download the scenarios and do not run them")
	summary := flags.Bool("summary", false, "print the number of failures by kind")
	if flags.Parse(args) != nil {
		return 2
	}
	if (*scenarios == "") != (*graphs == "") {
		fmt.Fprintln(errs, "conformance: -scenarios and -graphs must be given together")
		return 2
	}
	var all []tinkerpop.Scenario
	var loaded map[string]*graph.Graph
	var err error
	if *scenarios != "" {
		all, loaded, err = load(*scenarios, *graphs)
	} else {
		all, loaded, err = fetch(ctx)
	}
	if err != nil {
		fmt.Fprintln(errs, "conformance:", err)
		return 2
	}
	if *fetchOnly {
		return 0
	}
	r := &suite.Report{Out: out, Verbose: *verbose, Summary: *summary}
	s := &suite.Suite{Engine: engine(), Graphs: loaded}
	for _, sc := range all {
		switch {
		case !sc.Mentions(*only) || ctx.Err() != nil: // neither run nor counted
		case suite.LeftOut(sc) != "":
			r.LeaveOut(sc, suite.LeftOut(sc))
		default:
			r.Add(s.Run(ctx, sc))
		}
	}
	r.End()
	if r.Failed > 0 || ctx.Err() != nil {
		return 1
	}
	return 0
}

// load reads a file of scenarios and a folder of graphs.
func load(file, dir string) ([]tinkerpop.Scenario, map[string]*graph.Graph, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	all, err := tinkerpop.ReadScenarios(f)
	if err != nil {
		return nil, nil, err
	}
	graphs, err := suite.LoadGraphs(dir)
	return all, graphs, err
}

// fetch returns the scenarios and graphs that Apache TinkerPop publishes.
func fetch(ctx context.Context) ([]tinkerpop.Scenario, map[string]*graph.Graph, error) {
	a, err := tinkerpop.Fetch(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, err := a.Scenarios()
	if err != nil {
		return nil, nil, err
	}
	graphs, err := suite.ReadGraphs(a)
	return all, graphs, err
}
