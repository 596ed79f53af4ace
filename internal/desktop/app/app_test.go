package app_test

import (
	"net/http"
	"strings"
	"testing"

	"vigil/internal/desktop"
	"vigil/internal/sim/estate"
	"vigil/internal/sqldb/dbtest"
)

func TestHealthyEnvironmentHasNoProblems(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small(), join: true})
	token := w.login()
	w.until("every gateway and RDS server has reported", func() bool {
		for _, kind := range []desktop.Kind{desktop.KindGateway, desktop.KindRDSServer, desktop.KindFarm} {
			for _, r := range w.app.Board().Records(kind) {
				if r.Statuses()[0].Status != "OK" {
					return false
				}
			}
		}
		return true
	})
	for _, kind := range []desktop.Kind{
		desktop.KindDomain, desktop.KindConnectionServer, desktop.KindSAMLAuthenticator, desktop.KindPod,
		desktop.KindSSOConnector, desktop.KindComposer, desktop.KindVirtualCenter,
	} {
		w.until("no reasons: "+string(kind), func() bool {
			records := w.app.Board().Records(kind)
			for _, r := range records {
				if reasons := r.Fresh().Reasons; len(reasons) > 0 {
					t.Logf("%v: %q", r.Ref(), reasons)
					return false
				}
			}
			return len(records) > 0
		})
	}
	if got := w.call(http.MethodGet, "/rest/monitor/rds-servers", token.Access, nil); got.status != 200 {
		t.Errorf("records of RDS servers: status %d, %.200q; want 200", got.status, got.body)
	}
}

func TestOnPostgreSQL(t *testing.T) {
	t.Parallel()
	database := dbtest.Postgres(t)
	w := start(t, options{size: tiny(), database: database, join: true})
	token := w.login().Access
	w.status(desktop.KindGateway, "gw1.corp.example", "", "OK")
	sid := w.app.Board().Domains()[0].ID
	const path = "/rest/config/v1/ic-domain-accounts"
	id := idOf(t, w.expect(201, "POST", path, token, object{"ad_domain_id": sid, "username": "admin", "password": w.estate.Admin.Password}))
	w.expect(204, "DELETE", path+"/"+id, token, nil)
	w.estate.Gateways[0].SetProblems("a problem")
	w.status(desktop.KindGateway, "gw1.corp.example", "", "PROBLEM")
	w.until("the history has the change", func() bool {
		return strings.Contains(string(w.expect(200, "GET", "/rest/monitor/history", token, nil).body), "PROBLEM")
	})
}
