package azure

import "github.com/tidwall/gjson"

const (
	loadBalancerType       = "Azure.Network.LoadBalancer"
	applicationGatewayType = "Azure.Network.ApplicationGateway"
	firewallType           = "Azure.Network.AzureFirewall"
	bastionType            = "Azure.Network.BastionHost"
	natGatewayType         = "Azure.Network.NatGateway"
	privateEndpointType    = "Azure.Network.PrivateEndpoint"
	privateDNSZoneType     = "Azure.Network.PrivateDnsZone"
	dnsZoneType            = "Azure.Network.DnsZone"
)

// gatewayKinds are the ways into virtual networks and out of them.
var gatewayKinds = []*kind{
	{
		typ: loadBalancerType, doc: "A load balancer for any traffic.",
		arm: "Microsoft.Network/loadBalancers", version: networkVersion,
		rows: []row{
			text("sku", "sku.name", "Basic, Standard or Gateway."),
			list("frontendPorts", "Ports that it passes on.", func(j gjson.Result) []string {
				return flat(j.Get("properties.[loadBalancingRules.#.properties.frontendPort,inboundNatRules.#.properties.frontendPort]"))
			}),
		},
		links: []link{
			refs("HAS_IP", "properties.frontendIPConfigurations.#.properties.publicIPAddress.id", "Its addresses on the internet.", publicIPType),
			refs("IN_SUBNET", "properties.frontendIPConfigurations.#.properties.subnet.id", "Where it answers inside a network.", subnetType),
			refs("FORWARDS_TO", "properties.backendAddressPools.#.properties.backendIPConfigurations.#.id", "Where it passes traffic on to.", networkInterfaceType),
		},
	},
	{
		typ: applicationGatewayType, doc: "A load balancer for web traffic.",
		arm: "Microsoft.Network/applicationGateways", version: networkVersion,
		rows: []row{
			text("sku", "properties.sku.name", "Its edition."),
			yes("wafEnabled", "A web application firewall looks at requests.", func(j gjson.Result) bool {
				return j.Get("properties.webApplicationFirewallConfiguration.enabled").Bool() || j.Get("properties.firewallPolicy.id").String() != ""
			}),
			text("firewallMode", "properties.webApplicationFirewallConfiguration.firewallMode", "Detection or Prevention."),
			text("minProtocolVersion", "properties.sslPolicy.minProtocolVersion", "The oldest TLS version that it speaks."),
			text("sslPolicy", "properties.sslPolicy.policyName", "The set of TLS versions and ciphers."),
			texts("listenerProtocols", "properties.httpListeners.#.properties.protocol", "Http or Https, for each listener."),
		},
		links: []link{
			refs("HAS_IP", "properties.frontendIPConfigurations.#.properties.publicIPAddress.id", "Its addresses on the internet.", publicIPType),
			refs("IN_SUBNET", "properties.gatewayIPConfigurations.#.properties.subnet.id", "Where it is.", subnetType),
			assignedIdentityLink,
		},
	},
	{
		typ: firewallType, doc: "A managed firewall.",
		arm: "Microsoft.Network/azureFirewalls", version: networkVersion,
		rows: []row{
			text("sku", "properties.sku.tier", "Its edition."),
			text("threatIntelMode", "properties.threatIntelMode", "What it does with traffic of known attackers: Off, Alert or Deny."),
			text("firewallPolicy", "properties.firewallPolicy.id", "The policy that it follows."),
		},
		links: []link{
			refs("HAS_IP", "properties.ipConfigurations.#.properties.publicIPAddress.id", "Its addresses on the internet.", publicIPType),
			refs("IN_SUBNET", "properties.ipConfigurations.#.properties.subnet.id", "Where it is.", subnetType),
		},
	},
	{
		typ: bastionType, doc: "A managed way to log in to machines without addresses on the internet.",
		arm: "Microsoft.Network/bastionHosts", version: networkVersion,
		rows: []row{
			text("sku", "sku.name", "Its edition."),
			text("dnsName", "properties.dnsName", "Its name."),
			flag("enableTunneling", "properties.enableTunneling", "Programs on a desk may connect through it.").or(false),
			flag("enableShareableLink", "properties.enableShareableLink", "A link is enough to connect.").or(false),
		},
		links: []link{
			refs("HAS_IP", "properties.ipConfigurations.#.properties.publicIPAddress.id", "Its addresses on the internet.", publicIPType),
			refs("IN_SUBNET", "properties.ipConfigurations.#.properties.subnet.id", "Where it is.", subnetType),
		},
	},
	{
		typ: natGatewayType, doc: "A shared way out to the internet.",
		arm: "Microsoft.Network/natGateways", version: networkVersion,
		rows: []row{
			text("sku", "sku.name", "Its edition."),
			number("idleTimeoutInMinutes", "properties.idleTimeoutInMinutes", "When idle connections are dropped."),
		},
		links: []link{refs("HAS_IP", "properties.publicIpAddresses.#.id", "Its addresses on the internet.", publicIPType)},
	},
	{
		typ: privateEndpointType, doc: "An address in a virtual network under which a service is reached.",
		arm: "Microsoft.Network/privateEndpoints", version: networkVersion,
		rows: []row{
			texts("groupIds", "properties.[privateLinkServiceConnections.#.properties.groupIds,manualPrivateLinkServiceConnections.#.properties.groupIds]", "Which parts of the service."),
			texts("connectionStates", "properties.[privateLinkServiceConnections.#.properties.privateLinkServiceConnectionState.status,manualPrivateLinkServiceConnections.#.properties.privateLinkServiceConnectionState.status]", "Whether the service agreed: Approved, Pending, Rejected."),
		},
		links: []link{
			refs("IN_SUBNET", "properties.subnet.id", "Where it is.", subnetType),
			refs("CONNECTS_TO", "properties.[privateLinkServiceConnections.#.properties.privateLinkServiceId,manualPrivateLinkServiceConnections.#.properties.privateLinkServiceId]", "The service that answers.",
				storageAccountType, vaultType, sqlServerType, postgresType, mysqlType, cosmosType, siteType, registryType, redisType, eventHubType, serviceBusType, managedClusterType),
		},
	},
	{
		typ: privateDNSZoneType, doc: "Names that only virtual networks see.",
		arm: "Microsoft.Network/privateDnsZones", version: "2020-06-01",
		rows: []row{number("numberOfRecordSets", "properties.numberOfRecordSets", "How many names it has.")},
	},
	{
		typ: dnsZoneType, doc: "Names that everybody sees.",
		arm: "Microsoft.Network/dnsZones", version: "2018-05-01",
		rows: []row{
			number("numberOfRecordSets", "properties.numberOfRecordSets", "How many names it has."),
			text("zoneType", "properties.zoneType", "Public or Private."),
			texts("nameServers", "properties.nameServers", "Who answers for it."),
		},
	},
}
