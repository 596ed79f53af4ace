package meter_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"vigil/internal/desktop"
	"vigil/internal/desktop/meter"
)

type board []desktop.Record

func (b board) Records(k desktop.Kind) []desktop.Record {
	var out []desktop.Record
	for _, r := range b {
		if r.Ref().Kind == k {
			out = append(out, r)
		}
	}
	return out
}

func TestUnknownMeasuresAreOmitted(t *testing.T) {
	t.Parallel()
	host := desktop.RDSServerMonitor{SessionCount: new(int32(7))}
	// The load index is not known.
	if diff := cmp.Diff([]meter.Measure{{Name: "session_count", Value: 7}}, meter.Of(host)); diff != "" {
		t.Error(diff)
	}
	center := desktop.VirtualCenterMonitor{Datastores: []desktop.Datastore{
		{Details: desktop.DatastoreDetails{Name: "a"}, CapacityMB: 200, FreeSpaceMB: 50},
		{Details: desktop.DatastoreDetails{Name: "b"}},
		{Details: desktop.DatastoreDetails{Name: "local", Path: "/A/local"}, FreeSpaceMB: 1},
		{Details: desktop.DatastoreDetails{Name: "local", Path: "/B/local"}, FreeSpaceMB: 2},
	}}
	// Datastores are identified by their paths where a name is not unique. The capacity of b is not known.
	want := []meter.Measure{
		{"desktops_count", "", 0}, {"free_space_mb", "a", 50}, {"free_space_percent", "a", 25}, {"free_space_mb", "b", 0},
		{"free_space_mb", "/A/local", 1}, {"free_space_mb", "/B/local", 2},
	}
	if diff := cmp.Diff(want, meter.Of(center)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryMeasureOfARecordIsRegistered(t *testing.T) {
	t.Parallel()
	n, trip := int32(1), int64(3)
	for _, r := range []desktop.Record{
		desktop.RDSServerMonitor{SessionCount: &n, LoadIndex: &n},
		desktop.ConnectionServerMonitor{ConnectionCount: &n, TunnelCount: &n, Sessions: []desktop.ProtocolSessions{{Protocol: "RDP"}}},
		desktop.GatewayMonitor{ActiveConnections: &n, BlastConnections: &n, PCoIPConnections: &n},
		desktop.FarmMonitor{}, desktop.EventDatabaseMonitor{EventCount: &n},
		desktop.PodMonitor{Endpoints: []desktop.PodEndpointMonitor{{RoundTrip: &trip}}},
		desktop.VirtualCenterMonitor{Datastores: []desktop.Datastore{{CapacityMB: 1}}},
	} {
		for _, m := range meter.Of(r) {
			kind := r.Ref().Kind
			// Ref returns the kind of these records, except of the event database: its Ref is a field, which is empty here.
			if _, isDatabase := r.(desktop.EventDatabaseMonitor); isDatabase {
				kind = desktop.KindEventDatabase
			}
			if !meter.Has(kind, m.Name) {
				t.Errorf("%s has a measure %s that is not registered", kind, m.Name)
			}
		}
	}
}

func TestScrape(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(meter.NewCollector(board{
		desktop.GatewayMonitor{ID: "g1", Name: "edge", Status: desktop.GatewayOK, ActiveConnections: new(int32(5))},
		desktop.ConnectionServerMonitor{
			ID: "c1", Name: "cs1", Status: desktop.ConnectionServerOK,
			Certificate: desktop.Certificate{Valid: true, ValidTo: 1_700_000_000_000},
			// A scrape with two equal series would fail.
			Services: []desktop.Service{{Name: "A", Status: "UP"}, {Name: "A", Status: "UP"}},
		},
	}))
	const want = `
# HELP vigil_desktop_active_connection_count The active connection count of a component.
# TYPE vigil_desktop_active_connection_count gauge
vigil_desktop_active_connection_count{id="g1",kind="GATEWAY",name="edge",part=""} 5
# HELP vigil_desktop_certificate_not_after_timestamp_seconds When a certificate of a component expires.
# TYPE vigil_desktop_certificate_not_after_timestamp_seconds gauge
vigil_desktop_certificate_not_after_timestamp_seconds{id="c1",kind="CONNECTION_SERVER",name="cs1",part=""} 1.7e+09
# HELP vigil_desktop_status Always 1: the label status has the current status of a component or of a part of it.
# TYPE vigil_desktop_status gauge
vigil_desktop_status{id="c1",kind="CONNECTION_SERVER",name="cs1",part="",status="OK"} 1
vigil_desktop_status{id="c1",kind="CONNECTION_SERVER",name="cs1",part="service A",status="UP"} 1
vigil_desktop_status{id="g1",kind="GATEWAY",name="edge",part="",status="OK"} 1
`
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range families {
		if strings.Contains(want, "# TYPE "+f.GetName()+" ") {
			if _, err := expfmt.MetricFamilyToText(&got, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got.String()); diff != "" {
		t.Error(diff)
	}
}
