package evaluate

import (
	"strings"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/graphcache"
)

// vertexKey returns the key of vertices that holds an attribute.
func vertexKey(a posture.Attribute) string {
	if a.Kind == posture.TagAttribute {
		return graphcache.TagPrefix + a.Name
	}
	return a.Name
}

// typesOf returns the types that a condition restricts entities to, if it does.
func typesOf(c posture.Condition) (types, bool) {
	switch c := c.(type) {
	case posture.Equal:
		if c.Attribute.Kind == posture.FieldAttribute && c.Attribute.Name == posture.FieldType {
			return types{posture.EntityType(c.Value): true}, true
		}
	case posture.AllOf:
		for _, part := range c {
			if t, ok := typesOf(part); ok {
				return t, true
			}
		}
	case posture.AnyOf:
		all := types{}
		for _, part := range c {
			t, ok := typesOf(part)
			if !ok {
				return nil, false
			}
			all.add(t)
		}
		return all, len(c) > 0
	}
	return nil, false
}

// entityOf returns the entity of a vertex without the fields that the graph lacks: the
// cloud's own name and the times of collections.
func entityOf(g *graph.Graph, h graph.Handle) posture.Entity {
	r := g.Record(h)
	e := posture.Entity{ID: posture.EntityID(r.ID.Str()), Type: posture.EntityType(r.Label)}
	for _, p := range r.Properties {
		switch {
		case p.Unknown:
			e.Properties = append(e.Properties, posture.Unknown(p.Key, p.Reason))
			continue
		case setField(&e, p.Key, p.Value):
			continue
		case strings.HasPrefix(p.Key, graphcache.TagPrefix):
			if e.Tags == nil {
				e.Tags = map[string]string{}
			}
			e.Tags[p.Key[len(graphcache.TagPrefix):]] = p.Value.Str()
			continue
		}
		e.Properties = append(e.Properties, propertyOf(p.Key, p.Value))
	}
	for _, out := range r.Out {
		edge := posture.Edge{Label: out.Label, To: posture.EntityID(out.To.Str())}
		for _, m := range out.Properties {
			edge.Properties = append(edge.Properties, propertyOf(m.Key, m.Value))
		}
		e.Edges = append(e.Edges, edge)
	}
	e.Normalize()
	return e
}

// setField sets the field of the entity that a key of its vertex holds. It reports
// whether the key holds a field.
func setField(e *posture.Entity, key string, v graph.Value) bool {
	switch key {
	case posture.FieldName:
		e.Name = v.Str()
	case posture.FieldRegion:
		e.Region = v.Str()
	case posture.FieldService:
		e.Service = v.Str()
	case posture.FieldProvider:
		e.Provider = posture.Provider(v.Str())
	case posture.FieldAccount:
		e.Account = posture.AccountID(v.Str())
	default:
		return false
	}
	return true
}

func propertyOf(name string, v graph.Value) posture.Property {
	switch {
	case v.Kind() == graph.KindBool:
		return posture.Flag(name, v.Bool())
	case v.IsInteger():
		return posture.Number(name, v.Int())
	case v.Kind() == graph.KindString:
		return posture.Text(name, v.Str())
	}
	return posture.Text(name, v.String())
}
