package desktop

// An Inventory is the configuration of all components to monitor.
type Inventory struct {
	Administrators     []AdministratorGroup
	PeerToken          SecretRef // token that connection servers authenticate to each other with
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

// An AdministratorGroup is a directory group whose direct and nested members
// may log in. It is given by SID, or by name, which is looked up.
type AdministratorGroup struct {
	DomainID ID
	Name     string
	SID      string
}

// A RefusedInventory describes why a new inventory was refused.
type RefusedInventory struct {
	At      Millis `json:"at"`
	Message string `json:"message"`
}

// Self returns the connection server that represents this server. It returns
// false if the inventory has none.
func (inv Inventory) Self() (ConnectionServer, bool) {
	for _, cs := range inv.ConnectionServers {
		if cs.Self {
			return cs, true
		}
	}
	return ConnectionServer{}, false
}
