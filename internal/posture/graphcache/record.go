package graphcache

import (
	"maps"
	"slices"

	"vigil/graph"
	"vigil/internal/posture"
)

// TagPrefix is the prefix of the property keys of tags.
const TagPrefix = "tag."

// Record returns the vertex of an entity: its id and type, fields, properties, tags and
// edges.
func Record(e *posture.Entity) graph.Record {
	r := graph.Record{
		ID: graph.String(string(e.ID)), Label: string(e.Type),
		Properties: make([]graph.PropertyRecord, 0, 5+len(e.Properties)+len(e.Tags)),
	}
	addProperty := func(key, value string) {
		r.Properties = append(r.Properties, property(key, graph.String(value)))
	}
	addProperty(posture.FieldName, e.Name)
	addProperty(posture.FieldRegion, e.Region)
	addProperty(posture.FieldService, e.Service)
	addProperty(posture.FieldProvider, string(e.Provider))
	addProperty(posture.FieldAccount, string(e.Account))
	for _, p := range e.Properties {
		switch {
		case isReserved(p.Name): // a field of the entity has this key
		case p.Type == posture.UnknownProperty:
			r.Properties = append(r.Properties, graph.PropertyRecord{Key: p.Name, Unknown: true, Reason: p.Error})
		default:
			r.Properties = append(r.Properties, property(p.Name, value(p)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Tags)) {
		addProperty(TagPrefix+name, e.Tags[name])
	}
	for _, edge := range e.Edges {
		r.Out = append(r.Out, edgeRecord(edge))
	}
	return r
}

func isReserved(name string) bool {
	switch name {
	case posture.FieldName, posture.FieldRegion, posture.FieldService, posture.FieldProvider, posture.FieldAccount:
		return true
	}
	return false
}

func property(key string, v graph.Value) graph.PropertyRecord {
	return graph.PropertyRecord{Key: key, VertexProperty: graph.VertexProperty{Value: v}}
}

func value(p posture.Property) graph.Value {
	switch p.Type {
	case posture.BoolProperty:
		return graph.Bool(p.Bool)
	case posture.LongProperty:
		return graph.Long(p.Long)
	}
	return graph.String(p.String)
}

func edgeRecord(e posture.Edge) graph.EdgeRecord {
	r := graph.EdgeRecord{Label: e.Label, To: graph.String(string(e.To))}
	for _, p := range e.Properties {
		if p.Type != posture.UnknownProperty { // edges of the graph cannot hold unknown values: leave them out
			r.Properties = append(r.Properties, graph.Meta{Key: p.Name, Value: value(p)})
		}
	}
	return r
}
