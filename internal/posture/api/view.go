package api

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	view struct {
		ID             string       `json:"id"`
		Own            bool         `json:"own"` // whether the caller may change it
		Shared         bool         `json:"shared"`
		Name           string       `json:"name"`
		Screen         string       `json:"screen"`
		Query          string       `json:"query"`
		LastUpdateTime httpapi.Time `json:"lastUpdateTime"`
	}
	viewPage struct {
		TotalCount int    `json:"totalCount"`
		Results    []view `json:"results"`
	}
	viewBody struct {
		Shared bool   `json:"shared"`
		Name   string `json:"name" required:"true"`
		Screen string `json:"screen" required:"true"`
		Query  string `json:"query"`
	}
	viewPath struct {
		ID string `path:"view_id"`
	}
	putViewIn struct {
		viewPath
		viewBody
	}
)

// Validate limits the sizes of the members.
func (b viewBody) Validate() error {
	for _, m := range []struct {
		path, value string
		min, max    int
	}{{"name", strings.TrimSpace(b.Name), 1, 100}, {"screen", b.Screen, 1, 100}, {"query", b.Query, 0, 8000}} {
		if len(m.value) < m.min || len(m.value) > m.max {
			return fault.Field(m.path, "must have from %d to %d bytes", m.min, m.max)
		}
	}
	return nil
}

func viewOf(v posture.View, user string) view {
	return view{v.ID, v.Owner == user, v.Shared, v.Name, v.Screen, v.Query, httpapi.Time{Time: v.Updated}}
}

func (a *API) listViews(ctx context.Context, _ httpapi.None) (viewPage, error) {
	user := a.User(ctx)
	all, err := a.Views.Views(ctx, a.Org(ctx), user)
	return viewPage{len(all), httpapi.Each(all, func(v posture.View) view { return viewOf(v, user) })}, err
}

func (a *API) saveView(ctx context.Context, id string, b viewBody) (view, error) {
	v := posture.View{ID: id, Owner: a.User(ctx), Shared: b.Shared, Name: strings.TrimSpace(b.Name), Screen: b.Screen, Query: b.Query, Updated: a.Now()}
	return viewOf(v, v.Owner), a.Views.SaveView(ctx, a.Org(ctx), v)
}

func (a *API) addView(ctx context.Context, in viewBody) (httpapi.Reply, error) {
	v, err := a.saveView(ctx, uuid.NewString(), in)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Created("/v1/views/"+v.ID, "", v), nil
}

// putView replaces a view of the caller.
func (a *API) putView(ctx context.Context, in putViewIn) (view, error) {
	all, err := a.Views.Views(ctx, a.Org(ctx), a.User(ctx))
	if err != nil {
		return view{}, err
	}
	for _, v := range all {
		if v.ID == in.ID && v.Owner == a.User(ctx) {
			return a.saveView(ctx, in.ID, in.viewBody)
		}
	}
	return view{}, fault.New(fault.NotFound, "the view was not found")
}

func (a *API) deleteView(ctx context.Context, in viewPath) (httpapi.Reply, error) {
	return httpapi.NoContent(), a.Views.DeleteView(ctx, a.Org(ctx), a.User(ctx), in.ID)
}

// viewRoutes are the routes of saved views. Every user may have some.
func (a *API) viewRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET /v1/views", Need: viewer, Operation: "listViews", Limited: true, Handler: httpapi.JSON(a.listViews)},
		{Pattern: "POST /v1/views", Need: viewer, Operation: "addView", Limited: true, Handler: httpapi.JSON(a.addView)},
		{Pattern: "PUT /v1/views/{view_id}", Need: viewer, Operation: "putView", Limited: true, Handler: httpapi.JSON(a.putView)},
		{Pattern: "DELETE /v1/views/{view_id}", Need: viewer, Operation: "deleteView", Limited: true, Handler: httpapi.JSON(a.deleteView)},
	}
}
