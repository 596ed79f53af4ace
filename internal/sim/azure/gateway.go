package azure

import (
	"vigil/internal/sim/world"
)

const (
	loadBalancers       = "Microsoft.Network/loadBalancers"
	applicationGateways = "Microsoft.Network/applicationGateways"
	firewalls           = "Microsoft.Network/azureFirewalls"
	bastions            = "Microsoft.Network/bastionHosts"
	natGateways         = "Microsoft.Network/natGateways"
	privateEndpoints    = "Microsoft.Network/privateEndpoints"
)

// extraIPUsers are types whose first resource has a public address. These addresses come
// after those of the machines, in this order.
var extraIPUsers = []string{loadBalancers, applicationGateways, firewalls, bastions, natGateways}

// publicIP returns the public address of the i-th of extraIPUsers.
func (a address) publicIP(i int) world.Object {
	return reference(a.ref(publicIPs, a.machinesWithRole()+i))
}

// front returns a frontend configuration in a subnet with the public address of the i-th of
// extraIPUsers.
func (a address) front(i int) []any {
	return world.Items(world.Obj("name", "front", "properties", world.Obj("publicIPAddress", a.publicIP(i), "subnet", a.anySubnet())))
}

// anySubnet returns a subnet for a resource.
func (a address) anySubnet() world.Object {
	return reference(a.ref(vnets, a.i%a.countOf(vnets)) + "/subnets/snet-00000")
}

func one(address) int { return 1 }

var gatewayKinds = []*kind{
	{
		typ: "Azure.Network.LoadBalancer", arm: loadBalancers, prefix: "lb-", count: one,
		body: func(a address) world.Object {
			return a.resource("sku", world.Obj("name", "Standard"), "properties", world.Obj(
				"frontendIPConfigurations", world.Items(world.Obj("name", "front", "properties", world.Obj("publicIPAddress", a.publicIP(0)))),
				"loadBalancingRules", world.Items(world.Obj("name", "web", "properties", world.Obj("frontendPort", 443, "backendPort", 8443, "protocol", "Tcp", "backendAddressPool", reference(a.id()+"/backendAddressPools/pool")))),
				"backendAddressPools", world.Items(world.Obj("id", a.id()+"/backendAddressPools/pool", "name", "pool", "properties", world.Obj("backendIPConfigurations", world.Items(reference(a.ref(interfaces, 0)+"/ipConfigurations/ipconfig1"))))),
			))
		},
	},
	{
		typ: "Azure.Network.ApplicationGateway", arm: applicationGateways, prefix: "agw-", count: one,
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("sku", world.Obj("name", "WAF_v2", "tier", "WAF_v2"), "frontendIPConfigurations", a.front(1),
				"gatewayIPConfigurations", world.Items(world.Obj("properties", world.Obj("subnet", a.anySubnet()))),
				"webApplicationFirewallConfiguration", world.Obj("enabled", true, "firewallMode", "Prevention"), "sslPolicy", world.Obj("policyName", "AppGwSslPolicy20220101"),
				"httpListeners", world.Items(world.Obj("name", "web", "properties", world.Obj("protocol", "Https")))))
		},
	},
	{
		typ: "Azure.Network.AzureFirewall", arm: firewalls, prefix: "afw-", count: one,
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("sku", world.Obj("name", "AZFW_VNet", "tier", "Standard"), "threatIntelMode", "Alert", "ipConfigurations", a.front(2)))
		},
	},
	{
		typ: "Azure.Network.BastionHost", arm: bastions, prefix: "bas-", count: one,
		body: func(a address) world.Object {
			return a.resource("sku", world.Obj("name", "Standard"), "properties", world.Obj("dnsName", "bst.bastion.azure.com", "enableTunneling", false, "ipConfigurations", a.front(3)))
		},
	},
	{
		typ: "Azure.Network.NatGateway", arm: natGateways, prefix: "nat-", count: one,
		body: func(a address) world.Object {
			return a.resource("sku", world.Obj("name", "Standard"), "properties", world.Obj("idleTimeoutInMinutes", 4, "publicIpAddresses", world.Items(a.publicIP(4))))
		},
	},
	{
		typ: "Azure.Network.PrivateEndpoint", arm: privateEndpoints, prefix: "pe-",
		count: func(a address) int { return min(max(2, a.permille(10)), a.countOf(storage)) },
		body: func(a address) world.Object {
			target, part := a.ref(storage, a.i), "blob"
			if a.i%2 == 1 {
				target, part = a.ref(vaults, a.i%a.countOf(vaults)), "vault"
			}
			return a.resource("properties", world.Obj("subnet", a.anySubnet(), "privateLinkServiceConnections", world.Items(world.Obj("properties", world.Obj(
				"privateLinkServiceId", target, "groupIds", world.Items(part), "privateLinkServiceConnectionState", world.Obj("status", "Approved"))))))
		},
	},
	{
		typ: "Azure.Network.PrivateDnsZone", arm: "Microsoft.Network/privateDnsZones",
		names: func(address) []string {
			return []string{"privatelink.blob.core.windows.net", "privatelink.vaultcore.azure.net"}
		},
		body: func(a address) world.Object {
			return world.Obj("location", "global", "properties", world.Obj("numberOfRecordSets", 4))
		},
	},
	{
		typ: "Azure.Network.DnsZone", arm: "Microsoft.Network/dnsZones",
		names: func(a address) []string { return []string{"zone-" + a.sub.ID[:8] + ".example.com"} },
		body: func(a address) world.Object {
			return world.Obj("location", "global", "properties", world.Obj("numberOfRecordSets", 9, "zoneType", "Public", "nameServers", world.Items("ns1-01.azure-dns.com.")))
		},
	},
}
