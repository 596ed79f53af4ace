package api

import (
	"context"
	"strconv"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// maxEntityIDs is the number of entities that one request can get by id.
const maxEntityIDs = 200

// entityFindings summarises the open findings of an entity.
type entityFindings struct {
	Open         int `json:"open"`
	MaxRiskScore int `json:"maxRiskScore"`
}

// entitiesByID returns the entities with the given ids that exist and that the other
// filters select, on one page.
func (a *API) entitiesByID(ctx context.Context, ids []string, f posture.EntityFilter) (page posture.EntityPage, err error) {
	if len(ids) > maxEntityIDs {
		return page, fault.Field("filters.entityIds", "must have at most %d elements", maxEntityIDs)
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		e, err := a.Entities.Entity(ctx, a.Org(ctx), posture.EntityID(id))
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return page, err
		}
		if f.Matches(&e) {
			page.Entities = append(page.Entities, e)
		}
	}
	page.Total = len(page.Entities)
	return page, nil
}

// addFindings adds to each entity a summary of its open findings.
func (a *API) addFindings(ctx context.Context, all []entity) error {
	if len(all) == 0 {
		return nil
	}
	f := posture.FindingFilter{Statuses: []posture.FindingStatus{posture.FindingOpen}}
	for _, e := range all {
		f.Objects = append(f.Objects, e.EntityID)
	}
	_, found, err := a.Findings.AggregateFindings(ctx, a.Org(ctx), f, map[string]posture.Aggregation{
		"entity": {Of: posture.Attribute{Name: "entityId"}, Sub: map[string]posture.Aggregation{"risk": {Of: posture.Attribute{Name: "riskScore"}}}},
	}, a.Now())
	if err != nil {
		return err
	}
	for i := range all {
		bucket := found["entity"][all[i].EntityID]
		summary := entityFindings{Open: bucket.Count}
		for score := range bucket.Sub["risk"] {
			if n, err := strconv.Atoi(score); err == nil {
				summary.MaxRiskScore = max(summary.MaxRiskScore, n)
			}
		}
		all[i].Findings = &summary
	}
	return nil
}
