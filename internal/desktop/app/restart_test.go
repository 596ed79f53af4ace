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
			if c.At.Before(started.Add(2 * interval)) { // an agent is silent after two intervals without a report
				t.Errorf("%s after the start: %s %q %s>%s", c.At.Sub(started), c.Ref.Name, c.Part, c.From, c.To)
			}
		}
	}
}

// TestStableStatusesContinueAfterARestart covers components whose last change is older than the history: a restart must not
// report their statuses as new.
func TestStableStatusesContinueAfterARestart(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	since := func() (at desktop.Millis) {
		w.status(desktop.KindConnectionServer, peer, "", "OK")
		w.until("the connection server was checked", func() bool {
			at = w.record(desktop.KindConnectionServer, peer).Fresh().Since
			return at != 0
		})
		return at
	}
	before := since()
	// The history also forgets the last status of a component that is not in the inventory. When this
	// change is gone, the old changes of the other components are gone too.
	removed := desktop.Change{At: time.Now().Add(-time.Hour), Ref: desktop.Ref{Kind: desktop.KindGateway, ID: "removed", Name: "removed"}, To: "OK"}
	if err := w.app.Store().AppendChanges(t.Context(), []desktop.Change{removed}); err != nil {
		t.Fatal(err)
	}
	w.stop()
	w.run(options{size: tiny(), app: func(o *app.Options) { o.HistoryKept = time.Nanosecond }})
	w.until("old changes are forgotten", func() bool {
		page, _, err := w.app.Store().Changes(t.Context(), desktop.ChangeFilter{ID: removed.Ref.ID})
		return err == nil && len(page) == 0
	})
	w.stop()
	w.mu.Lock()
	last := map[string]string{} // the last status by component and part
	unchanged := true           // the status of the peer has not changed since it was read above
	for _, c := range w.changes {
		last[c.Ref.Name+" "+c.Part] = c.To
		unchanged = unchanged && (c.Ref.Name != peer || c.At.UnixMilli() <= int64(before))
	}
	w.changes = nil
	w.mu.Unlock()
	w.run(options{size: tiny()})
	got := since()
	w.mu.Lock()
	defer w.mu.Unlock()
	// On a machine that stalls, probes fail: a status may change, but it must change from the last one.
	for _, c := range w.changes {
		if c.Ref.Kind != desktop.KindConnectionServer {
			continue
		}
		name := c.Ref.Name + " " + c.Part
		if c.From != last[name] {
			t.Errorf("the restart changed %s: %s>%s, and it was %s", name, c.From, c.To, last[name])
		}
		last[name] = c.To
		unchanged = unchanged && c.Ref.Name != peer
	}
	if unchanged && got != before {
		t.Errorf("the connection server is OK since %d, want %d as before the restart", got, before)
	}
}

// TestOpenAlertContinuesAfterARestart restarts the server while a connection server is down.
func TestOpenAlertContinuesAfterARestart(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	begin("server-down")(w)
	w.status(desktop.KindConnectionServer, peer, "", "NOT_RESPONDING")
	w.expect(201, "POST", "/rest/config/v1/alert-rules", w.login().Access, object{
		"name": "down", "condition": object{"type": "STATUS", "kind": "CONNECTION_SERVER", "statuses": []string{"NOT_RESPONDING"}},
		"channels": []object{{"type": "MAIL", "to": []string{"ops@corp.example"}}},
	})
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
