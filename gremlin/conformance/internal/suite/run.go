package suite

import (
	"context"
	"fmt"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// Engine answers a query over a graph with parameters bound by name.
type Engine func(ctx context.Context, g *graph.Graph, query string, params map[string]graph.Value) ([]graph.Value, error)

// Suite runs scenarios against one engine.
type Suite struct {
	Engine Engine
	Graphs map[string]*graph.Graph // by name; "empty" need not be there
}

// An Outcome says how one scenario went. Failure is empty if it passed.
type Outcome struct {
	Scenario Scenario
	Failure  string
	Got      []string // the results, as cells
	Err      error    // the engine's error, or that of the scenario's own data
}

// Run runs one scenario. A panic of the engine is a failure of that scenario.
func (s *Suite) Run(ctx context.Context, sc Scenario) (o Outcome) {
	o.Scenario = sc
	defer func() {
		if p := recover(); p != nil {
			o.Failure = fmt.Sprintf("panic: %v", p)
		}
	}()
	g, err := s.graph(sc)
	if err != nil {
		o.Failure, o.Err = "cannot be set up", err
		return o
	}
	w := world{g}
	params, err := w.params(sc.Params)
	if err != nil {
		o.Failure, o.Err = "parameters cannot be read", err
		return o
	}
	query, err := w.withSideEffects(sc)
	if err != nil {
		o.Failure, o.Err = "side effects cannot be read", err
		return o
	}
	results, err := s.Engine(ctx, g, query, params)
	o.Err = err
	o.Got = w.describeAll(results)
	if err == nil && sc.When == whenNext && sc.Expect.Kind != "error" {
		if results, err = next(results, sc.Expect.Kind); err != nil {
			o.Failure = err.Error()
			return o
		}
	}
	for _, e := range append([]Expectation{sc.Expect}, sc.Expect.Also...) {
		if o.Failure = w.check(e, results, o.Err); o.Failure != "" {
			return o
		}
	}
	return o
}

func (s *Suite) graph(sc Scenario) (*graph.Graph, error) {
	if g, ok := s.Graphs[sc.Graph]; ok && sc.Graph != "empty" {
		if sc.Setup != "" {
			return nil, fmt.Errorf("graph %s cannot be changed", sc.Graph)
		}
		return g, nil
	}
	if sc.Graph != "empty" {
		return nil, fmt.Errorf("there is no graph %s", sc.Graph)
	}
	return BuildGraph(sc.Setup)
}

func (w world) params(pairs [][2]string) (map[string]graph.Value, error) {
	params := make(map[string]graph.Value, len(pairs))
	for _, p := range pairs {
		v, err := w.cell(p[1])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p[0], err)
		}
		params[p[0]] = v
	}
	return params, nil
}

// withSideEffects puts the scenario's side effects between g and the first step.
func (w world) withSideEffects(sc Scenario) (string, error) {
	query := sc.Gremlin
	for _, e := range sc.SideEffects {
		v, err := w.cell(e[1])
		if err != nil {
			return "", err
		}
		text, err := literal(v)
		if err != nil {
			return "", err
		}
		query = strings.Replace(query, "g.", `g.withSideEffect("`+e[0]+`", `+text+").", 1)
	}
	return query, nil
}

// next returns what "iterated next" compares: the items of the first result if
// it is iterable, otherwise the result itself.
func next(results []graph.Value, kind string) ([]graph.Value, error) {
	if len(results) == 0 {
		return nil, fmt.Errorf("there is no next result")
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
