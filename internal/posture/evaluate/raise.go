package evaluate

import (
	"encoding/json"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/internal/posture"
)

// A writer writes findings, and the JSON blob of new ones. It encodes parts that several
// findings share, such as the rule or the entity with its neighbours, once.
type writer struct {
	*judging
	entities map[posture.EntityID]posture.Entity
	objects  map[graph.Handle]string
	rules    map[posture.RuleID]string
}

func newWriter(j *judging, entities map[posture.EntityID]posture.Entity) *writer {
	return &writer{j, entities, map[graph.Handle]string{}, map[posture.RuleID]string{}}
}

// raise writes the finding that a vertex violates a rule.
func (w *writer) raise(r *posture.Rule, h graph.Handle) posture.Raised {
	e := w.entity(h)
	f := posture.Finding{
		ID: posture.NewFindingID(w.Org, r.ID, e.ID), Rule: r.ID, Account: w.Account.ID, Provider: w.Provider, Object: e.ID, Type: e.Type, XID: e.XID, Name: e.Name,
		Service: e.Service, Region: e.Region, Level: r.Level.FindingLevel(), Risk: w.risks.riskOf(r.Level, h), Status: posture.FindingOpen, Tags: e.Tags,
	}
	if len(r.Parameters) > 0 {
		f.Parameters = r.ParameterValues()
	}
	return posture.Raised{Finding: f, Blob: func() string { return w.blob(&f, r, &e, h) }}
}

// entity returns the stored entity of a vertex, or the one in the graph if it has been
// deleted from the store.
func (w *writer) entity(h graph.Handle) posture.Entity {
	id := w.id(h)
	if e, ok := w.entities[id]; ok {
		return e
	}
	e := entityOf(w.Graph, h)
	e.XID = string(id) // the graph lacks the cloud's own name
	return e
}

// The JSON types of the blob. Members have the names of the API where it has them.
type (
	blobFinding struct {
		ID       posture.FindingID    `json:"id"`
		RuleID   posture.RuleID       `json:"ruleId"`
		Account  posture.AccountID    `json:"cloudAccountId"`
		Provider posture.Provider     `json:"cloudProvider"`
		Entity   posture.EntityID     `json:"entityId"`
		Object   string               `json:"objectId"`
		XID      string               `json:"objectXid"`
		Service  string               `json:"service"`
		Region   string               `json:"region"`
		Level    posture.FindingLevel `json:"level"`
		Score    int                  `json:"riskScore"`
		Parts    []blobPart           `json:"riskParts"`
		Tags     map[string]string    `json:"cloudTags,omitempty"`
	}

	blobPart struct {
		Name   string `json:"name"`
		Points int    `json:"points"`
		Why    string `json:"why"`
	}

	blobRule struct {
		ID       posture.RuleID    `json:"id"`
		Name     string            `json:"name"`
		Version  int               `json:"version"`
		Level    posture.RuleLevel `json:"level"`
		Category string            `json:"category"`
		Query    string            `json:"query"`
		Fix      string            `json:"suggestedAction"`
		Values   map[string]any    `json:"parameterValues,omitempty"`
	}

	blobObject struct {
		Entity          blobEntity      `json:"entity"`
		Neighbours      []blobNeighbour `json:"neighbours"`
		NeighboursTotal int             `json:"neighboursTotal"`
	}

	blobEntity struct {
		ID         posture.EntityID   `json:"entityId"`
		Type       posture.EntityType `json:"entityType"`
		Name       string             `json:"entityName"`
		XID        string             `json:"objectXid"`
		Region     string             `json:"region"`
		Service    string             `json:"service"`
		Properties []blobProperty     `json:"properties"`
		Tags       map[string]string  `json:"tags"`
	}

	blobProperty struct {
		Name    string  `json:"name"`
		Type    string  `json:"type"`
		StringV *string `json:"stringV,omitempty"`
		BoolV   *bool   `json:"boolV,omitempty"`
		LongV   *int64  `json:"longV,omitempty"`
		Error   string  `json:"error,omitempty"`
	}

	blobNeighbour struct {
		Direction string             `json:"direction"`
		Edge      string             `json:"edge"`
		ID        posture.EntityID   `json:"entityId"`
		Type      posture.EntityType `json:"entityType"`
	}
)

