package demo

import (
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sim/estate"
	"vigil/internal/sqldb/dbtest"
)

func TestDesktopHistoryHasItsAlerts(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t))
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	s := store.New(db, secrettest.NewBox(t), func() time.Time { return now })
	inventory := desktop.Inventory{
		Domains:  []desktop.Domain{{ID: "d1", DNSName: "corp.example"}},
		Gateways: []desktop.Gateway{{ID: "g1", Name: "gw1"}},
		Farms:    []desktop.Farm{{ID: "f1", Name: "farm", Enabled: true}},
	}
	history := estate.GenerateHistory(inventory, now, "http://127.0.0.1/notices")
	for range 2 { // the second time, it is stored already
		if err := storeHistory(t.Context(), s, history); err != nil {
			t.Fatal(err)
		}
	}
	alerts, err := s.Alerts(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(history.Alerts) == 0 || len(alerts) != len(history.Alerts) {
		t.Errorf("%d alerts are stored, want the %d of the history", len(alerts), len(history.Alerts))
	}
}
