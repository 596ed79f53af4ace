package desktop

// An Incident is something that can be made to go wrong in a simulated
// environment, and be mended again.
type Incident struct {
	Name    string        `json:"name"`
	Group   IncidentGroup `json:"group"`
	Summary string        `json:"summary"`
	Active  bool          `json:"active"` // it has begun and was not mended
}

// An IncidentGroup is a stage on the way of a connection.
type IncidentGroup string

// The groups of incidents, in the order of a connection.
const (
	IncidentGateways          IncidentGroup = "GATEWAYS"
	IncidentConnectionServers IncidentGroup = "CONNECTION_SERVERS"
	IncidentDirectory         IncidentGroup = "DIRECTORY"
	IncidentSignOn            IncidentGroup = "SIGN_ON"
	IncidentFarms             IncidentGroup = "FARMS"
	IncidentVirtualCenters    IncidentGroup = "VIRTUAL_CENTERS"
)
