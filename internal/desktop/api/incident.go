package api

import (
	"context"

	"vigil/internal/desktop"
	"vigil/internal/httpapi"
)

// IncidentSwitches injects faults into a simulated environment and removes
// them.
type IncidentSwitches interface {
	// Incidents returns all incidents.
	Incidents() []desktop.Incident

	// Begin injects the named fault. It fails with fault.NotFound for an unknown
	// name.
	Begin(name string) error

	// End removes the named fault.
	End(name string) error
}

// incidentRoutes returns the routes of incidents, which only the demo has.
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
