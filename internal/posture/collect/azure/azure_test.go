package azure_test

import (
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"

	simazure "vigil/internal/sim/azure"
)

// TestEntitiesMatchDeclarations reads a whole subscription and compares every entity with
// the declaration of its type.
func TestEntitiesMatchDeclarations(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 150, Page: 7})
	all := listAll(t, r.open(t, r.access(0)))
	declared := map[posture.EntityType]collect.Declaration{}
	for _, d := range r.source.Declarations() {
		declared[d.Type] = d
	}
	counts := map[posture.EntityType]int{}
	for id, e := range all {
		counts[e.Type]++
		for _, problem := range undeclared(declared[e.Type], e, all) {
			t.Errorf("%s: %s", id, problem)
		}
	}
	for typ := range declared {
		if counts[typ] == 0 {
			t.Errorf("no %s was read", typ)
		}
	}
	if len(counts) < 40 {
		t.Errorf("only %d types were read, want at least 40", len(counts))
	}
	if len(all) < 150 {
		t.Errorf("only %d entities were read, want at least 150", len(all))
	}
}

// undeclared returns how the properties and edges of an entity differ from its declaration.
func undeclared(d collect.Declaration, e *collect.Resource, all map[posture.EntityID]*collect.Resource) []string {
	var problems []string
	properties := map[string]collect.Property{}
	for _, p := range d.Properties {
		properties[p.Name] = p
	}
	for i, p := range e.Properties {
		want, ok := properties[p.Name]
		switch {
		case !ok:
			problems = append(problems, "property "+p.Name+" is not declared")
		case p.Type != want.Kind:
			problems = append(problems, "property "+p.Name+" is a "+p.Type)
		case i > 0 && e.Properties[i-1].Name == p.Name && !want.List: // list has sorted the properties
			problems = append(problems, "property "+p.Name+" occurs twice")
		}
	}
	for _, edge := range e.Edges {
		to, ok := all[edge.To]
		if !ok && (edge.Label == "HAS_IDENTITY" || edge.Label == "IS") {
			continue // an identity without roles, or one that the simulated directory does not list
		}
		if !ok {
			problems = append(problems, "edge "+edge.Label+" leads to "+string(edge.To)+", which was not read")
			continue
		}
		if !hasEdge(d, edge.Label, to.Type) {
			problems = append(problems, "edge "+edge.Label+" to "+string(to.Type)+" is not declared")
		}
	}
	return problems
}

func hasEdge(d collect.Declaration, label string, to posture.EntityType) bool {
	for _, e := range d.Edges {
		for _, t := range e.To {
			if e.Label == label && t == to {
				return true
			}
		}
	}
	return false
}
