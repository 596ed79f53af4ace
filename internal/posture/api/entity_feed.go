package api

import (
	"context"
	"time"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	feedFilters struct {
		CloudAccountIDs []string   `json:"cloudAccountIds" maxItems:"1000"`
		EntityTypes     []string   `json:"entityTypes" maxItems:"1000"`
		From            *time.Time `json:"from"`
		To              *time.Time `json:"to"`
	}
	feedQuery struct {
		Filters    feedFilters `json:"filters" null:"absent"`
		CountBy    string      `json:"countBy" enum:"Hour,Day"`
		Pagination *pagination `json:"paginationInfo"`
		Warnings   httpapi.Warnings
	}
	feedChange struct {
		ChangeType     string `json:"changeType"`
		EntityID       string `json:"entityId"`
		EntityName     string `json:"entityName"`
		EntityType     string `json:"entityType"`
		CloudAccountID string `json:"cloudAccountId"`
		Region         string `json:"region"`
		change
	}
	feedCount struct {
		From    httpapi.Time `json:"from"`
		Added   int          `json:"added"`
		Updated int          `json:"updated"`
		Deleted int          `json:"deleted"`
	}
	feedPage struct {
		Results           []feedChange `json:"results"`
		Counts            []feedCount  `json:"counts,omitempty"`
		ContinuationToken string       `json:"continuationToken,omitempty"`
		Warnings          []string     `json:"warnings,omitempty"`
	}
)

// feedSteps maps each value of countBy to the length of the intervals in which changes are counted.
var feedSteps = map[string]time.Duration{"Hour": time.Hour, "Day": 24 * time.Hour}

func (a *API) queryFeed(ctx context.Context, in feedQuery) (feedPage, error) {
	list := listing{"changes", &in.Filters}
	want, err := a.page(ctx, list, in.Pagination, defaultPage)
	if err != nil {
		return feedPage{}, err
	}
	filter := posture.FeedFilter{Accounts: in.Filters.CloudAccountIDs, Types: in.Filters.EntityTypes, When: span(in.Filters.From, in.Filters.To)}
	found, err := a.Entities.Feed(ctx, a.Org(ctx), filter, want)
	if err != nil {
		return feedPage{}, err
	}
	out := feedPage{Results: httpapi.Each(found.Changes, feedChangeOf), Warnings: in.Warnings}
	if step, ok := feedSteps[in.CountBy]; ok {
		counts, err := a.Entities.FeedCounts(ctx, a.Org(ctx), filter, step)
		if err != nil {
			return feedPage{}, err
		}
		out.Counts = httpapi.Each(counts, func(c posture.FeedCount) feedCount {
			return feedCount{httpapi.Time{Time: c.From}, c.Added, c.Updated, c.Deleted}
		})
	}
	if found.Next != "" {
		out.ContinuationToken, err = a.token(ctx, list, found.Next)
	}
	return out, err
}

func feedChangeOf(c posture.FeedChange) feedChange {
	return feedChange{
		ChangeType: string(c.ChangeType), EntityID: string(c.Entity), EntityName: c.Name, EntityType: string(c.EntityType),
		CloudAccountID: string(c.Account), Region: c.Region, change: changeOf(c.Change),
	}
}
