package suite

import (
	"fmt"

	"vigil/graph"
	"vigil/gremlin/syntax"
)

// BuildGraph executes a setup traversal: a chain of addV(), addE(), property(),
// as(), from() and to(). An empty text yields an empty graph.
func BuildGraph(text string) (*graph.Graph, error) {
	l := &loader{labelled: map[string]*element{}}
	if text != "" {
		q, err := syntax.Parse(text, syntax.Options{
			AllowMutation: true, Limits: syntax.Limits{Length: 1 << 20, Steps: 1 << 16, Literals: 1 << 20},
		})
		if err != nil {
			return nil, fmt.Errorf("read setup: %w", err)
		}
		for _, s := range q.Steps {
			if err := l.step(s); err != nil {
				return nil, fmt.Errorf("setup: %s: %w", s, err)
			}
		}
	}
	return l.build()
}

// loader executes a setup traversal. It collects elements first and builds the
// graph at the end, because an id may follow the label.
type loader struct {
	elements []*element
	current  *element // position of the traverser
	labelled map[string]*element
}

// element is a vertex or, if edge is set, an edge.
type element struct {
	id, label  graph.Value
	properties []property
	edge       bool
	from, to   *element
}

type property struct {
	key         string
	cardinality string
	graph.VertexProperty
}

func (l *loader) step(s syntax.Step) error {
	switch s.Name {
	case "addV":
		l.add(&element{label: graph.String("vertex")}, s)
	case "addE":
		// The traverser's vertex is the default for both end points.
		l.add(&element{edge: true, from: l.current, to: l.current}, s)
	case "property":
		return l.property(s.Args)
	case "as":
		for _, a := range s.Args {
			l.labelled[text(a)] = l.current
		}
	case "from", "to":
		return l.end(s)
	default:
		return fmt.Errorf("setup traversals may only use addV, addE, property, as, from and to")
	}
	return nil
}

func (l *loader) add(e *element, s syntax.Step) {
	if len(s.Args) > 0 {
		e.label = graph.String(text(s.Args[0]))
	}
	l.elements = append(l.elements, e)
	l.current = e
}

// end sets one end point of the current edge.
func (l *loader) end(s syntax.Step) error {
	v := l.labelled[text(s.Args[0])]
	if v == nil || l.current == nil || !l.current.edge {
		return fmt.Errorf("there is no current edge, or no vertex with that label")
	}
	if s.Name == "from" {
		l.current.from = v
	} else {
		l.current.to = v
	}
	return nil
}

// property adds property([cardinality,] key, value, metaKey, metaValue, ...) or
// property([cardinality,] map) to the current element.
func (l *loader) property(args []syntax.Arg) error {
	if l.current == nil {
		return fmt.Errorf("there is no current element")
	}
	cardinality := "single"
	if t, ok := args[0].(*syntax.Token); ok && t.Enum == syntax.Cardinality {
		cardinality, args = t.Name, args[1:]
	}
	if m, ok := args[0].(*syntax.Map); ok {
		for _, e := range m.Entries {
			if err := l.set(cardinality, e.Key, e.Value, nil); err != nil {
				return err
			}
		}
		return nil
	}
	if len(args)%2 != 0 {
		return fmt.Errorf("keys and values must be pairs")
	}
	return l.set(cardinality, args[0], args[1], args[2:])
}

func (l *loader) set(cardinality string, key, val syntax.Arg, meta []syntax.Arg) error {
	if c, ok := val.(*syntax.CardinalityValue); ok {
		cardinality, val = c.Cardinality, c.Value
	}
	v, err := valueOf(val)
	if err != nil {
		return err
	}
	if t, ok := key.(*syntax.Token); ok {
		switch t.Name {
		case "id":
			l.current.id = v
			return nil
		case "label":
			l.current.label = v
			return nil
		}
	}
	p := property{key: text(key), cardinality: cardinality, VertexProperty: graph.VertexProperty{Value: v}}
	for i := 0; i < len(meta); i += 2 {
		m, err := valueOf(meta[i+1])
		if err != nil {
			return err
		}
		p.Meta = append(p.Meta, graph.Meta{Key: text(meta[i]), Value: m})
	}
	l.current.put(p)
	return nil
}

// put adds p according to its cardinality: single replaces all values, set replaces an equal value.
func (e *element) put(p property) {
	remaining := e.properties[:0]
	for _, old := range e.properties {
		replaced := old.key == p.key && (p.cardinality == "single" || p.cardinality == "set" && old.Value.Equal(p.Value))
		if !replaced {
			remaining = append(remaining, old)
		}
	}
	e.properties = append(remaining, p)
}

// text returns the string value of an argument, or its source text.
func text(a syntax.Arg) string {
	if l, ok := a.(*syntax.Literal); ok {
		if s, ok := l.Value.(string); ok {
			return s
		}
	}
	return syntax.Format(a)
}

func (l *loader) build() (*graph.Graph, error) {
	b := graph.NewBuilder(graph.Limits{})
	l.assignIDs()
	for _, e := range l.elements {
		if e.edge {
			continue
		}
		h, err := b.AddVertex(e.id, e.label.Str())
		if err != nil {
			return nil, err
		}
		for _, p := range e.properties {
			if err := b.AddProperty(h, p.key, p.VertexProperty); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range l.elements {
		if !e.edge {
			continue
		}
		if e.from == nil || e.to == nil || e.from.edge || e.to.edge {
			return nil, fmt.Errorf("edge %s lacks an end point", e.label)
		}
		h, err := b.AddEdge(e.id, e.label.Str(), e.from.id, e.to.id)
		if err != nil {
			return nil, err
		}
		for _, p := range e.properties {
			if err := b.SetEdgeProperty(h, p.key, p.Value); err != nil {
				return nil, err
			}
		}
	}
	return b.Build()
}

// assignIDs generates ids for elements without one, as TinkerGraph does: longs from
// 0, one sequence for vertices, edges and vertex properties.
func (l *loader) assignIDs() {
	used := map[int64]bool{}
	for _, e := range l.elements {
		if e.id.IsInteger() {
			used[e.id.Int()] = true
		}
	}
	var next int64
	fresh := func() graph.Value {
		for used[next] {
			next++
		}
		next++
		return graph.Long(next - 1)
	}
	for _, e := range l.elements {
		if e.id.IsNull() {
			e.id = fresh()
		}
		for i := range e.properties {
			if !e.edge {
				e.properties[i].ID = fresh()
			}
		}
	}
}
