package api

import (
	"context"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	collector struct {
		Status     string   `json:"status"`
		Errors     []string `json:"errors,omitempty"`
		Message    string   `json:"message,omitempty"`
		Entities   int      `json:"entities"`
		NotEnabled []string `json:"notEnabled,omitempty"`
		NotOffered []string `json:"notOffered,omitempty"`
		Gone       int      `json:"gone,omitempty"`
	}
	runProgress struct {
		Done     int `json:"done"`
		Total    int `json:"total"`
		Entities int `json:"entities"`
	}
	run struct {
		Provider        string               `json:"provider"`
		CloudAccountID  string               `json:"cloudAccountId"`
		CollectionID    string               `json:"collectionId"`
		StartTime       httpapi.Time         `json:"startTime"`
		EndTime         *httpapi.Time        `json:"endTime,omitempty"`
		LastUpdateTime  httpapi.Time         `json:"lastUpdateTime"`
		Status          string               `json:"status"`
		Type            string               `json:"type"`
		CollectorStatus map[string]collector `json:"collectorStatus"`
		Progress        runProgress          `json:"progress"`
		Reason          string               `json:"reason,omitempty"`
	}
	runQuery struct {
		Filters struct {
			Provider       string     `json:"provider"`
			CloudAccountID string     `json:"cloudAccountId"`
			Statuses       []string   `json:"statuses"`
			StartedFrom    *time.Time `json:"startedFrom"`
			StartedTo      *time.Time `json:"startedTo"`
		} `json:"filters" null:"absent"`
		Pagination *pagination `json:"paginationInfo"`
		Warnings   httpapi.Warnings
	}
	runPage struct {
		Results    []run        `json:"results"`
		Pagination runPlacement `json:"paginationInfo"`
		Warnings   []string     `json:"warnings,omitempty"`
	}
	runPlacement struct {
		TotalCount        int    `json:"totalCount"`
		PageSize          int    `json:"pageSize,omitempty"`
		ContinuationToken string `json:"continuationToken,omitempty"`
	}
	startRunIn struct {
		AccountID string   `path:"cloud_account_id"`
		Regions   []string `json:"regions"`
		Services  []string `json:"services"`
		Types     []string `json:"types"`
	}
	runPath struct {
		AccountID    string `path:"cloud_account_id"`
		CollectionID string `path:"collection_id"`
	}
)

func runOf(r posture.Run) run {
	w := run{
		Provider: string(r.Provider), CloudAccountID: string(r.Account), CollectionID: r.ID, StartTime: httpapi.Time{Time: r.Start},
		LastUpdateTime: httpapi.Time{Time: r.Updated}, Status: string(r.Status), Type: "Full", CollectorStatus: map[string]collector{},
		Progress: runProgress{r.Done, r.Units, r.Entities}, Reason: r.Reason,
	}
	if !r.End.IsZero() {
		w.EndTime = &httpapi.Time{Time: r.End}
	}
	for name, c := range r.Collectors {
		w.CollectorStatus[string(name)] = collector{string(c.Status), c.Errors, c.Message, c.Entities, c.NotEnabled, c.NotOffered, c.Gone}
	}
	return w
}

func (a *API) queryRuns(ctx context.Context, in runQuery) (runPage, error) {
	list := listing{"collections", &in.Filters}
	want, err := a.page(ctx, list, in.Pagination, everything)
	if err != nil {
		return runPage{}, err
	}
	filter := posture.RunFilter{Account: posture.AccountID(in.Filters.CloudAccountID), Since: a.Now().Add(-posture.History)}
	if in.Filters.Provider != "" {
		var ok bool
		filter.Provider, ok = posture.ParseProvider(in.Filters.Provider)
		if !ok {
			return runPage{}, fault.Field("filters.provider", "must be one of %s", join(posture.Providers))
		}
	}
	var bad []fault.Detail
	filter.Statuses = checkKnown("filters.statuses", in.Filters.Statuses, posture.RunStatuses, &bad)
	if len(bad) > 0 {
		return runPage{}, fault.Fields(bad...)
	}
	when := span(in.Filters.StartedFrom, in.Filters.StartedTo)
	filter.Before = when.To
	if when.From.After(filter.Since) {
		filter.Since = when.From
	}
	found, total, err := a.Runs.Runs(ctx, a.Org(ctx), filter, withOneMore(want))
	if err != nil {
		return runPage{}, err
	}
	found, token, err := endPage(ctx, a, list, want, found, posture.Run.Place)
	placement := runPlacement{TotalCount: total, PageSize: want.Size, ContinuationToken: token}
	return runPage{Results: httpapi.Each(found, runOf), Warnings: in.Warnings, Pagination: placement}, err
}

func (a *API) startRun(ctx context.Context, in startRunIn) (httpapi.Reply, error) {
	scope := posture.RunScope{Regions: in.Regions, Services: in.Services}
	for _, t := range in.Types {
		scope.Types = append(scope.Types, posture.EntityType(t))
	}
	started, err := a.Collections.Start(ctx, a.Org(ctx), posture.AccountID(in.AccountID), scope)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Accepted(runOf(started)), nil
}

func (a *API) getRun(ctx context.Context, in runPath) (run, error) {
	found, err := a.Runs.Run(ctx, a.Org(ctx), in.CollectionID)
	if err == nil && string(found.Account) != in.AccountID {
		err = fault.New(fault.NotFound, "collection %q was not found", in.CollectionID)
	}
	return runOf(found), err
}

// stopRun requests that a run be stopped and returns its current state. The run ends
// when its worker sees the request.
func (a *API) stopRun(ctx context.Context, in runPath) (httpapi.Reply, error) {
	if err := a.Runs.StopRun(ctx, a.Org(ctx), posture.AccountID(in.AccountID), in.CollectionID); err != nil {
		return httpapi.Reply{}, err
	}
	found, err := a.getRun(ctx, in)
	return httpapi.Accepted(found), err
}

// Collections starts runs.
type Collections interface {
	Start(ctx context.Context, org posture.OrgID, id posture.AccountID, scope posture.RunScope) (posture.Run, error)
}
