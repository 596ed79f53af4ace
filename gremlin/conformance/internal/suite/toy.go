package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vigil/graph"
	"vigil/gremlin/syntax"
)

// toyGraph is a graph file: vertices and edges in the order of the file.
type toyGraph struct {
	Vertices []toyVertex
	Edges    []toyEdge
}

type toyVertex struct {
	ID         toyValue
	Label      string
	Properties members[[]toyProperty]
}

type toyProperty struct {
	ID         toyValue
	Value      toyValue
	Properties members[toyValue]
}

type toyEdge struct {
	ID         toyValue
	Label      string
	OutV, InV  toyValue
	Properties members[toyValue]
}

// members are the members of a JSON object in order: the order of keys affects results.
type members[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

// UnmarshalJSON reads an object.
func (m *members[T]) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		next := member[T]{name: fmt.Sprint(name)}
		if err := d.Decode(&next.value); err != nil {
			return err
		}
		*m = append(*m, next)
	}
	return nil
}

// toyValue is a typed value: {"t": "Int32", "v": 1}.
type toyValue struct{ graph.Value }

// UnmarshalJSON reads the value.
func (v *toyValue) UnmarshalJSON(data []byte) error {
	var typed struct {
		T string
		V json.RawMessage
	}
	if err := json.Unmarshal(data, &typed); err != nil {
		return err
	}
	value, err := readTyped(typed.T, typed.V)
	v.Value = value
	return err
}

// readTyped parses a value of the type t, as both graph formats name it.
func readTyped(t string, raw json.RawMessage) (v graph.Value, err error) {
	switch t {
	case "Byte", "Int8":
		var n int8
		err = json.Unmarshal(raw, &n)
		v = graph.Byte(n)
	case "Int16":
		var n int16
		err = json.Unmarshal(raw, &n)
		v = graph.Short(n)
	case "Int32":
		var n int32
		err = json.Unmarshal(raw, &n)
		v = graph.Int(n)
	case "Int64":
		var n int64
		err = json.Unmarshal(raw, &n)
		v = graph.Long(n)
	case "Float":
		var f float32
		err = json.Unmarshal(raw, &f)
		v = graph.Float(f)
	case "Double":
		var f float64
		err = json.Unmarshal(raw, &f)
		v = graph.Double(f)
	case "Bool", "Boolean":
		var b bool
		err = json.Unmarshal(raw, &b)
		v = graph.Bool(b)
	default:
		return readTypedText(t, raw)
	}
	return v, err
}

// readTypedText parses the types that are written as strings.
func readTypedText(t string, raw json.RawMessage) (graph.Value, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return graph.Null, err
	}
	switch t {
	case "String":
		return graph.String(s), nil
	case "Date", "DateTime", "OffsetDateTime":
		if d, ok := syntax.ParseTime(s); ok {
			return graph.DateTime(d), nil
		}
		d, err := time.Parse(time.RFC3339Nano, s)
		return graph.DateTime(d), err
	case "UUID":
		if u, ok := syntax.ParseUUID(s); ok {
			return graph.UUID(u), nil
		}
	}
	return graph.Null, fmt.Errorf("cannot read %s %q", t, s)
}

// LoadGraphs reads every *.json file of a folder. The name of a graph is that of its file.
func LoadGraphs(dir string) (map[string]*graph.Graph, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("find graphs: %w", err)
	}
	graphs := map[string]*graph.Graph{}
	for _, file := range files {
		g, err := loadGraph(file)
		if err != nil {
			return nil, fmt.Errorf("load graph %s: %w", file, err)
		}
		graphs[strings.TrimSuffix(filepath.Base(file), ".json")] = g
	}
	return graphs, nil
}

func loadGraph(file string) (*graph.Graph, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var toy toyGraph
	if err := json.Unmarshal(data, &toy); err != nil {
		return nil, err
	}
	return toy.build()
}

// build builds the graph.
func (toy *toyGraph) build() (*graph.Graph, error) {
	b := graph.NewBuilder(graph.Limits{})
	for _, v := range toy.Vertices {
		h, err := b.AddVertex(v.ID.Value, v.Label)
		if err != nil {
			return nil, err
		}
		for _, key := range v.Properties {
			for _, p := range key.value {
				vp := graph.VertexProperty{ID: p.ID.Value, Value: p.Value.Value}
				for _, m := range p.Properties {
					vp.Meta = append(vp.Meta, graph.Meta{Key: m.name, Value: m.value.Value})
				}
				if err := b.AddProperty(h, key.name, vp); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, i := range toy.edgeOrder() {
		e := toy.Edges[i]
		h, err := b.AddEdge(e.ID.Value, e.Label, e.OutV.Value, e.InV.Value)
		if err != nil {
			return nil, err
		}
		for _, p := range e.Properties {
			if err := b.SetEdgeProperty(h, p.name, p.value.Value); err != nil {
				return nil, err
			}
		}
	}
	return b.Build()
}
