package api

import (
	"context"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

type (
	discoverIn struct {
		ServiceAccountKey string `json:"serviceAccountKey" required:"true"`
	}
	project struct {
		CreationTime   httpapi.Time      `json:"creationTime"`
		Tags           map[string]string `json:"tags"`
		LifecycleState string            `json:"lifecycleState"`
		Name           string            `json:"name"`
		ProjectID      string            `json:"projectId"`
		ProjectNumber  string            `json:"projectNumber"`
	}
	discovered struct {
		Projects []project `json:"projects"`
	}
)

func projectOf(p posture.Project) project {
	w := project{httpapi.Time{Time: p.Created}, p.Labels, p.State, p.Name, p.ID, p.Number}
	if w.Tags == nil {
		w.Tags = map[string]string{}
	}
	return w
}

func (a *API) discover(ctx context.Context, in discoverIn) (discovered, error) {
	key, problem := posture.ParseServiceAccountKey(in.ServiceAccountKey)
	if problem != "" {
		return discovered{}, fault.Field("serviceAccountKey", "%s", problem)
	}
	found, err := a.Cloud.Discover(ctx, key)
	return discovered{httpapi.Each(found, projectOf)}, err
}
