package resource

import (
	"fmt"
	"slices"

	"vigil/internal/posture"
)

// A Builder is an entity while it is put together.
type Builder struct {
	posture.Entity
	problems []error // details that could not be read
}

// NewBuilder begins the entity of type t with the given name, in a region or
// group ("" for none).
func NewBuilder(t posture.EntityType, account posture.AccountID, region, name string) *Builder {
	if region == "" {
		region = posture.Global
	}
	return &Builder{Entity: posture.Entity{
		ID: t.ID(account, region, name), Type: t, Name: name, Account: account, Provider: t.Provider(),
		Region: region, Service: t.Service(),
	}}
}

// Text adds a string property. An empty one is left out: in the clouds' answers
// it means that nothing is set.
func (b *Builder) Text(name, value string) *Builder {
	if value != "" {
		b.add(posture.Text(name, value))
	}
	return b
}

// add adds a property. Most entities have several: there is room for them at
// once.
func (b *Builder) add(p posture.Property) *Builder {
	if b.Properties == nil {
		b.Properties = make([]posture.Property, 0, 16)
	}
	b.Properties = append(b.Properties, p)
	return b
}

// Flag adds a bool property.
func (b *Builder) Flag(name string, value bool) *Builder {
	return b.add(posture.Flag(name, value))
}

// Number adds a long property.
func (b *Builder) Number(name string, value int64) *Builder {
	return b.add(posture.Number(name, value))
}

// Texts adds a list of strings: one property each.
func (b *Builder) Texts(name string, values ...string) *Builder {
	for _, v := range values {
		b.Text(name, v)
	}
	return b
}

// Set adds a list of strings whose order means nothing: each once, sorted.
func (b *Builder) Set(name string, values []string) *Builder {
	values = slices.Clone(values)
	slices.Sort(values)
	return b.Texts(name, slices.Compact(values)...)
}

// Tag adds a tag.
func (b *Builder) Tag(name, value string) *Builder {
	if b.Tags == nil {
		b.Tags = map[string]string{}
	}
	b.Tags[name] = value
	return b
}

// Edge adds an edge to another entity. One without a target is left out.
func (b *Builder) Edge(label string, to posture.EntityID, properties ...posture.Property) *Builder {
	if to != "" {
		if b.Edges == nil {
			b.Edges = make([]posture.Edge, 0, 4)
		}
		b.Edges = append(b.Edges, posture.Edge{Label: label, To: to, Properties: properties})
	}
	return b
}

// Unread says that the properties of these names, and the edges of these labels,
// could not be read, and why: they are unknown, not absent.
func (b *Builder) Unread(err error, names ...string) *Builder {
	for _, name := range names {
		if !b.IsUnread(name) {
			b.add(posture.Unknown(name, err.Error()))
		}
	}
	b.problems = append(b.problems, fmt.Errorf("%s: %w", b.Name, err))
	return b
}

// IsUnread reports whether a property, or edges of a label, could not be read.
func (b *Builder) IsUnread(name string) bool {
	return slices.ContainsFunc(b.Properties, func(p posture.Property) bool { return p.Name == name && p.Type == posture.UnknownProperty })
}

// Problems returns the details that could not be read.
func (b *Builder) Problems() []error { return b.problems }
