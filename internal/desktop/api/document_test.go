package api_test

import (
	"strings"
	"testing"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/desktop/api"
	"vigil/web"
)

func TestRoutesAndDocumentNameTheSameOperations(t *testing.T) {
	t.Parallel()
	routes := append(api.New(api.Options{Incidents: noIncidents{}}).Routes(), web.ConfigRoute(nil))
	apitest.Load(t, api.Document).CheckRoutes(t, routes)
}

// noIncidents makes an API that has the routes of the demo too.
type noIncidents struct{ api.IncidentSwitches }

func TestIncidentsAreServedByTheDemoOnly(t *testing.T) {
	t.Parallel()
	for _, r := range api.New(api.Options{}).Routes() {
		if strings.Contains(r.Pattern, "/rest/demo") {
			t.Errorf("%s is served outside the demo", r.Pattern)
		}
	}
}
