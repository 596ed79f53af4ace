package api

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/walk"
)

type (
	// neighborList determines which neighbours are listed.
	neighborList struct {
		ID        string `path:"resource_id" json:"id"`
		Direction string `query:"direction" enum:"in,out" json:"direction"`
		Label     string `query:"label" json:"label"`
	}
	neighborsIn struct {
		neighborList
		PageSize          *int    `query:"pageSize"`
		ContinuationToken *string `query:"continuationToken"`
	}
	neighborCount struct {
		Direction  string `json:"direction"`
		Label      string `json:"label"`
		EntityType string `json:"entityType"`
		Count      int    `json:"count"`
	}
	neighbor struct {
		Direction string  `json:"direction"`
		Label     string  `json:"label"`
		EntityID  string  `json:"entityId"`
		Entity    *entity `json:"entity,omitempty"` // omitted if it was deleted in the meantime
	}
	neighborPage struct {
		TotalCount        int             `json:"totalCount"`
		Counts            []neighborCount `json:"counts"`
		Results           []neighbor      `json:"results"`
		ContinuationToken string          `json:"continuationToken,omitempty"`
	}
)

// getNeighbors lists the neighbours of an entity. Counts include all neighbours,
// regardless of the filters of the list.
func (a *API) getNeighbors(ctx context.Context, in neighborsIn) (neighborPage, error) {
	id := in.ID
	list := listing{"neighbors", &in.neighborList}
	query := pagination{Token: in.ContinuationToken, inURL: true}
	if in.PageSize != nil {
		query.Size = httpapi.Some(*in.PageSize)
	}
	want, err := a.page(ctx, list, &query, defaultPage)
	if err != nil {
		return neighborPage{}, err
	}
	if in.ID != id { // a.page replaced in.neighborList by the one in the token
		return neighborPage{}, fault.Field("continuationToken", "is not a token of this entity")
	}
	e, err := a.Entities.Entity(ctx, a.Org(ctx), posture.EntityID(id))
	if err != nil {
		return neighborPage{}, err
	}
	found, err := a.Walker.Neighbours(ctx, a.Org(ctx), e.Account, e.ID)
	if err != nil {
		return neighborPage{}, err
	}
	out := neighborPage{Results: []neighbor{}, Counts: httpapi.Each(found.Counts, func(c walk.NeighbourCount) neighborCount {
		return neighborCount{c.Direction, c.Label, string(c.Type), c.Count}
	})}
	chosen := slices.DeleteFunc(found.Neighbours, func(n walk.Neighbour) bool {
		return in.Direction != "" && n.Direction != in.Direction || in.Label != "" && !strings.EqualFold(n.Label, in.Label)
	})
	out.TotalCount = len(chosen)
	from, _ := strconv.Atoi(want.After) // 0 for the first page, where After is empty
	from = min(max(from, 0), len(chosen))
	page := chosen[from:min(from+want.Size, len(chosen))]
	if from+len(page) < len(chosen) {
		if out.ContinuationToken, err = a.token(ctx, list, strconv.Itoa(from+len(page))); err != nil {
			return neighborPage{}, err
		}
	}
	err = a.addNeighbors(ctx, &out, e.Account, page)
	return out, err
}

// addNeighbors adds neighbours with their entities.
func (a *API) addNeighbors(ctx context.Context, out *neighborPage, account posture.AccountID, page []walk.Neighbour) error {
	ids := httpapi.Each(page, func(n walk.Neighbour) posture.EntityID { return n.ID })
	records, err := a.Entities.EntitiesOf(ctx, a.Org(ctx), account, ids)
	for _, n := range page {
		w := neighbor{Direction: n.Direction, Label: n.Label, EntityID: string(n.ID)}
		if e, ok := records[n.ID]; ok {
			view := entityOf(e)
			w.Entity = &view
		}
		out.Results = append(out.Results, w)
	}
	return err
}
