package api

import (
	"context"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	// collectionPlan says how often accounts are collected.
	collectionPlan struct {
		EveryHours int  `json:"everyHours"`
		Paused     bool `json:"paused"`
	}

	planIn struct {
		EveryHours int  `json:"everyHours" required:"true"`
		Paused     bool `json:"paused"`
	}

	// collectionSettings are the settings of one account. Null members stand for the
	// values of the organisation's plan.
	collectionSettings struct {
		EveryHours         *int           `json:"everyHours"`
		Paused             *bool          `json:"paused"`
		Regions            []string       `json:"regions"`
		Effective          collectionPlan `json:"effective"`
		NextCollectionTime *httpapi.Time  `json:"nextCollectionTime,omitempty"`
	}

	settingsPath struct {
		AccountID string `path:"cloud_account_id"`
	}
	settingsIn struct {
		settingsPath
		EveryHours httpapi.Optional[int]  `json:"everyHours"`
		Paused     httpapi.Optional[bool] `json:"paused"`
		Regions    []string               `json:"regions" maxItems:"100"`
		IfMatch    httpapi.Match          `header:"If-Match"`
	}
)

func (a *API) getPlan(ctx context.Context, _ struct{}) (collectionPlan, error) {
	p, err := a.Plans.CollectionPlan(ctx, a.Org(ctx))
	return collectionPlan(p), err
}

func (a *API) putPlan(ctx context.Context, in planIn) (collectionPlan, error) {
	p := posture.CollectionPlan(in)
	if err := p.Validate(); err != nil {
		return collectionPlan{}, err
	}
	return collectionPlan(p), a.Plans.SetCollectionPlan(ctx, a.Org(ctx), p)
}

func (a *API) getCollectionSettings(ctx context.Context, in settingsPath) (httpapi.Reply, error) {
	found, err := a.Store.Account(ctx, a.Org(ctx), posture.AccountID(in.AccountID))
	if err != nil {
		return httpapi.Reply{}, err
	}
	return a.settingsOf(ctx, found)
}

func (a *API) putCollectionSettings(ctx context.Context, in settingsIn) (httpapi.Reply, error) {
	id := posture.AccountID(in.AccountID)
	found, err := a.Store.Account(ctx, a.Org(ctx), id)
	if err != nil {
		return httpapi.Reply{}, err
	}
	s := posture.CollectionSettings{Regions: in.Regions}
	if in.EveryHours.Set() {
		// The limits are those of the plan of the organisation.
		if err := (posture.CollectionPlan{EveryHours: in.EveryHours.Value}).Validate(); err != nil {
			return httpapi.Reply{}, err
		}
		s.EveryHours = in.EveryHours.Value
	}
	if in.Paused.Set() {
		s.Paused = &in.Paused.Value
	}
	if s, err = s.Normalized(found.Provider); err != nil {
		return httpapi.Reply{}, err
	}
	changed, err := a.Plans.SetCollection(ctx, a.Org(ctx), id, s, in.IfMatch.Versions())
	if err != nil {
		return httpapi.Reply{}, err
	}
	return a.settingsOf(ctx, changed)
}

// settingsOf returns the collection settings of an account with the plan that results
// from them.
func (a *API) settingsOf(ctx context.Context, account posture.Account) (httpapi.Reply, error) {
	plan, err := a.Plans.CollectionPlan(ctx, a.Org(ctx))
	if err != nil {
		return httpapi.Reply{}, err
	}
	schedules, err := a.Runs.Schedules(ctx, a.Org(ctx), account.ID)
	if err != nil {
		return httpapi.Reply{}, err
	}
	w := collectionSettings{
		Paused: account.Collection.Paused, Regions: account.Collection.Regions, Effective: collectionPlan(account.Collection.Plan(plan)),
		NextCollectionTime: optionalTime(schedules[account.ID].Next),
	}
	if w.Regions == nil {
		w.Regions = []string{}
	}
	if account.Collection.EveryHours != 0 {
		w.EveryHours = &account.Collection.EveryHours
	}
	return httpapi.Tagged(account.ETag, w), nil
}