// maxNeighbours is how many neighbours in each direction the blob lists.
const maxNeighbours = 50

// blob writes {"finding":…,"rule":…,"object":…}.
func (w *writer) blob(f *posture.Finding, r *posture.Rule, e *posture.Entity, h graph.Handle) string {
	object, ok := w.objects[h]
	if !ok {
		object = encode(w.object(e, h))
		w.objects[h] = object
	}
	rule, ok := w.rules[r.ID]
	if !ok {
		rule = encode(blobRule{r.ID, r.Name, r.Version, r.Level, r.Category, r.Query.Text, r.SuggestedAction, f.Parameters})
		w.rules[r.ID] = rule
	}
	finding := blobFinding{
		ID: f.ID, RuleID: f.Rule, Account: f.Account, Provider: f.Provider, Entity: f.Object, Object: f.ObjectID(), XID: f.XID, Service: f.Service, Region: f.Region,
		Level: f.Level, Score: f.Risk.Score, Tags: f.Tags, Parts: make([]blobPart, len(f.Risk.Parts)),
	}
	for i, p := range f.Risk.Parts {
		finding.Parts[i] = blobPart(p)
	}
	return `{"finding":` + encode(&finding) + `,"rule":` + rule + `,"object":` + object + `}`
}

// object returns an entity with its neighbours.
func (w *writer) object(e *posture.Entity, h graph.Handle) *blobObject {
	o := &blobObject{
		Entity: blobEntity{
			ID: e.ID, Type: e.Type, Name: e.Name, XID: e.XID, Region: e.Region, Service: e.Service, Properties: []blobProperty{}, Tags: e.Tags,
		},
		Neighbours: []blobNeighbour{},
	}
	if o.Entity.Tags == nil {
		o.Entity.Tags = map[string]string{}
	}
	for i := range e.Properties {
		o.Entity.Properties = append(o.Entity.Properties, blobPropertyOf(&e.Properties[i]))
	}
	for _, d := range []struct {
		name      string
		direction graph.Direction
	}{{"out", graph.Out}, {"in", graph.In}} {
		neighbours := w.neighbours(h, d.direction, d.name)
		o.NeighboursTotal += len(neighbours)
		o.Neighbours = append(o.Neighbours, neighbours[:min(len(neighbours), maxNeighbours)]...)
	}
	return o
}

// neighbours lists the neighbours of a vertex by edge and id.
func (w *writer) neighbours(h graph.Handle, direction graph.Direction, name string) []blobNeighbour {
	g := w.Graph
	edges, to := g.Incident(h, direction)
	names, kinds := g.EdgeLabels(), g.VertexLabels()
	neighbours := make([]blobNeighbour, len(edges))
	for i, e := range edges {
		neighbours[i] = blobNeighbour{name, names[g.EdgeLabel(e)], w.id(to[i]), posture.EntityType(kinds[g.VertexLabel(to[i])])}
	}
	order := func(a, b blobNeighbour) int {
		if c := strings.Compare(a.Edge, b.Edge); c != 0 {
			return c
		}
		return strings.Compare(string(a.ID), string(b.ID))
	}
	slices.SortFunc(neighbours, order)
	return slices.CompactFunc(neighbours, func(a, b blobNeighbour) bool { return order(a, b) == 0 })
}

func blobPropertyOf(p *posture.Property) blobProperty {
	b := blobProperty{Name: p.Name, Type: p.Type, Error: p.Error}
	switch p.Type {
	case posture.StringProperty:
		b.StringV = &p.String
	case posture.BoolProperty:
		b.BoolV = &p.Bool
	case posture.LongProperty:
		b.LongV = &p.Long
	}
	return b
}

// encode returns v as JSON. Encoding the types above cannot fail.
func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("write a finding as JSON: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
