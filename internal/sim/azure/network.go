package azure

import (
	"fmt"

	"vigil/internal/sim/world"
)

const (
	vnets      = "Microsoft.Network/virtualNetworks"
	subnets    = vnets + "/subnets"
	peerings   = vnets + "/virtualNetworkPeerings"
	interfaces = "Microsoft.Network/networkInterfaces"
	publicIPs  = "Microsoft.Network/publicIPAddresses"
	nsgs       = "Microsoft.Network/networkSecurityGroups"
	asgs       = "Microsoft.Network/applicationSecurityGroups"
	routes     = "Microsoft.Network/routeTables"
	watchers   = "Microsoft.Network/networkWatchers"
	flowLogs   = watchers + "/flowLogs"
)

// subnetsEach is the number of subnets of a network. The last subnet of each network has no
// security group.
const subnetsEach = 3

var networkKinds = []*kind{
	{
		typ: "Azure.Network.VirtualNetwork", arm: vnets, prefix: "vnet-",
		count:  func(a address) int { return max(2, a.permille(5)) },
		embeds: map[string]string{"subnets": subnets, "virtualNetworkPeerings": peerings},
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj(
				"provisioningState", "Succeeded", "addressSpace", world.Obj("addressPrefixes", world.Items(fmt.Sprintf("10.%d.0.0/16", a.i%250))), "enableDdosProtection", a.i%4 == 0,
			))
		},
	},
	{
		typ: "Azure.Network.Subnet", arm: subnets, prefix: "snet-", in: vnets,
		count: func(address) int { return subnetsEach },
		body: func(a address) world.Object {
			p := world.Obj("provisioningState", "Succeeded", "addressPrefix", fmt.Sprintf("10.%d.%d.0/24", a.parent[0].i%250, a.i), "privateEndpointNetworkPolicies", "Disabled",
				"serviceEndpoints", world.Items(world.Obj("service", "Microsoft.Storage")))
			if a.i < subnetsEach-1 {
				p = p.With("networkSecurityGroup", reference(a.ref(nsgs, a.guard(a.parent[0].i*subnetsEach+a.i)))).With("routeTable", reference(a.ref(routes, a.parent[0].i%a.countOf(routes))))
			}
			return world.Obj("properties", p)
		},
	},
	{
		typ: "Azure.Network.VirtualNetworkPeering", arm: peerings, prefix: "peer-", in: vnets,
		count: func(a address) int { return 1 },
		body: func(a address) world.Object {
			return world.Obj("properties", world.Obj("peeringState", "Connected", "allowVirtualNetworkAccess", true, "allowForwardedTraffic", a.parent[0].i%2 == 0,
				"remoteVirtualNetwork", reference(a.ref(vnets, (a.parent[0].i+1)%a.countOf(vnets)))))
		},
	},
	{
		typ: "Azure.Network.NetworkInterface", arm: interfaces, prefix: "nic-",
		count: func(a address) int { return a.countOf(machines) },
		body:  interfaceBody,
	},
	{
		typ: "Azure.Network.PublicIPAddress", arm: publicIPs, prefix: "pip-",
		count: func(a address) int { return a.machinesWithRole() + len(extraIPUsers) },
		body: func(a address) world.Object {
			p := world.Obj("publicIPAllocationMethod", "Static", "ipAddress", fmt.Sprintf("20.%d.%d.%d", a.sub.number%200, a.i/250, 1+a.i%250))
			switch {
			case a.i >= a.machinesWithRole():
				p = p.With("ipConfiguration", reference(a.ref(extraIPUsers[a.i-a.machinesWithRole()], 0)+"/frontendIPConfigurations/front"))
			case a.peer(machines, a.i).isReachable():
				p = p.With("ipConfiguration", reference(a.ref(interfaces, a.i)+"/ipConfigurations/ipconfig1"))
			}
			return a.resource("sku", world.Obj("name", "Standard"), "properties", p)
		},
	},
	{
		typ: "Azure.Network.NetworkSecurityGroup", arm: nsgs, prefix: "nsg-",
		count: func(a address) int { return max(6, a.permille(20)) },
		body:  nsgBody,
	},
	{
		typ: "Azure.Network.ApplicationSecurityGroup", arm: asgs, prefix: "asg-",
		count: func(address) int { return 1 },
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("provisioningState", "Succeeded"))
		},
	},
	{
		typ: "Azure.Network.RouteTable", arm: routes, prefix: "rt-",
		count: func(a address) int { return max(1, a.permille(3)) },
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("disableBgpRoutePropagation", false,
				"routes", world.Items(world.Obj("name", "out", "properties", world.Obj("addressPrefix", "0.0.0.0/0", "nextHopType", "Internet")))))
		},
	},
	{
		typ: "Azure.Network.NetworkWatcher", arm: watchers, where: inWatcherGroup,
		names: func(a address) []string {
			var names []string
			for i, location := range a.locations()[:usedLocations] {
				a.i = i
				if !a.violates("azure-network-watcher") {
					names = append(names, "NetworkWatcher_"+location)
				}
			}
			return names
		},
		body: func(a address) world.Object {
			return world.Obj("location", a.name()[len("NetworkWatcher_"):], "properties", world.Obj("provisioningState", "Succeeded", "runningOperationCount", 0))
		},
	},
	{
		typ: "Azure.Network.FlowLog", arm: flowLogs, prefix: "flow-", in: watchers,
		count: func(a address) int { return min(5, a.countOf(nsgs)) },
		body: func(a address) world.Object {
			// A log that violates the rule is kept too short if its number is odd, else it is off.
			bad := a.violates("azure-nsg-flow-log-retention")
			days := 0
			if bad && a.i%2 == 1 {
				days = 30
			}
			return world.Obj("location", a.enclosing().name()[len("NetworkWatcher_"):], "properties", world.Obj(
				"targetResourceId", a.ref(nsgs, a.i), "storageId", a.ref(storage, 0), "enabled", !bad || a.i%2 == 1,
				"retentionPolicy", world.Obj("days", days, "enabled", days > 0), "format", world.Obj("type", "JSON", "version", 2),
			))
		},
	},
}

