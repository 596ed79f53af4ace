package resource

import (
	"fmt"
	"slices"

	"vigil/internal/posture"
)

// A Builder assembles an entity.
type Builder struct {
	posture.Entity
	problems []error // details that could not be read
}

// NewBuilder creates the entity of type t with the given name, in a region or
// resource group ("" for none).
func NewBuilder(t posture.EntityType, account posture.AccountID, region, name string) *Builder {
	if region == "" {
		region = posture.Global
	}
	return &Builder{Entity: posture.Entity{
		ID: t.ID(account, region, name), Type: t, Name: name, Account: account, Provider: t.Provider(),
		Region: region, Service: t.Service(),
	}}
}

// Text adds a string property unless it is empty: the clouds return an empty
// string for a setting that is not set.
func (b *Builder) Text(name, value string) *Builder {
	if value != "" {
		b.add(posture.Text(name, value))
	}
	return b
}

// add adds a property. It allocates room for several at once because most entities
// have several.
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

// Texts adds a list of strings, as one property per string.
func (b *Builder) Texts(name string, values ...string) *Builder {
	for _, v := range values {
		b.Text(name, v)
	}
	return b
}

// Set adds a list of strings whose order is insignificant. It sorts them and
// removes duplicates.
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

// Edge adds an edge to another entity, unless the target is empty.
func (b *Builder) Edge(label string, to posture.EntityID, properties ...posture.Property) *Builder {
	if to != "" {
		if b.Edges == nil {
			b.Edges = make([]posture.Edge, 0, 4)
		}
		b.Edges = append(b.Edges, posture.Edge{Label: label, To: to, Properties: properties})
	}
	return b
}

// Unread records that properties of these names and edges of these labels could
// not be read, and why. They become unknown, not absent.
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
