package api

import (
	"context"
	"slices"
	"strings"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

type (
	schemaProperty struct {
		Name        string   `json:"name"`
		Type        string   `json:"type"`
		List        bool     `json:"list"`
		Description string   `json:"description"`
		Rules       []string `json:"rules"`
	}
	schemaEdge struct {
		Label       string   `json:"label"`
		To          []string `json:"to"`
		Description string   `json:"description"`
		Rules       []string `json:"rules"`
	}
	schemaType struct {
		EntityType  string           `json:"entityType"`
		Provider    string           `json:"provider"`
		Service     string           `json:"service"`
		Description string           `json:"description"`
		Properties  []schemaProperty `json:"properties"`
		Edges       []schemaEdge     `json:"edges"`
		Rules       []string         `json:"rules"`
	}
	schema struct {
		Types  []schemaType `json:"types"`
		Fields []string     `json:"fields"` // names of the fields that entities of all types have
	}
)

// RuleReads holds the types and attributes that the query of a rule reads.
type RuleReads struct {
	Rule       posture.RuleID
	Types      []posture.EntityType // types whose entities can change the result
	Properties []string             // names, case-insensitive
	Edges      []string             // labels
}

func (a *API) getSchema(ctx context.Context, _ httpapi.None) (schema, error) {
	var allRules []RuleReads
	if a.Reads != nil {
		var err error
		if allRules, err = a.Reads(ctx, a.Org(ctx)); err != nil {
			return schema{}, err
		}
	}
	declared := slices.Clone(a.Declarations())
	slices.SortFunc(declared, func(x, y collect.Declaration) int { return strings.Compare(string(x.Type), string(y.Type)) })
	out := schema{
		Fields: []string{posture.FieldName, posture.FieldRegion, posture.FieldService, posture.FieldProvider, posture.FieldAccount},
		Types:  make([]schemaType, len(declared)),
	}
	for i, d := range declared {
		var readers []RuleReads
		for _, r := range allRules {
			if slices.Contains(r.Types, d.Type) {
				readers = append(readers, r)
			}
		}
		out.Types[i] = schemaTypeOf(d, readers)
	}
	return out, nil
}

// schemaTypeOf describes a type. readers are the rules that read the type. The description of a
// property or an edge lists those readers that also read this property or edge.
func schemaTypeOf(d collect.Declaration, readers []RuleReads) schemaType {
	rulesWhere := func(uses func(RuleReads) bool) []string {
		ids := []string{}
		for _, r := range readers {
			if uses(r) {
				ids = append(ids, string(r.Rule))
			}
		}
		return ids
	}
	out := schemaType{
		EntityType: string(d.Type), Provider: string(d.Type.Provider()), Service: d.Type.Service(), Description: d.Doc,
		Properties: []schemaProperty{}, Edges: []schemaEdge{}, Rules: rulesWhere(func(RuleReads) bool { return true }),
	}
	for _, p := range d.Properties {
		out.Properties = append(out.Properties, schemaProperty{
			p.Name, p.Kind, p.List, p.Doc, rulesWhere(func(r RuleReads) bool {
				return slices.ContainsFunc(r.Properties, func(name string) bool { return strings.EqualFold(name, p.Name) })
			}),
		})
	}
	for _, e := range d.Edges {
		to := httpapi.Each(e.To, func(t posture.EntityType) string { return string(t) })
		out.Edges = append(out.Edges, schemaEdge{
			e.Label, to, e.Doc, rulesWhere(func(r RuleReads) bool { return slices.Contains(r.Edges, e.Label) }),
		})
	}
	return out
}
