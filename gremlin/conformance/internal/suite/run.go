package suite

import (
	"context"
	"fmt"

	"vigil/graph"
	"vigil/gremlin/internal/tinkerpop"
	"vigil/gremlin/internal/value"
)

// Engine runs a query.
type Engine func(ctx context.Context, q Query) ([]graph.Value, error)

// A Query is the input of an engine.
type Query struct {
	Graph       *graph.Graph
	Text        string
	Params      map[string]graph.Value // values of variables
	SideEffects map[string]graph.Value // initial values of side effects
}

// Suite runs scenarios against one engine.
type Suite struct {
	Engine Engine
	Graphs map[string]*graph.Graph // by name, without "empty", which each scenario fills itself
}

// An Outcome is the result of one scenario. Failure is empty if it passed.
type Outcome struct {
	Scenario tinkerpop.Scenario
	Failure  string
	Got      []string // the results, in the notation of the scenarios' tables
	Err      error    // error of the engine or of the scenario's data
}

// Run runs one scenario. A panic of the engine is a failure of that scenario.
func (s *Suite) Run(ctx context.Context, sc tinkerpop.Scenario) (o Outcome) {
	o.Scenario = sc
	defer func() {
		if p := recover(); p != nil {
			o.Failure = fmt.Sprintf("panic: %v", p)
		}
	}()
	g, err := s.graph(sc)
	if err != nil {
		o.Failure, o.Err = "setup failed", err
		return o
	}
	parser := cellParser{g}
	q := Query{Graph: g, Text: sc.Gremlin}
	q.Params, err = parser.parseNamed(sc.Params)
	if err == nil {
		q.SideEffects, err = parser.parseNamed(sc.SideEffects)
	}
	if err != nil {
		o.Failure, o.Err = "malformed values", err
		return o
	}
	results, err := s.Engine(ctx, q)
	o.Err = err
	o.Got = parser.describeAll(results)
	if err == nil && sc.When == tinkerpop.Next && sc.Expect.Kind != "error" {
		if results, err = next(results, sc.Expect.Kind); err != nil {
			o.Failure = err.Error()
			return o
		}
	}
	for _, e := range append([]tinkerpop.Expectation{sc.Expect}, sc.Expect.Also...) {
		o.Failure = parser.check(e, results, o.Err)
		if o.Failure != "" {
			return o
		}
	}
	return o
}

// graph returns the graph of a scenario. Only the graph "empty" is built by the scenario's
// setup.
func (s *Suite) graph(sc tinkerpop.Scenario) (*graph.Graph, error) {
	if sc.Graph == "empty" {
		return BuildGraph(sc.Setup)
	}
	g, ok := s.Graphs[sc.Graph]
	if !ok {
		return nil, fmt.Errorf("unknown graph %s", sc.Graph)
	}
	if sc.Setup != "" {
		return nil, fmt.Errorf("graph %s is read-only", sc.Graph)
	}
	return g, nil
}

// parseNamed parses named values.
func (parser cellParser) parseNamed(pairs [][2]string) (map[string]graph.Value, error) {
	values := make(map[string]graph.Value, len(pairs))
	for _, p := range pairs {
		v, err := parser.cell(p[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p[0], err)
		}
		values[p[0]] = v
	}
	return values, nil
}

// next returns what "iterated next" compares: the items of the first result if
// it is iterable, otherwise the result itself.
func next(results []graph.Value, kind string) ([]graph.Value, error) {
	if len(results) == 0 {
		return nil, fmt.Errorf("there is no result")
	}
	first := results[0]
	if kind == "tree" || kind == "subgraph" {
		return results[:1], nil
	}
	if items, ok := value.Elems(first); ok {
		return items, nil
	}
	if first.Kind() == graph.KindMap {
		var items []graph.Value
		for _, e := range first.Entries() {
			items = append(items, graph.EntryOf(e))
		}
		return items, nil
	}
	return results[:1], nil
}