// guard returns the number of the security group of the i-th interface or
// subnet. Subnets are numbered across networks. The first group is for web servers.
func (a address) guard(i int) int { return 1 + i%(a.countOf(nsgs)-1) }

func interfaceBody(a address) world.Object {
	vm := a.peer(machines, a.i)
	vnet := a.i % a.countOf(vnets)
	config := world.Obj("privateIPAddress", fmt.Sprintf("10.%d.%d.%d", vnet%250, a.i%subnetsEach, 4+a.i/subnetsEach%240), "primary", true,
		"subnet", reference(a.ref(vnets, vnet)+"/subnets/"+fmt.Sprintf("snet-%05d", a.i%subnetsEach)))
	if vm.isReachable() {
		config = config.With("publicIPAddress", reference(a.ref(publicIPs, a.i)))
	}
	return a.resource("properties", world.Obj(
		"provisioningState", "Succeeded", "enableIPForwarding", false, "macAddress", "00-0D-3A-"+a.seed("mac").Hex(2)+"-"+a.seed("mac").Hex(4)[2:]+"-01",
		"ipConfigurations", world.Items(world.Obj("name", "ipconfig1", "properties", config)),
		"networkSecurityGroup", reference(a.ref(nsgs, vm.guardedBy())), "virtualMachine", reference(vm.id()),
	))
}

// guardedBy returns the number of the security group of a machine's interface.
func (a address) guardedBy() int {
	if a.isExposed() {
		return 0
	}
	return a.guard(a.i)
}

func nsgBody(a address) world.Object {
	var rules []any
	add := func(priority int, access, protocol, source, ports string) {
		rules = append(rules, world.Obj("name", fmt.Sprintf("rule-%d", priority), "properties", world.Obj(
			"priority", priority, "direction", "Inbound", "access", access, "protocol", protocol, "sourceAddressPrefix", source, "sourcePortRange", "*",
			"destinationAddressPrefix", "*", "destinationPortRange", ports)))
	}
	if a.i == 0 {
		add(100, "Allow", "Tcp", "Internet", "443")
	} else {
		add(100, "Allow", "Tcp", "10.0.0.0/8", "22")
		if a.violates("azure-nsg-ssh-open") {
			add(200, "Allow", "Tcp", world.PickOne(a.seed("source"), "*", "0.0.0.0/0", "Internet"), world.PickOne(a.seed("ports"), "22", "20-30"))
		} else if a.i%3 == 0 { // an earlier rule denies what a later one allows
			add(190, "Deny", "*", "*", "22")
			add(200, "Allow", "Tcp", "*", "22")
		}
		if a.violates("azure-nsg-rdp-open") {
			add(300, "Allow", "Tcp", "*", world.PickOne(a.seed("ports"), "3389", "3000-4000"))
		}
		if a.violates("azure-nsg-udp-open") {
			add(400, "Allow", "Udp", "Internet", "53")
		}
	}
	return a.resource("properties", world.Obj("provisioningState", "Succeeded", "securityRules", rules,
		"networkInterfaces", a.guardedInterfaces(), "subnets", a.guardedSubnets()))
}

// guardedInterfaces returns the interfaces of the machines for which guardedBy returns this
// group.
func (a address) guardedInterfaces() []any {
	var ids []any
	if a.i == 0 {
		for v := range a.machinesWithRole() {
			if a.peer(machines, v).isExposed() {
				ids = append(ids, reference(a.ref(interfaces, v)))
			}
		}
		return ids
	}
	for v := a.i - 1; v < a.countOf(interfaces); v += a.countOf(nsgs) - 1 {
		if !a.peer(machines, v).isExposed() {
			ids = append(ids, reference(a.ref(interfaces, v)))
		}
	}
	return ids
}

// guardedSubnets returns the subnets for which guard returns this group, without the last one
// of each network.
func (a address) guardedSubnets() []any {
	var ids []any
	if a.i == 0 {
		return nil
	}
	for n := a.i - 1; n < a.countOf(vnets)*subnetsEach; n += a.countOf(nsgs) - 1 {
		if n%subnetsEach < subnetsEach-1 {
			ids = append(ids, reference(a.ref(vnets, n/subnetsEach)+"/subnets/"+fmt.Sprintf("snet-%05d", n%subnetsEach)))
		}
	}
	return ids
}
