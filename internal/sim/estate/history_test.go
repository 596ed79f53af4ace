package estate

import (
	"testing"
	"time"

	"vigil/internal/desktop"
)

// historyInventory returns an inventory with every kind that has a history.
func historyInventory() desktop.Inventory {
	inv := desktop.Inventory{
		Domains:           []desktop.Domain{{ID: "d1", DNSName: "corp.example"}, {ID: "d2", DNSName: "lab.example"}},
		ConnectionServers: []desktop.ConnectionServer{{ID: "c1", Name: "cs1"}, {ID: "c2", Name: "cs2"}, {ID: "c3", Name: "cs3"}},
		Gateways:          []desktop.Gateway{{ID: "g1", Name: "gw1"}},
		Farms:             []desktop.Farm{{ID: "f1", Name: "farm", Enabled: true}},
		RDSServers:        []desktop.RDSServer{{ID: "r1", Name: "rds1", FarmID: "f1", Enabled: true}, {ID: "r2", Name: "rds2", FarmID: "f1"}},
		Pods:              []desktop.Pod{{ID: "p1", Name: "pod", Endpoints: []desktop.PodEndpoint{{ID: "e1", Name: "far"}}}},
		Composers:         []desktop.Composer{{ID: "m1", Name: "composer"}},
	}
	return inv
}

// TestHistoryOfAnInventoryWithoutSomeKinds removes the components of one kind after the other.
func TestHistoryOfAnInventoryWithoutSomeKinds(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*desktop.Inventory){
		"domains":            func(inv *desktop.Inventory) { inv.Domains = nil },
		"connection servers": func(inv *desktop.Inventory) { inv.ConnectionServers = nil },
		"gateways":           func(inv *desktop.Inventory) { inv.Gateways = nil },
		"farms":              func(inv *desktop.Inventory) { inv.Farms = nil },
		"RDS servers":        func(inv *desktop.Inventory) { inv.RDSServers = nil },
		"pods":               func(inv *desktop.Inventory) { inv.Pods = nil },
		"pod endpoints":      func(inv *desktop.Inventory) { inv.Pods[0].Endpoints = nil },
		"composers":          func(inv *desktop.Inventory) { inv.Composers = nil },
		"components":         func(inv *desktop.Inventory) { *inv = desktop.Inventory{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inv := historyInventory()
			remove(&inv)
			p := GenerateHistory(inv, time.Date(2026, 11, 16, 23, 30, 0, 0, time.UTC), "http://127.0.0.1/notices")
			if empty := name == "components"; (len(p.Changes) == 0) != empty {
				t.Errorf("%d changes without %s", len(p.Changes), name)
			}
		})
	}
}

func TestHistoryCoversAMonthAndEndsHealthy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 16, 23, 30, 0, 0, time.UTC)
	p := GenerateHistory(historyInventory(), now, "http://127.0.0.1/notices")
	if len(p.Changes) < 50 || len(p.Alerts) < 20 || len(p.Fine) == 0 || len(p.Coarse) == 0 {
		t.Fatalf("%d changes, %d alerts, %d fine and %d coarse samples", len(p.Changes), len(p.Alerts), len(p.Fine), len(p.Coarse))
	}
	last := make(map[string]string)
	for i, c := range p.Changes {
		if i > 0 && c.At.Before(p.Changes[i-1].At) {
			t.Fatal("the changes are not in order")
		}
		if c.At.Before(now.Add(-(HistoryDays+1)*24*time.Hour)) || !c.At.Before(now) {
			t.Errorf("a change at %s, outside of the history", c.At)
		}
		if c.Cause.Kind == "" {
			t.Errorf("%s %q has no cause", c.Ref.Name, c.Part)
		}
		last[string(c.Ref.Kind)+string(c.Ref.ID)+c.Part] = string(desktop.HealthOf(c.Ref.Kind, c.Part, c.To))
	}
	for what, health := range last {
		if health != string(desktop.HealthOK) {
			t.Errorf("%s ends as %s", what, health)
		}
	}
	for _, a := range p.Alerts {
		if a.ResolvedAt.IsZero() || !a.ResolvedAt.After(a.Since) {
			t.Errorf("an alert that was not resolved after it began: %+v", a)
		}
		if created := p.Rules[0].CreatedAt; a.RuleID != p.Rules[0].ID || a.FiredAt.Before(created) {
			t.Errorf("an alert of %s at %s, but the rule is %s and was created at %s", a.RuleID, a.FiredAt, p.Rules[0].ID, created)
		}
	}
	days := make(map[int]bool)
	for _, s := range p.Coarse {
		if s.Series == (desktop.Series{Kind: desktop.KindRDSServer, Measure: "session_count"}) {
			days[s.Point.At.YearDay()] = true
		}
	}
	if len(days) < HistoryDays {
		t.Errorf("sessions of %d days, want %d", len(days), HistoryDays)
	}
}

func TestHistoryHasAnAlertOfTheLastDay(t *testing.T) {
	t.Parallel()
	for hours := 0; hours < 14*24; hours += 5 {
		now := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC).Add(time.Duration(hours) * time.Hour)
		alerts := GenerateHistory(historyInventory(), now, "http://127.0.0.1/notices").Alerts
		if last := alerts[len(alerts)-1].ResolvedAt; now.Sub(last) > 24*time.Hour || last.After(now) {
			t.Errorf("at %s, the last alert was resolved at %s", now, last)
		}
	}
}
