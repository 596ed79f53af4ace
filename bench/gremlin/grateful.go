package main

import (
	"encoding/json"
	"fmt"
	"os"

	"vigil/graph"
)

// typed is a value in the format of TinkerPop's toy graphs.
type typed struct {
	T string          `json:"t"`
	V json.RawMessage `json:"v"`
}

func (t typed) value() (graph.Value, error) {
	var i int64
	var f float64
	var s string
	var err error
	switch t.T {
	case "Int32":
		err = json.Unmarshal(t.V, &i)
		return graph.Int(int32(i)), err
	case "Int64":
		err = json.Unmarshal(t.V, &i)
		return graph.Long(i), err
	case "Double":
		err = json.Unmarshal(t.V, &f)
		return graph.Double(f), err
	case "String":
		err = json.Unmarshal(t.V, &s)
		return graph.String(s), err
	}
	return graph.Null, fmt.Errorf("unknown type %s", t.T)
}

type toyGraph struct {
	Vertices []struct {
		ID         typed
		Label      string
		Properties map[string][]struct{ Value typed }
	}
	Edges []struct {
		Label      string
		OutV, InV  typed
		Properties map[string]typed
	}
}

// readToy reads a toy graph of TinkerPop.
func readToy(path string) ([]graph.Record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var toy toyGraph
	if err := json.Unmarshal(data, &toy); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	records, err := toy.records()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return records, nil
}

func (toy toyGraph) records() ([]graph.Record, error) {
	var records []graph.Record
	indexes := map[string]int{}
	for _, v := range toy.Vertices {
		id, err := v.ID.value()
		if err != nil {
			return nil, err
		}
		r := graph.Record{ID: id, Label: v.Label}
		for k, ps := range v.Properties {
			for _, p := range ps {
				value, err := p.Value.value()
				if err != nil {
					return nil, err
				}
				r.Properties = append(r.Properties, graph.PropertyRecord{Key: k, VertexProperty: graph.VertexProperty{Value: value}})
			}
		}
		indexes[id.String()] = len(records)
		records = append(records, r)
	}
	for _, e := range toy.Edges {
		from, err := e.OutV.value()
		if err != nil {
			return nil, err
		}
		to, err := e.InV.value()
		if err != nil {
			return nil, err
		}
		er := graph.EdgeRecord{Label: e.Label, To: to}
		for k, p := range e.Properties {
			value, err := p.value()
			if err != nil {
				return nil, err
			}
			er.Properties = append(er.Properties, graph.Meta{Key: k, Value: value})
		}
		r := &records[indexes[from.String()]]
		r.Out = append(r.Out, er)
	}
	return records, nil
}
