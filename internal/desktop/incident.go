package desktop

// An Incident is a fault that can be injected into a simulated environment and
// removed again.
type Incident struct {
	Name    string        `json:"name"`
	Group   IncidentGroup `json:"group"`
	Summary string        `json:"summary"`
	Active  bool          `json:"active"` // injected and not removed
}

// An IncidentGroup is a stage of a client's connection.
type IncidentGroup string

// The groups of incidents, in the order in which a connection passes them.
const (
	IncidentGateways          IncidentGroup = "GATEWAYS"
	IncidentConnectionServers IncidentGroup = "CONNECTION_SERVERS"
	IncidentDirectory         IncidentGroup = "DIRECTORY"
	IncidentSignOn            IncidentGroup = "SIGN_ON"
	IncidentFarms             IncidentGroup = "FARMS"
	IncidentVirtualCenters    IncidentGroup = "VIRTUAL_CENTERS"
	IncidentEventDatabase     IncidentGroup = "EVENT_DATABASE" // not on the path of a connection
)
