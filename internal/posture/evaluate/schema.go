package evaluate

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/graphcache"
)

// A Kind is a type of entity: its properties, and the edges that leave it.
type Kind struct {
	Type       posture.EntityType
	Properties []string
	Edges      []Link

	Exposed   []Fact   // that expose entities to the internet
	Powerful  []string // flags of identities and policies with unlimited permissions
	Sensitive bool     // the resources hold data or secrets
}

// A Fact holds for an entity whose property has one of the values. Without values, it holds
// if the property is true, or is known and is not a flag.
type Fact struct {
	Property string
	Values   []string
	Why      string // reads after the name of the entity: "has a public address"
}

// A Link is an edge that entities of a kind may have.
type Link struct {
	Label string
	To    []posture.EntityType
}

// A Schema says which types there are and where their edges lead.
type Schema struct {
	types []posture.EntityType // in order
	all   types                // the same as a set; never modified
	props map[posture.EntityType]map[string]bool
	out   map[posture.EntityType]map[string][]posture.EntityType
	in    map[posture.EntityType]map[string][]posture.EntityType
	risk  map[posture.EntityType]Kind
	risky map[string]bool // properties that affect the risk of other entities
}

// NewSchema returns the schema of kinds.
func NewSchema(kinds []Kind) *Schema {
	s := &Schema{
		all:   types{},
		props: map[posture.EntityType]map[string]bool{}, risk: map[posture.EntityType]Kind{}, risky: map[string]bool{},
		out: map[posture.EntityType]map[string][]posture.EntityType{}, in: map[posture.EntityType]map[string][]posture.EntityType{},
	}
	add := func(ends map[posture.EntityType]map[string][]posture.EntityType, from posture.EntityType, label string, to posture.EntityType) {
		if ends[from] == nil {
			ends[from] = map[string][]posture.EntityType{}
		}
		if !slices.Contains(ends[from][label], to) {
			ends[from][label] = append(ends[from][label], to)
		}
	}
	for _, k := range kinds {
		s.risk[k.Type] = k
		for _, x := range k.Exposed {
			s.risky[x.Property] = true
		}
		for _, name := range k.Powerful {
			s.risky[name] = true
		}
		if s.props[k.Type] == nil {
			s.props[k.Type] = map[string]bool{}
			s.types = append(s.types, k.Type)
			s.all[k.Type] = true
		}
		for _, p := range k.Properties {
			s.props[k.Type][p] = true
		}
		for _, l := range k.Edges {
			for _, to := range l.To {
				add(s.out, k.Type, l.Label, to)
				add(s.in, to, l.Label, k.Type)
			}
		}
	}
	slices.Sort(s.types)
	return s
}

// Has reports whether the schema has a type.
func (s *Schema) Has(t posture.EntityType) bool { return s.props[t] != nil }

// HasProperty reports whether entities of a type may have a property, their own
// fields and tags included.
func (s *Schema) HasProperty(t posture.EntityType, name string) bool {
	return s.props[t][name] || slices.Contains(posture.EntityFields, name) || strings.HasPrefix(name, graphcache.TagPrefix)
}

// HasEdge reports whether edges of a label may lead from one type to another.
func (s *Schema) HasEdge(from posture.EntityType, label string, to posture.EntityType) bool {
	return slices.Contains(s.out[from][label], to)
}

// follow returns the types at the other end of edges.
func (s *Schema) follow(ends map[posture.EntityType]map[string][]posture.EntityType, from types, labels []string) types {
	to := types{}
	for t := range from {
		for label, targets := range ends[t] {
			if len(labels) == 0 || slices.Contains(labels, label) {
				for _, target := range targets {
					to[target] = true
				}
			}
		}
	}
	return to
}

// types is a set of entity types.
type types map[posture.EntityType]bool

func (t types) add(o types) {
	for k := range o {
		t[k] = true
	}
}

// only returns the members that are among some names.
func (t types) only(names []string) types {
	found := types{}
	for _, n := range names {
		if t[posture.EntityType(n)] {
			found[posture.EntityType(n)] = true
		}
	}
	return found
}

func (t types) sorted() []posture.EntityType {
	all := make([]posture.EntityType, 0, len(t))
	for k := range t {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}
