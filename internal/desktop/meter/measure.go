// Package meter converts monitor records to numbers: the measures of alert
// rules, and the metrics for Prometheus.
package meter

import (
	"slices"
	"strings"

	"vigil/internal/desktop"
)

// A Measure is one number of a record.
type Measure struct {
	Name  string // such as session_count
	Part  string // empty for the component itself
	Value int64
}

// names maps every measure to the kinds that have it.
var names = map[string][]desktop.Kind{
	"session_count":           {desktop.KindRDSServer, desktop.KindConnectionServer, desktop.KindFarm},
	"load_index":              {desktop.KindRDSServer, desktop.KindFarm},
	"connection_count":        {desktop.KindConnectionServer},
	"tunnel_connection_count": {desktop.KindConnectionServer},
	"active_connection_count": {desktop.KindGateway},
	"blast_connection_count":  {desktop.KindGateway},
	"pcoip_connection_count":  {desktop.KindGateway},
	"application_count":       {desktop.KindFarm},
	"rds_server_count":        {desktop.KindFarm},
	"event_count":             {desktop.KindEventDatabase},
	"roundtrip_time":          {desktop.KindPod},
	"desktops_count":          {desktop.KindVirtualCenter},
	"free_space_mb":           {desktop.KindVirtualCenter},
	"free_space_percent":      {desktop.KindVirtualCenter},
}

// Names returns the names of all measures.
func Names() []string {
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// Has reports whether components of a kind have a measure.
func Has(k desktop.Kind, name string) bool { return slices.Contains(names[name], k) }

// Of returns the measures of a record whose values are known.
func Of(r desktop.Record) []Measure {
	var m measures
	switch r := r.(type) {
	case desktop.RDSServerMonitor:
		m.add("session_count", "", r.SessionCount)
		m.add("load_index", "", r.LoadIndex)
	case desktop.ConnectionServerMonitor:
		m.add("connection_count", "", r.ConnectionCount)
		m.add("tunnel_connection_count", "", r.TunnelCount)
		for _, s := range r.Sessions {
			m.add("session_count", strings.ToLower(string(s.Protocol)), &s.Count)
		}
	case desktop.GatewayMonitor:
		m.add("active_connection_count", "", r.ActiveConnections)
		m.add("blast_connection_count", "", r.BlastConnections)
		m.add("pcoip_connection_count", "", r.PCoIPConnections)
	case desktop.FarmMonitor:
		m.add("application_count", "", &r.ApplicationCount)
		m.add("rds_server_count", "", &r.RDSServerCount)
		m.add("session_count", "", &r.SessionCount)
		m.add("load_index", "", r.LoadIndex)
	case desktop.EventDatabaseMonitor:
		m.add("event_count", "", r.EventCount)
	case desktop.PodMonitor:
		for _, e := range r.Endpoints {
			if e.RoundTrip != nil {
				m = append(m, Measure{"roundtrip_time", e.Name, *e.RoundTrip})
			}
		}
	case desktop.VirtualCenterMonitor:
		m.add("desktops_count", "", &r.DesktopsCount)
		for i, name := range r.DatastoreNames() {
			d := r.Datastores[i]
			m.add("free_space_mb", name, &d.FreeSpaceMB)
			if d.CapacityMB > 0 {
				percent := int32(int64(d.FreeSpaceMB) * 100 / int64(d.CapacityMB))
				m.add("free_space_percent", name, &percent)
			}
		}
	}
	return m
}

type measures []Measure

func (m *measures) add(name, part string, value *int32) {
	if value != nil {
		*m = append(*m, Measure{name, part, int64(*value)})
	}
}
