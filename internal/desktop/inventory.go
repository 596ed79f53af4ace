package desktop

// An Inventory is the configured estate: every component there is to watch.
type Inventory struct {
	Administrators     []AdministratorGroup
	PeerToken          SecretRef // what connection servers show each other
	Policy             Policy
	Domains            []Domain
	ConnectionServers  []ConnectionServer
	EventDatabase      *EventDatabase
	Farms              []Farm
	Gateways           []Gateway
	RDSServers         []RDSServer
	SAMLAuthenticators []SAMLAuthenticator
	Pods               []Pod
	SSOConnectors      []SSOConnector
	Composers          []Composer
	VirtualCenters     []VirtualCenter
}

// An AdministratorGroup is a directory group whose members, also nested ones,
// may log in. It is given by SID, or by name and looked up.
type AdministratorGroup struct {
	DomainID ID
	Name     string
	SID      string
}

// A RefusedInventory says that a new inventory was not taken over.
type RefusedInventory struct {
	At      Millis `json:"at"`
	Message string `json:"message"`
}

// Self returns the connection server that is ourselves, if the inventory has it.
func (inv Inventory) Self() (ConnectionServer, bool) {
	for _, cs := range inv.ConnectionServers {
		if cs.Self {
			return cs, true
		}
	}
	return ConnectionServer{}, false
}
