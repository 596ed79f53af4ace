package api_test

import (
	"strings"
	"testing"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/desktop/api"
	"vigil/web"
)

func TestRoutesAndDocumentHaveTheSameOperations(t *testing.T) {
	t.Parallel()
	routes := append(api.New(api.Options{Incidents: stubIncidents{}}).Routes(), web.ConfigRoute(nil))
	apitest.Load(t, api.Document).CheckRoutes(t, routes)
}

// stubIncidents makes the API include the routes of the demo. Its methods are not called.
type stubIncidents struct{ api.IncidentSwitches }

func TestIncidentsAreServedByTheDemoOnly(t *testing.T) {
	t.Parallel()
	for _, r := range api.New(api.Options{}).Routes() {
		if strings.Contains(r.Pattern, "/rest/demo") {
			t.Errorf("%s is served outside the demo", r.Pattern)
		}
	}
}
