package collect

import (
	"errors"
	"fmt"
	"slices"

	"vigil/internal/posture"
)

// A Resource is an entity while a collector puts it together.
type Resource struct {
	posture.Entity
	problems []error // details that could not be read
}

// NewResource begins the entity of type t with the given name, in a region or
// group ("" for none).
func NewResource(t posture.EntityType, account posture.AccountID, region, name string) *Resource {
	if region == "" {
		region = posture.Global
	}
	return &Resource{Entity: posture.Entity{
		ID: t.ID(account, region, name), Type: t, Name: name, Account: account, Provider: t.Provider(),
		Region: region, Service: t.Service(),
	}}
}

// Text adds a string property. An empty one is left out: in the clouds' answers
// it means that nothing is set.
func (r *Resource) Text(name, value string) *Resource {
	if value != "" {
		r.add(posture.Text(name, value))
	}
	return r
}

// add adds a property. Most resources have several: there is room for them at
// once.
func (r *Resource) add(p posture.Property) *Resource {
	if r.Properties == nil {
		r.Properties = make([]posture.Property, 0, 8)
	}
	r.Properties = append(r.Properties, p)
	return r
}

// Flag adds a bool property.
func (r *Resource) Flag(name string, value bool) *Resource {
	return r.add(posture.Flag(name, value))
}

// Number adds a long property.
func (r *Resource) Number(name string, value int64) *Resource {
	return r.add(posture.Number(name, value))
}

// Texts adds a list of strings: one property each.
func (r *Resource) Texts(name string, values ...string) *Resource {
	for _, v := range values {
		r.Text(name, v)
	}
	return r
}

// Tag adds a tag.
func (r *Resource) Tag(name, value string) *Resource {
	if r.Tags == nil {
		r.Tags = map[string]string{}
	}
	r.Tags[name] = value
	return r
}

// Edge adds an edge to another entity. One without a target is left out.
func (r *Resource) Edge(label string, to posture.EntityID, properties ...posture.Property) *Resource {
	if to != "" {
		if r.Edges == nil {
			r.Edges = make([]posture.Edge, 0, 4)
		}
		r.Edges = append(r.Edges, posture.Edge{Label: label, To: to, Properties: properties})
	}
	return r
}

// Unread says that the properties of these names, and the edges of these labels,
// could not be read, and why: they are unknown, not absent.
func (r *Resource) Unread(err error, names ...string) *Resource {
	for _, name := range names {
		if !r.IsUnread(name) {
			r.add(posture.Unknown(name, err.Error()))
		}
	}
	r.problems = append(r.problems, fmt.Errorf("%s: %w", r.Name, err))
	return r
}

// IsUnread reports whether a property, or edges of a label, could not be read.
func (r *Resource) IsUnread(name string) bool {
	return slices.ContainsFunc(r.Properties, func(p posture.Property) bool { return p.Name == name && p.Type == posture.UnknownProperty })
}

// Detail runs a call that reads more of the resource into the properties and
// edges of the given names. What does not exist is not configured, and f has set what that
// means before it returns ErrGone; any other failure leaves the properties
// unknown. It returns an error only when the whole run is over.
func (r *Resource) Detail(f func() error, names ...string) error {
	err := f()
	switch {
	case err == nil, errors.Is(err, ErrGone), errors.Is(err, ErrOff):
		return nil
	case Over(err):
		return err
	}
	r.Unread(err, names...)
	return nil
}

// Problems returns the details that could not be read.
func (r *Resource) Problems() []error { return r.problems }
