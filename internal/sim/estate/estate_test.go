package estate_test

import (
	"net/http"
	"testing"

	"vigil/internal/sim/estate"
)

func TestInventoryOfTheDemoIsValid(t *testing.T) {
	t.Parallel()
	e := start(t, estate.Demo())
	inv, err := e.WriteInventory("https://localhost:8444")
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]struct{ got, want int }{
		"domains":            {len(inv.Domains), 4},
		"connection servers": {len(inv.ConnectionServers), 20},
		"farms":              {len(inv.Farms), 50},
		"RDS servers":        {len(inv.RDSServers), 500},
		"gateways":           {len(inv.Gateways), 6},
		"pods":               {len(inv.Pods), 3},
		"virtual centers":    {len(inv.VirtualCenters), 2},
		"connectors":         {len(inv.SSOConnectors), 1},
		"composers":          {len(inv.Composers), 1},
		"SAML":               {len(inv.SAMLAuthenticators), 1},
	} {
		if n.got != n.want {
			t.Errorf("%d %s, want %d", n.got, name, n.want)
		}
	}
}

// TestIncidentsCanOverlap begins every incident before it ends the first.
func TestIncidentsCanOverlap(t *testing.T) {
	t.Parallel()
	e := start(t, estate.Small())
	for _, i := range e.Incidents() {
		if err := e.Begin(i.Name); err != nil {
			t.Errorf("begin %s: %v", i.Name, err)
		}
	}
	for _, i := range e.Incidents() {
		if !i.Active {
			t.Errorf("%s is not active", i.Name)
		}
		if err := e.End(i.Name); err != nil {
			t.Errorf("end %s: %v", i.Name, err)
		}
	}
}

func TestIncidentsCanBeBegunAndEnded(t *testing.T) {
	t.Parallel()
	e := start(t, estate.Small())
	for _, i := range e.Incidents() {
		if err := e.Begin(i.Name); err != nil {
			t.Errorf("begin %s: %v", i.Name, err)
		}
		if err := e.End(i.Name); err != nil {
			t.Errorf("end %s: %v", i.Name, err)
		}
	}
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/incidents", 200},
		{http.MethodPost, "/incidents/gateway-silent", 204},
		{http.MethodDelete, "/incidents/gateway-silent", 204},
		{http.MethodPost, "/incidents/nothing", 404},
	} {
		request, err := http.NewRequestWithContext(t.Context(), tt.method, e.ControlURL()+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, response.StatusCode, tt.want)
		}
	}
}

func start(t *testing.T, size estate.Size) *estate.Estate {
	t.Helper()
	e, err := estate.New(estate.Options{Dir: t.TempDir(), Size: size})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	return e
}
