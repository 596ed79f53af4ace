package azure

import (
	"context"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
)

const (
	virtualNetworkType           = "Azure.Network.VirtualNetwork"
	subnetType                   = "Azure.Network.Subnet"
	peeringType                  = "Azure.Network.VirtualNetworkPeering"
	networkInterfaceType         = "Azure.Network.NetworkInterface"
	publicIPType                 = "Azure.Network.PublicIPAddress"
	networkSecurityGroupType     = "Azure.Network.NetworkSecurityGroup"
	applicationSecurityGroupType = "Azure.Network.ApplicationSecurityGroup"
	routeTableType               = "Azure.Network.RouteTable"
	networkWatcherType           = "Azure.Network.NetworkWatcher"
	flowLogType                  = "Azure.Network.FlowLog"
)

const networkVersion = "2024-01-01"

var networkKinds = []*kind{
	{
		typ: virtualNetworkType, doc: "A virtual network.",
		arm: "Microsoft.Network/virtualNetworks", version: networkVersion,
		rows: []row{
			texts("addressPrefixes", "properties.addressSpace.addressPrefixes", "The addresses it spans."),
			texts("dnsServers", "properties.dhcpOptions.dnsServers", "The name servers its machines use, when not Azure's."),
			flag("enableDdosProtection", "properties.enableDdosProtection", "A plan protects it from floods of traffic.").or(false),
			flag("encryptionEnabled", "properties.encryption.enabled", "Traffic between its machines is encrypted.").or(false),
		},
		links: []link{
			refs("HAS", "properties.subnets.#.id", "Its subnets.", subnetType),
			refs("HAS", "properties.virtualNetworkPeerings.#.id", "Its peerings.", peeringType),
			atLocation("LOCATED_IN", "Where it is."),
		},
	},
	{
		typ: subnetType, doc: "A part of a virtual network.",
		arm: "Microsoft.Network/virtualNetworks/subnets", version: networkVersion, in: virtualNetworkType, inside: "properties.subnets",
		rows: []row{
			texts("addressPrefixes", "properties.[addressPrefix,addressPrefixes]", "The addresses it spans."),
			texts("serviceEndpoints", "properties.serviceEndpoints.#.service", "Services that it reaches directly."),
			texts("delegations", "properties.delegations.#.properties.serviceName", "Services that may put resources into it."),
			text("privateEndpointNetworkPolicies", "properties.privateEndpointNetworkPolicies", "Whether security groups hold for private endpoints in it."),
			flag("defaultOutboundAccess", "properties.defaultOutboundAccess", "Its machines reach the internet without being given a way.").or(true),
		},
		links: []link{
			refs("ROUTED_BY", "properties.routeTable.id", "Where its traffic goes.", routeTableType),
			refs("USES", "properties.natGateway.id", "How it reaches the internet.", natGatewayType),
		},
	},
	{
		typ: peeringType, doc: "A connection of one virtual network to another.",
		arm: "Microsoft.Network/virtualNetworks/virtualNetworkPeerings", version: networkVersion, in: virtualNetworkType, inside: "properties.virtualNetworkPeerings",
		rows: []row{
			text("peeringState", "properties.peeringState", "Connected once both sides agree."),
			flag("allowVirtualNetworkAccess", "properties.allowVirtualNetworkAccess", "Machines of the two networks reach each other.").or(false),
			flag("allowForwardedTraffic", "properties.allowForwardedTraffic", "Traffic that comes from elsewhere is let through.").or(false),
			flag("allowGatewayTransit", "properties.allowGatewayTransit", "The other side may use this network's gateway.").or(false),
			flag("useRemoteGateways", "properties.useRemoteGateways", "This network uses the other's gateway.").or(false),
		},
		links: []link{refs("PEERS_WITH", "properties.remoteVirtualNetwork.id", "The other network.", virtualNetworkType)},
	},
	{
		typ: networkInterfaceType, doc: "A network interface.",
		arm: "Microsoft.Network/networkInterfaces", version: networkVersion,
		rows: []row{
			texts("privateIPAddresses", "properties.ipConfigurations.#.properties.privateIPAddress", "Its addresses in the virtual network."),
			flag("enableIPForwarding", "properties.enableIPForwarding", "It passes traffic on that is not for itself.").or(false),
			text("macAddress", "properties.macAddress", "Its hardware address."),
		},
		links: []link{
			refs("HAS_IP", "properties.ipConfigurations.#.properties.publicIPAddress.id", "Its addresses on the internet.", publicIPType),
			refs("IN_SUBNET", "properties.ipConfigurations.#.properties.subnet.id", "Where it is.", subnetType),
			refs("ATTACHED_TO", "properties.virtualMachine.id", "The machine that has it.", virtualMachineType),
			refs("MEMBER_OF", "properties.ipConfigurations.#.properties.applicationSecurityGroups.#.id", "Groups that security rules name.", applicationSecurityGroupType),
		},
	},
	{
		typ: publicIPType, doc: "An address on the internet.",
		arm: "Microsoft.Network/publicIPAddresses", version: networkVersion,
		rows: []row{
			text("ipAddress", "properties.ipAddress", "The address; absent while none is assigned."),
			text("allocationMethod", "properties.publicIPAllocationMethod", "Static or Dynamic."),
			text("fqdn", "properties.dnsSettings.fqdn", "Its name."),
			text("sku", "sku.name", "Basic or Standard. A Basic one is open unless a security group closes it."),
			text("ddosProtectionMode", "properties.ddosSettings.protectionMode", "How it is protected from floods of traffic."),
		},
		links: []link{
			refs("ATTACHED_TO", "properties.[ipConfiguration.id,natGateway.id]", "What answers under it.",
				networkInterfaceType, loadBalancerType, applicationGatewayType, firewallType, bastionType, natGatewayType),
		},
	},
	{
		typ: networkSecurityGroupType, doc: "Rules about which traffic subnets and network interfaces let through.",
		arm: "Microsoft.Network/networkSecurityGroups", version: networkVersion,
		rows: []row{
			list("securityRules", "Its own rules, as: priority direction access protocol source > destination port.", ruleTexts),
			list("internetTcpPorts", "Ranges of TCP ports that anybody on the internet reaches, earlier rules that deny considered.", func(j gjson.Result) []string { return openPorts(j, "tcp") }),
			list("internetUdpPorts", "Ranges of UDP ports that anybody on the internet reaches, earlier rules that deny considered.", func(j gjson.Result) []string { return openPorts(j, "udp") }),
		},
		links: []link{
			refs("GUARDS", "properties.[subnets.#.id,networkInterfaces.#.id]", "What it holds for.", subnetType, networkInterfaceType),
		},
		moreLinks: []collect.Edge{ingressEdge},
		also: func(_ context.Context, s *session, j gjson.Result, r *resource) error {
			addIngress(s, j, r)
			return nil
		},
		events: []collect.Event{{Source: "Microsoft.Network/networkSecurityGroups/securityRules", Names: []string{"write", "delete"}}},
	},
	{
		typ: applicationSecurityGroupType, doc: "A group of network interfaces that security rules name.",
		arm: "Microsoft.Network/applicationSecurityGroups", version: networkVersion,
		rows: []row{text("provisioningState", "properties.provisioningState", "Whether the last change succeeded.")},
	},
	{
		typ: routeTableType, doc: "Rules about where a subnet's traffic goes.",
		arm: "Microsoft.Network/routeTables", version: networkVersion,
		rows: []row{
			list("routes", "Its routes, as: addresses > next hop.", func(j gjson.Result) []string {
				var all []string
				for _, r := range j.Get("properties.routes.#.properties").Array() {
					all = append(all, r.Get("addressPrefix").String()+" > "+r.Get("nextHopType").String())
				}
				return all
			}),
			flag("disableBgpRoutePropagation", "properties.disableBgpRoutePropagation", "Routes of gateways are not taken over.").or(false),
		},
	},
	{
		typ: networkWatcherType, doc: "The monitoring of networks in one location.",
		arm: "Microsoft.Network/networkWatchers", version: networkVersion,
		rows:  []row{text("provisioningState", "properties.provisioningState", "Whether the last change succeeded.")},
		links: []link{atLocation("WATCHES", "The location whose networks it watches.")},
	},
	{
		typ: flowLogType, doc: "A log of the connections that a security group or network saw.",
		arm: "Microsoft.Network/networkWatchers/flowLogs", version: networkVersion, in: networkWatcherType,
		rows: []row{
			flag("enabled", "properties.enabled", "It is written.").or(false),
			retentionRow,
			flag("trafficAnalytics", "properties.flowAnalyticsConfiguration.networkWatcherFlowAnalyticsConfiguration.enabled", "It is analysed in a workspace.").or(false),
			number("version", "properties.format.version", "The version of its format."),
		},
		links: []link{
			refs("TARGETS", "properties.targetResourceId", "What it is about.", networkSecurityGroupType, subnetType, virtualNetworkType, networkInterfaceType),
			refs("WRITES_TO", "properties.storageId", "Where it is kept.", storageAccountType),
			refs("LOGS_TO", "properties.flowAnalyticsConfiguration.networkWatcherFlowAnalyticsConfiguration.workspaceResourceId", "Where it is analysed.", workspaceType),
		},
	},
}

// retentionRow is 0 when a flow log is kept for ever.
var retentionRow = row{number("retentionDays", "", "How many days it is kept; 0 for as long as the storage account is there.").Property, func(j gjson.Result) any {
	policy := j.Get("properties.retentionPolicy")
	if !policy.Get("enabled").Bool() {
		return int64(0)
	}
	return policy.Get("days").Int()
}}
