package catalog

import (
	"fmt"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/evaluate"
)

// Schema returns the schema that collectors declare.
func Schema(declared []collect.Declaration) *evaluate.Schema {
	kinds := make([]evaluate.Kind, len(declared))
	for i, d := range declared {
		kinds[i].Type = d.Type
		for _, p := range d.Properties {
			kinds[i].Properties = append(kinds[i].Properties, p.Name)
		}
		for _, e := range d.Edges {
			kinds[i].Edges = append(kinds[i].Edges, evaluate.Link{Label: e.Label, To: e.To})
		}
		if d.Declared != nil {
			addRisk(&kinds[i], d.Declared)
		}
	}
	return evaluate.NewSchema(kinds)
}

// Undeclared returns a message for each type, property and edge that a rule or its cases
// use and that a schema does not have. It also reports if the query returns another type
// than that of the rule.
func (e Entry) Undeclared(s *evaluate.Schema) []string {
	reads, err := s.Read(e.Query.Text)
	if err != nil {
		return []string{err.Error()}
	}
	var undeclared []string
	for _, name := range reads.Undeclared {
		undeclared = append(undeclared, "there is no "+name)
	}
	if len(undeclared) == 0 && !slices.Equal(reads.Subjects, []posture.EntityType{e.Type}) {
		undeclared = append(undeclared, fmt.Sprintf("the query finds %v, not %s", reads.Subjects, e.Type))
	}
	query := strings.ReplaceAll(e.Visualization.Text, posture.EntityClause, "hasLabel('"+string(e.Type)+"')")
	if reads, err := s.Read(query); err != nil {
		undeclared = append(undeclared, "show: "+err.Error())
	} else {
		for _, name := range reads.Undeclared {
			undeclared = append(undeclared, "show: there is no "+name)
		}
	}
	for _, c := range e.Cases {
		for _, name := range c.undeclaredNames(s) {
			undeclared = append(undeclared, fmt.Sprintf("case %q: there is no %s", c.Name, name))
		}
	}
	return undeclared
}

func (c Case) undeclaredNames(s *evaluate.Schema) []string {
	var all []string
	kinds := map[string]posture.EntityType{}
	for _, e := range c.Entities {
		kinds[e.Key] = e.Type
	}
	for _, e := range c.Entities {
		if !s.Has(e.Type) {
			all = append(all, "type "+string(e.Type))
			continue
		}
		names := slices.Clone(e.Unknown)
		for name := range e.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if !s.HasProperty(e.Type, name) {
				all = append(all, fmt.Sprintf("property %s of %s", name, e.Type))
			}
		}
		for _, edge := range e.Edges {
			if !s.HasEdge(e.Type, edge.Label, kinds[edge.To]) {
				all = append(all, fmt.Sprintf("edge %s from %s to %s", edge.Label, e.Type, kinds[edge.To]))
			}
		}
	}
	return all
}
