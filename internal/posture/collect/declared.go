package collect

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// Conventions are the naming rules of one cloud. They derive facts that declarations omit.
type Conventions interface {
	// Permission returns the permission that a call needs.
	Permission(r *resource.Request) string

	// Service returns the service whose rate limit applies to a call.
	Service(r *resource.Request) string

	// EventSource returns the full source of log entries from its short form in a
	// declaration.
	EventSource(short string) string
}

// Declarations returns the static facts about types.
func Declarations(c *resource.Catalog, types []*resource.Type, conventions Conventions) []Declaration {
	all := make([]Declaration, len(types))
	for i, t := range types {
		all[i] = DeclarationOf(c, t, conventions)
	}
	return all
}

// InOrderOfCalls returns the types of a cloud, ordered so that types whose lists begin with the
// same call are adjacent: they find its response in the cache, and few responses are cached
// at a time.
func InOrderOfCalls(c *resource.Catalog, p posture.Provider) []*resource.Type {
	all, first := c.Of(p), map[*resource.Type]string{}
	for _, t := range all {
		first[t] = firstCall(c, t)
	}
	slices.SortStableFunc(all, func(a, b *resource.Type) int { return strings.Compare(first[a], first[b]) })
	return all
}

func firstCall(c *resource.Catalog, t *resource.Type) string {
	for r := range c.Requests(t) {
		return r.Call
	}
	return ""
}

// DeclarationOf returns the static facts about a declared type.
func DeclarationOf(c *resource.Catalog, t *resource.Type, conventions Conventions) Declaration {
	d := Declaration{Type: t.Type, Scope: PerAccount, Doc: t.Doc, Service: ServiceOf(c, t, conventions), Declared: t}
	if t.Scope == resource.PerRegion {
		d.Scope = PerRegion
	}
	for r := range c.Requests(t) {
		d.Permissions = append(d.Permissions, strings.Fields(conventions.Permission(r))...)
	}
	slices.Sort(d.Permissions)
	d.Permissions = slices.Compact(d.Permissions)
	for a := range t.Answers() {
		for _, p := range a.AllProperties() {
			kind, list := p.Stored()
			d.Properties = append(d.Properties, Property{Name: p.Name, Kind: kind, List: list, Doc: p.Doc})
		}
		for _, e := range a.AllEdges() {
			d.Edges = addEdge(d.Edges, Edge{Label: e.Label, To: e.To, Doc: e.Doc})
		}
	}
	for i := range t.Google {
		d.Forms = append(d.Forms, t.Google[i].Wildcards())
	}
	for _, e := range t.Events {
		d.Events = append(d.Events, Event{Source: conventions.EventSource(e.Source), Names: e.Names})
	}
	return d
}

// addEdge adds an edge, or adds its targets to an existing edge of the same label.
func addEdge(edges []Edge, e Edge) []Edge {
	i := slices.IndexFunc(edges, func(o Edge) bool { return o.Label == e.Label })
	if i < 0 {
		return append(edges, e)
	}
	edges[i].To = append(slices.Clone(edges[i].To), e.To...)
	return edges
}

// ServiceOf returns the service whose rate limit applies to the first call of a type.
func ServiceOf(c *resource.Catalog, t *resource.Type, conventions Conventions) string {
	for r := range c.Requests(t) {
		if r.Call != "" {
			return conventions.Service(r)
		}
	}
	return ""
}
