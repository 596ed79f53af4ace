// Package change maps the events of a cloud's log to the entity types that they may
// change, according to the declarations of the types.
package change

import (
	"regexp"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// An Index finds declarations by the events that they name.
type Index struct {
	exact  map[key][]collect.Declaration
	prefix map[string][]prefixed // by source
	types  map[posture.EntityType]collect.Declaration
}

type key struct{ source, name string }

// prefixed is a declaration that names all events that begin with a prefix.
type prefixed struct {
	begin string
	collect.Declaration
}

// NewIndex returns the index of declarations.
func NewIndex(ds []collect.Declaration) *Index {
	x := &Index{
		exact: map[key][]collect.Declaration{}, prefix: map[string][]prefixed{}, types: map[posture.EntityType]collect.Declaration{},
	}
	for _, d := range ds {
		x.types[d.Type] = d
		for _, e := range d.Events {
			source := strings.ToLower(e.Source)
			for _, name := range e.Names {
				name = strings.ToLower(name)
				if begin, ok := strings.CutSuffix(name, "*"); ok {
					x.prefix[source] = append(x.prefix[source], prefixed{begin, d})
					continue
				}
				k := key{source, name}
				x.exact[k] = append(x.exact[k], d)
			}
		}
	}
	return x
}

// apiVersion matches the end of the event names of some AWS services:
// UpdateFunctionConfiguration20150331v2.
var apiVersion = regexp.MustCompile(`[0-9]{8}(v[0-9]+)?$`)

// Of returns the declarations that name an event: first those that name it exactly, then
// those that name it by a prefix.
func (x *Index) Of(source, name string) []collect.Declaration {
	source, name = strings.ToLower(source), strings.ToLower(name)
	found := slices.Clone(x.exact[key{source, name}])
	if unversioned := apiVersion.ReplaceAllString(name, ""); unversioned != name {
		found = append(found, x.exact[key{source, unversioned}]...)
	}
	for _, p := range x.prefix[source] {
		if strings.HasPrefix(name, p.begin) {
			found = append(found, p.Declaration)
		}
	}
	seen := map[posture.EntityType]bool{}
	return slices.DeleteFunc(found, func(d collect.Declaration) bool {
		exists := seen[d.Type]
		seen[d.Type] = true
		return exists
	})
}

// Type returns the declaration of a type.
func (x *Index) Type(t posture.EntityType) (collect.Declaration, bool) {
	d, ok := x.types[t]
	return d, ok
}

// Empty reports whether the index has no declarations.
func (x *Index) Empty() bool { return len(x.types) == 0 }

// Related reports whether one of the types may have an edge to the other.
func Related(a, b collect.Declaration) bool { return hasEdge(a, b.Type) || hasEdge(b, a.Type) }

func hasEdge(d collect.Declaration, to posture.EntityType) bool {
	return slices.ContainsFunc(d.Edges, func(e collect.Edge) bool { return slices.Contains(e.To, to) })
}
