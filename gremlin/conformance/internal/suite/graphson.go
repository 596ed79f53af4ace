package suite

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/tinkerpop"
)

// ReadGraphs reads the toy graphs of TinkerPop.
func ReadGraphs(a *tinkerpop.Artefact) (map[string]*graph.Graph, error) {
	graphs := map[string]*graph.Graph{}
	err := a.Graphs(func(name string, r io.Reader) (err error) {
		graphs[name], err = readGraphSON(r)
		return err
	})
	return graphs, err
}

// readGraphSON parses a graph in TinkerPop's GraphSON 3.0 format: a line per
// vertex, with its outgoing edges.
func readGraphSON(r io.Reader) (*graph.Graph, error) {
	var toy toyGraph
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		var v graphsonVertex
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("read vertex of line %d: %w", n, err)
		}
		v.addTo(&toy)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	toy.sort()
	return toy.build()
}

// sort sorts elements by id, as in the reference graph.
func (toy *toyGraph) sort() {
	slices.SortStableFunc(toy.Vertices, func(a, b toyVertex) int { return cmp.Compare(a.ID.Int(), b.ID.Int()) })
	slices.SortStableFunc(toy.Edges, func(a, b toyEdge) int { return cmp.Compare(a.ID.Int(), b.ID.Int()) })
}

type graphsonVertex struct {
	ID         graphsonValue
	Label      string
	OutE       members[[]graphsonEdge] // by label
	Properties members[[]struct {
		ID, Value  graphsonValue
		Properties members[graphsonValue]
	}]
}

type graphsonEdge struct {
	ID, InV    graphsonValue
	Properties members[graphsonValue]
}

func (v graphsonVertex) addTo(toy *toyGraph) {
	vertex := toyVertex{ID: toyValue(v.ID), Label: v.Label}
	for _, key := range v.Properties {
		all := member[[]toyProperty]{name: key.name}
		for _, p := range key.value {
			all.value = append(all.value, toyProperty{ID: toyValue(p.ID), Value: toyValue(p.Value), Properties: toyMembers(p.Properties)})
		}
		vertex.Properties = append(vertex.Properties, all)
	}
	toy.Vertices = append(toy.Vertices, vertex)
	for _, label := range v.OutE {
		for _, e := range label.value {
			toy.Edges = append(toy.Edges, toyEdge{
				ID: toyValue(e.ID), Label: label.name, OutV: toyValue(v.ID), InV: toyValue(e.InV), Properties: toyMembers(e.Properties),
			})
		}
	}
}

func toyMembers(all members[graphsonValue]) members[toyValue] {
	var out members[toyValue]
	for _, m := range all {
		out = append(out, member[toyValue]{m.name, toyValue(m.value)})
	}
	return out
}

// graphsonValue is a plain string or boolean, or a typed value: {"@type": "g:Int32", "@value": 1}.
type graphsonValue struct{ graph.Value }

// UnmarshalJSON reads the value.
func (v *graphsonValue) UnmarshalJSON(data []byte) (err error) {
	switch data[0] {
	case '"':
		v.Value, err = readTyped("String", data)
		return err
	case 't', 'f':
		v.Value, err = readTyped("Bool", data)
		return err
	}
	var typed struct {
		Type  string          `json:"@type"`
		Value json.RawMessage `json:"@value"`
	}
	if err := json.Unmarshal(data, &typed); err != nil {
		return err
	}
	v.Value, err = readTyped(strings.TrimPrefix(typed.Type, "g:"), typed.Value)
	return err
}
