package app_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/app"
	"vigil/internal/sim/estate"
)

// TestAgentsAreNotSilentBecauseTheServerWasDown covers a server that was down for an hour: its agents had no chance to
// report before it started.
func TestAgentsAreNotSilentBecauseTheServerWasDown(t *testing.T) {
	t.Parallel()
	const interval = 2 * time.Second
	w := start(t, options{size: tiny(), join: true, estate: func(o *estate.Options) {
		o.GatewayInterval, o.AgentInterval = interval, interval
	}})
	w.status(desktop.KindGateway, "gw1.corp.example", "", "OK")
	w.status(desktop.KindRDSServer, "rds001.corp.example", "state", "AVAILABLE")
	w.status(desktop.KindFarm, "farm-01", "", "OK")
	w.stop()
	w.mu.Lock()
	w.changes = nil
	w.mu.Unlock()
	// The machines do not know the new address of the server and stay silent.
	started := time.Now().Add(time.Hour)
	w.run(options{size: tiny(), app: func(o *app.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	}})
	w.status(desktop.KindGateway, "gw1.corp.example", "", "STALE")
	w.status(desktop.KindRDSServer, "rds001.corp.example", "state", "AGENT_UNREACHABLE")
	w.status(desktop.KindFarm, "farm-01", "", "ERROR")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.changes {
		switch c.Ref.Kind {
		case desktop.KindGateway, desktop.KindRDSServer, desktop.KindFarm:
			if c.At.Before(started.Add(2 * interval)) {
				t.Errorf("%s after the start: %s %q %s>%s", c.At.Sub(started), c.Ref.Name, c.Part, c.From, c.To)
			}
		}
	}
}

// TestOpenAlertContinuesAfterARestart restarts the server while a connection server is down.
func TestOpenAlertContinuesAfterARestart(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	begin("server-down")(w)
	w.status(desktop.KindConnectionServer, peer, "", "NOT_RESPONDING")
	idOf(t, w.expect(201, "POST", "/rest/config/v1/alert-rules", w.login().Access, object{
		"name": "down", "condition": object{"type": "STATUS", "kind": "CONNECTION_SERVER", "statuses": []string{"NOT_RESPONDING"}},
		"channels": []object{{"type": "MAIL", "to": []string{"ops@corp.example"}}},
	}))
	alerts := func() []alert.Alert {
		all, err := w.app.Store().Alerts(t.Context(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	w.until("the alert fires", func() bool { all := alerts(); return len(all) == 1 && all[0].State == alert.Firing })
	before := alerts()
	w.stop()
	w.run(options{size: tiny()})
	w.status(desktop.KindConnectionServer, peer, "", "NOT_RESPONDING")
	time.Sleep(time.Second) // ten evaluations
	if diff := cmp.Diff(before, alerts()); diff != "" {
		t.Fatalf("alerts after the restart (-before +after):\n%s", diff)
	}
	end("server-down")(w)
	w.until("the alert ends", func() bool { all := alerts(); return len(all) == 1 && all[0].State == alert.Resolved })
}
