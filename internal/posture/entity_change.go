package posture

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// ChangeType says what happened to a property, a tag or an edge.
type ChangeType string

// The change types.
const (
	Added   ChangeType = "ADD"
	Updated ChangeType = "UPDATE"
	Deleted ChangeType = "DELETE"
)

// A PropertyChange is the change of all properties with one name. There may be several
// values, because a name that occurs more than once is a list.
type PropertyChange struct {
	Type     ChangeType
	Old, New []Property
}

// A TagChange is the change of one tag.
type TagChange struct {
	Type     ChangeType
	Old, New string
}

// An EdgeChange is the addition or deletion of an edge. An edge whose properties changed
// was deleted and added.
type EdgeChange struct {
	Type  ChangeType
	Label string
	To    EntityID
}

// A ChangeOrigin is what an event says about how a change was made. What it does not say
// is empty.
type ChangeOrigin struct {
	Actor     string // who made the change
	Operation string // the call, for example ModifyInstanceMetadataOptions
}

// An EntityChange is one entry of the change log of an entity.
type EntityChange struct {
	At    time.Time
	Cause ChangeCause // empty if it is not known
	ChangeOrigin
	Properties map[string]PropertyChange
	Tags       map[string]TagChange
	Edges      []EdgeChange
}

// Empty reports whether nothing changed.
func (c EntityChange) Empty() bool {
	return len(c.Properties) == 0 && len(c.Tags) == 0 && len(c.Edges) == 0
}

// Compare returns the difference between two states of an entity. The zero Entity
// stands for one that does not exist. Both must be normalized.
func Compare(from, to Entity) EntityChange {
	c := EntityChange{Properties: map[string]PropertyChange{}, Tags: map[string]TagChange{}}
	before, after := byName(from.Properties), byName(to.Properties)
	for name, old := range before {
		now := after[name]
		switch {
		case now == nil:
			c.Properties[name] = PropertyChange{Type: Deleted, Old: old}
		case !slices.Equal(old, now):
			c.Properties[name] = PropertyChange{Type: Updated, Old: old, New: now}
		}
	}
	for name, now := range after {
		if before[name] == nil {
			c.Properties[name] = PropertyChange{Type: Added, New: now}
		}
	}
	for name, old := range from.Tags {
		now, exists := to.Tags[name]
		switch {
		case !exists:
			c.Tags[name] = TagChange{Type: Deleted, Old: old}
		case now != old:
			c.Tags[name] = TagChange{Type: Updated, Old: old, New: now}
		}
	}
	for name, now := range to.Tags {
		if _, exists := from.Tags[name]; !exists {
			c.Tags[name] = TagChange{Type: Added, New: now}
		}
	}
	c.Edges = append(missingEdges(from.Edges, to.Edges, Deleted), missingEdges(to.Edges, from.Edges, Added)...)
	return c
}

// missingEdges returns, as changes of type t, the edges that are not in others. Parallel
// edges, which differ only in their properties, are one change.
func missingEdges(edges, others []Edge, t ChangeType) []EdgeChange {
	type end struct {
		label string
		to    EntityID
	}
	parallel := make(map[end][][]Property, len(others))
	for _, e := range others {
		k := end{e.Label, e.To}
		parallel[k] = append(parallel[k], e.Properties)
	}
	listed := map[end]bool{}
	var missing []EdgeChange
	for _, e := range edges {
		k := end{e.Label, e.To}
		if listed[k] || slices.ContainsFunc(parallel[k], func(ps []Property) bool { return slices.Equal(ps, e.Properties) }) {
			continue
		}
		missing = append(missing, EdgeChange{t, e.Label, e.To})
		listed[k] = true
	}
	return missing
}

// byName groups sorted properties by name.
func byName(ps []Property) map[string][]Property {
	groups := make(map[string][]Property, len(ps))
	for i := 0; i < len(ps); {
		end := i + 1
		for end < len(ps) && ps[end].Name == ps[i].Name {
			end++
		}
		groups[ps[i].Name] = ps[i:end:end]
		i = end
	}
	return groups
}

// Undo reverts the properties and tags of an entity to their state before the change.
func (c EntityChange) Undo(e Entity) Entity {
	groups := byName(e.Properties)
	for name, p := range c.Properties {
		if p.Type == Added {
			delete(groups, name)
		} else {
			groups[name] = p.Old
		}
	}
	e.Properties = nil
	for _, name := range slices.SortedFunc(maps.Keys(groups), strings.Compare) {
		e.Properties = append(e.Properties, groups[name]...)
	}
	e.Tags = maps.Clone(e.Tags)
	for name, t := range c.Tags {
		switch {
		case t.Type == Added:
			delete(e.Tags, name)
		case e.Tags == nil:
			e.Tags = map[string]string{name: t.Old}
		default:
			e.Tags[name] = t.Old
		}
	}
	return e
}
