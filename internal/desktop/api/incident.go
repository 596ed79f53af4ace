package api

import (
	"context"

	"vigil/internal/desktop"
	"vigil/internal/httpapi"
)

// IncidentSwitches break and mend what can be made to go wrong in a simulated environment.
type IncidentSwitches interface {
	// Incidents lists them all.
	Incidents() []desktop.Incident

	// Begin lets one happen. It fails with fault.NotFound when there is none of
	// the name.
	Begin(name string) error

	// End mends what one broke.
	End(name string) error
}

// incidentRoutes are there in the demo only.
func (a *API) incidentRoutes() []httpapi.Route {
	if a.Incidents == nil {
		return nil
	}
	const path = "/rest/demo/incidents"
	return []httpapi.Route{
		{Pattern: "GET " + path, Need: viewer, Operation: "listIncidents", Handler: httpapi.JSON(a.listIncidents)},
		{Pattern: "DELETE " + path, Need: admin, Operation: "endAllIncidents", Handler: httpapi.JSON(a.endAllIncidents)},
		{Pattern: "POST " + path + "/{name}", Need: admin, Operation: "beginIncident", Handler: httpapi.JSON(a.beginIncident)},
		{Pattern: "DELETE " + path + "/{name}", Need: admin, Operation: "endIncident", Handler: httpapi.JSON(a.endIncident)},
	}
}

func (a *API) listIncidents(context.Context, httpapi.None) ([]desktop.Incident, error) {
	return a.Incidents.Incidents(), nil
}

type incidentPath struct {
	Name string `path:"name"`
}

func (a *API) beginIncident(_ context.Context, in incidentPath) (httpapi.Reply, error) {
	return httpapi.NoContent(), a.Incidents.Begin(in.Name)
}

func (a *API) endIncident(_ context.Context, in incidentPath) (httpapi.Reply, error) {
	return httpapi.NoContent(), a.Incidents.End(in.Name)
}

func (a *API) endAllIncidents(context.Context, httpapi.None) (httpapi.Reply, error) {
	for _, i := range a.Incidents.Incidents() {
		if !i.Active {
			continue
		}
		if err := a.Incidents.End(i.Name); err != nil {
			return httpapi.Reply{}, err
		}
	}
	return httpapi.NoContent(), nil
}
