package gcp

import (
	"fmt"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

const (
	networkType  posture.EntityType = "GCP.Compute.Network"
	subnetType   posture.EntityType = "GCP.Compute.Subnetwork"
	routeType    posture.EntityType = "GCP.Compute.Route"
	routerType   posture.EntityType = "GCP.Compute.Router"
	firewallType posture.EntityType = "GCP.Compute.Firewall"
	addressType  posture.EntityType = "GCP.Compute.Address"
	vpnType      posture.EntityType = "GCP.Compute.VpnGateway"
	tunnelType   posture.EntityType = "GCP.Compute.VpnTunnel"
)

func (a address) networks() int { return min(a.scaled(10, 3), 15) }

// subnetOf returns the number of the subnetwork of a network in a region: every
// network has one in each.
func (a address) subnetOf(network, region int) int { return network*len(regions) + region }

var networkKinds = []*kind{
	{
		typ: networkType, service: "compute", collection: "networks", where: computeGlobal,
		names: func(a address) []string {
			all := make([]string, a.networks())
			for i := range all {
				all[i] = fmt.Sprintf("vpc-%05d", i)
			}
			// The names must not depend on the number of the resource.
			if (address{Cloud: a.Cloud, k: a.k, project: a.project}).violates("gcp-default-network") {
				all[0] = "default"
			}
			return all
		},
		body: func(a address) world.Object {
			var peers, legacy any
			if a.i == 2 {
				legacy = "10.240.0.0/16"
			}
			if a.i == 1 {
				peers = world.Items(world.Obj("name", "to-first", "network", a.ref(networkType, 0), "state", "ACTIVE", "autoCreateRoutes", true))
			}
			return world.Obj("autoCreateSubnetworks", a.name() == "default", "mtu", 1460, "routingConfig", world.Obj("routingMode", "REGIONAL"), "peerings", peers, "IPv4Range", legacy,
				"subnetworks", world.Each(len(regions), func(r int) string { return a.ref(subnetType, a.subnetOf(a.i, r)) }))
		},
	},
	{
		typ: subnetType, service: "compute", collection: "subnetworks", where: computeRegion, prefix: "subnet-",
		count: func(a address) int { return a.networks() * len(regions) },
		body: func(a address) world.Object {
			purpose, logged := "PRIVATE", any(world.Obj("enable", true, "aggregationInterval", "INTERVAL_5_SEC", "flowSampling", 1.0, "metadata", "INCLUDE_ALL_METADATA", "filterExpr", "true"))
			if a.i == 3 {
				purpose, logged = "REGIONAL_MANAGED_PROXY", nil
			} else if a.violates("gcp-subnet-flow-logs") {
				logged = nil
				if a.i%2 == 0 {
					logged = world.Obj("enable", false)
				}
			}
			return world.Obj("network", a.ref(networkType, a.i/len(regions)), "region", computeBase+"projects/"+a.project.ID+"/regions/"+a.location(),
				"ipCidrRange", fmt.Sprintf("10.%d.0.0/20", a.i&255), "gatewayAddress", fmt.Sprintf("10.%d.0.1", a.i&255), "purpose", purpose, "logConfig", logged,
				"privateIpGoogleAccess", a.i%2 == 0, "stackType", "IPV4_ONLY", "secondaryIpRanges", world.Items(world.Obj("rangeName", "pods", "ipCidrRange", fmt.Sprintf("10.%d.128.0/20", a.i&255))))
		},
	},
	{
		typ: routeType, service: "compute", collection: "routes", where: computeGlobal, prefix: "route-",
		count: func(a address) int { return a.networks() * 2 },
		body: func(a address) world.Object {
			network := a.ref(networkType, a.i/2)
			if a.i%2 == 0 {
				return world.Obj("network", network, "destRange", "0.0.0.0/0", "priority", 1000, "nextHopGateway", computeBase+"projects/"+a.project.ID+"/global/gateways/default-internet-gateway")
			}
			if a.i == 1 {
				return world.Obj("network", network, "destRange", "192.168.0.0/16", "priority", 100, "nextHopVpnTunnel", a.ref(tunnelType, 0), "tags", world.Items("office"))
			}
			return world.Obj("network", network, "destRange", fmt.Sprintf("10.%d.0.0/16", a.i&255), "priority", 0, "nextHopNetwork", network)
		},
	},
	{
		typ: routerType, service: "compute", collection: "routers", where: computeRegion, prefix: "router-",
		count: func(a address) int { return len(regions) },
		body: func(a address) world.Object {
			return world.Obj("network", a.ref(networkType, 0), "region", computeBase+"projects/"+a.project.ID+"/regions/"+a.location(), "bgp", world.Obj("asn", 64512+a.i, "advertiseMode", "DEFAULT"),
				"bgpPeers", world.Items(world.Obj("name", "office", "peerAsn", 64600, "peerIpAddress", "169.254.0.2")),
				"nats", world.Items(world.Obj("name", "nat", "natIpAllocateOption", "AUTO_ONLY", "sourceSubnetworkIpRangesToNat", "LIST_OF_SUBNETWORKS", "logConfig", world.Obj("enable", a.i == 0, "filter", "ALL"),
					"subnetworks", world.Items(world.Obj("name", a.ref(subnetType, a.subnetOf(0, a.i)), "sourceIpRangesToNat", world.Items("ALL_IP_RANGES"))))))
		},
	},
	{
		typ: firewallType, service: "compute", collection: "firewalls", where: computeGlobal, prefix: "fw-",
		count: func(a address) int { return a.scaled(60, 9) }, body: firewall,
	},
	{
		typ: addressType, service: "compute", collection: "addresses", where: computeMixed, prefix: "ip-",
		count: func(a address) int { return a.scaled(20, 4) },
		body: func(a address) world.Object {
			o := world.Obj("address", publicIP(104, a.i), "addressType", "EXTERNAL", "networkTier", "PREMIUM", "status", "RESERVED", "labels", a.labels())
			if a.i%3 == 1 {
				return world.Obj("address", "10.0.9.9", "addressType", "INTERNAL", "status", "RESERVED", "purpose", "GCE_ENDPOINT", "network", a.ref(networkType, 0),
					"subnetwork", a.ref(subnetType, a.subnetOf(0, a.i%len(regions))))
			}
			if a.i < a.countOf(forwardingType) && a.i%3 == 0 { // the forwarding rule of this number has this address
				return o.With("status", "IN_USE").With("users", world.Items(a.ref(forwardingType, a.i)))
			}
			return o
		},
	},
	{
		typ: vpnType, service: "compute", collection: "vpnGateways", where: computeRegion, prefix: "vpn-",
		count: func(address) int { return 1 },
		body: func(a address) world.Object {
			return world.Obj("network", a.ref(networkType, 0), "region", computeBase+"projects/"+a.project.ID+"/regions/"+a.location(), "stackType", "IPV4_ONLY",
				"vpnInterfaces", world.Items(world.Obj("id", 0, "ipAddress", "35.1.1.1"), world.Obj("id", 1, "ipAddress", "35.1.1.2")))
		},
	},
	{
		typ: tunnelType, service: "compute", collection: "vpnTunnels", where: computeRegion, prefix: "tunnel-",
		count: func(address) int { return 2 },
		body: func(a address) world.Object {
			return world.Obj("status", "ESTABLISHED", "peerIp", "203.0.113.9", "ikeVersion", 1+a.i, "vpnGateway", a.ref(vpnType, 0), "peerGcpGateway", a.ref(vpnType, 0), "router", a.ref(routerType, 0),
				"sharedSecret", "*************", "sharedSecretHash", "simulated-tunnel-secret-hash", "region", computeBase+"projects/"+a.project.ID+"/regions/"+a.location())
		},
	},
}

// firewall generates a firewall rule. Some look open but are not: they are
// disabled, for egress, or for ports that may be open.
func firewall(a address) world.Object {
	protocol, ports, sources := "tcp", []string{"443"}, []string{"10.0.0.0/8"}
	o := world.Obj("network", a.ref(networkType, a.i%a.networks()), "direction", "INGRESS", "priority", 1000, "disabled", false, "logConfig", world.Obj("enable", a.i%2 == 0))
	switch {
	case a.i%9 == 7:
		return append(o.With("disabled", true), world.Obj("sourceRanges", world.Items("0.0.0.0/0"), "allowed", world.Items(world.Obj("IPProtocol", "all")))...)
	case a.i%9 == 5:
		return append(o, world.Obj("sourceTags", world.Items("app"), "sourceServiceAccounts", world.Items(a.email(0)), "allowed", world.Items(world.Obj("IPProtocol", "icmp")))...)
	case a.i%9 == 6:
		return append(o.With("direction", "EGRESS"), world.Obj("destinationRanges", world.Items("0.0.0.0/0"), "allowed", world.Items(world.Obj("IPProtocol", "tcp", "ports", world.Items("443"))))...)
	case a.i%9 == 8:
		return append(o.With("direction", "EGRESS"), world.Obj("destinationRanges", world.Items("0.0.0.0/0"), "denied", world.Items(world.Obj("IPProtocol", "tcp", "ports", world.Items("25"))))...)
	case a.violates("gcp-fw-all-open"):
		protocol, ports, sources = "all", nil, []string{"0.0.0.0/0"}
		if a.i%2 == 1 {
			protocol, ports = "tcp", []string{"0-65535"}
		}
	case a.violates("gcp-fw-ssh-open"):
		ports, sources = []string{world.PickOne(a.seed("ssh"), "22", "20-25")}, []string{world.PickOne(a.seed("from"), "0.0.0.0/0", "::/0")}
	case a.violates("gcp-fw-rdp-open"):
		ports, sources = []string{"443", "3389"}, []string{"10.0.0.0/8", "0.0.0.0/0"}
	case a.i%3 == 0:
		sources = []string{"0.0.0.0/0"} // a web server may be open
	}
	allowed := world.Obj("IPProtocol", protocol)
	if len(ports) > 0 {
		allowed = append(allowed, world.Field{Name: "ports", Value: world.Items(ports...)})
	}
	o = append(o, world.Obj("sourceRanges", world.Items(sources...), "allowed", world.Items(allowed))...)
	switch a.i % 4 {
	case 1:
		return append(o, world.Obj("targetTags", world.Items("web"))...)
	case 2:
		return append(o, world.Obj("targetServiceAccounts", world.Items(a.email(a.i%a.accounts())))...)
	}
	return o
}
