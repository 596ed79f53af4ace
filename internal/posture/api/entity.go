package api

import (
	"context"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	// entity is the wire form of an entity.
	entity struct {
		PartitionKey   string            `json:"partitionKey"`
		EntityID       string            `json:"entityId"`
		EntityType     string            `json:"entityType"`
		EntityName     string            `json:"entityName"`
		CloudAccountID string            `json:"cloudAccountId"`
		Region         string            `json:"region"`
		Service        string            `json:"service"`
		Provider       string            `json:"provider"`
		XID            string            `json:"xid"`
		Properties     []property        `json:"properties"`
		Tags           map[string]string `json:"tags"`
		CreationTime   httpapi.Time      `json:"creationTime"`
		LastUpdateTime httpapi.Time      `json:"lastUpdateTime"`
		Findings       *entityFindings   `json:"findings,omitempty"` // if requested
	}

	entityPath struct {
		ID string `path:"resource_id"`
	}

	valueChange struct {
		ChangeType string `json:"changeType"`
		OldValue   any    `json:"oldValue,omitzero"`
		NewValue   any    `json:"newValue,omitzero"`
	}
	edgeChange struct {
		ChangeType string `json:"changeType"`
		Label      string `json:"label"`
		To         string `json:"to"`
	}
	change struct {
		LastUpdateTime  httpapi.Time           `json:"lastUpdateTime"`
		Cause           string                 `json:"cause,omitempty"`
		Actor           string                 `json:"actor,omitempty"`
		Operation       string                 `json:"operation,omitempty"`
		PropertyChanges map[string]valueChange `json:"propertyChanges,omitempty"`
		TagChanges      map[string]valueChange `json:"tagChanges,omitempty"`
		EdgeChanges     []edgeChange           `json:"edgeChanges,omitempty"`
	}
	changeLog struct {
		ChangeLog []change `json:"changeLog"`
	}
)

func entityOf(e posture.Entity) entity {
	w := entity{
		PartitionKey: string(e.Account), EntityID: string(e.ID), EntityType: string(e.Type), EntityName: e.Name,
		CloudAccountID: string(e.Account), Region: e.Region, Service: e.Service, Provider: string(e.Provider), XID: e.XID,
		Properties: httpapi.Each(e.Properties, propertyOf), Tags: e.Tags,
		CreationTime: httpapi.Time{Time: e.Created}, LastUpdateTime: httpapi.Time{Time: e.Updated},
	}
	if w.Tags == nil {
		w.Tags = map[string]string{}
	}
	return w
}

func (a *API) getEntity(ctx context.Context, in entityPath) (entity, error) {
	e, err := a.Entities.Entity(ctx, a.Org(ctx), posture.EntityID(in.ID))
	return entityOf(e), err
}

func (a *API) getChangeLog(ctx context.Context, in entityPath) (changeLog, error) {
	log, err := a.Entities.ChangeLog(ctx, a.Org(ctx), posture.EntityID(in.ID))
	return changeLog{httpapi.Each(log, changeOf)}, err
}

func changeOf(c posture.EntityChange) change {
	w := change{LastUpdateTime: httpapi.Time{Time: c.At}, Cause: string(c.Cause), Actor: c.Actor, Operation: c.Operation}
	if len(c.Properties) > 0 {
		w.PropertyChanges = make(map[string]valueChange, len(c.Properties))
	}
	for name, p := range c.Properties {
		v := valueChange{ChangeType: string(p.Type)}
		if p.Type != posture.Added {
			v.OldValue = valuesOf(p.Old)
		}
		if p.Type != posture.Deleted {
			v.NewValue = valuesOf(p.New)
		}
		w.PropertyChanges[name] = v
	}
	if len(c.Tags) > 0 {
		w.TagChanges = make(map[string]valueChange, len(c.Tags))
	}
	for name, t := range c.Tags {
		v := valueChange{ChangeType: string(t.Type)}
		if t.Type != posture.Added {
			v.OldValue = t.Old
		}
		if t.Type != posture.Deleted {
			v.NewValue = t.New
		}
		w.TagChanges[name] = v
	}
	for _, e := range c.Edges {
		w.EdgeChanges = append(w.EdgeChanges, edgeChange{string(e.Type), e.Label, string(e.To)})
	}
	return w
}

// valuesOf returns the value of a property, or a list of values if it occurs more than
// once.
func valuesOf(ps []posture.Property) any {
	all := make([]any, len(ps))
	for i, p := range ps {
		switch p.Type {
		case posture.BoolProperty:
			all[i] = p.Bool
		case posture.LongProperty:
			all[i] = p.Long
		case posture.UnknownProperty:
			all[i] = map[string]string{"type": posture.UnknownProperty, "error": p.Error}
		default:
			all[i] = p.String
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}
