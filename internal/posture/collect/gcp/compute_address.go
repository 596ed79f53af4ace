package gcp

import (
	"context"

	"google.golang.org/api/compute/v1"
)

var addresses = searched(with(computeType(addressType, "addresses", "An address that the project keeps.", "globalAddresses"), properties{
	text("address", "The address."),
	text("addressType", "INTERNAL or EXTERNAL."),
	text("status", "RESERVED, IN_USE and others."),
	flag("inUse", "Something has it."),
	text("purpose", "What it is for, such as GCE_ENDPOINT or VPC_PEERING."),
	text("networkTier", "PREMIUM or STANDARD."),
	text("creationTimestamp", "When it was kept."),
}, edges{
	edge("HAS_IP", "The address as others see it.", publicIPType),
	edge("ATTACHED_TO", "What has it.", instanceType, forwardingRuleType, routerType),
	edge("IN_SUBNET", "The subnetwork it is of.", subnetworkType),
	edge("IN", "The network it is of.", networkType),
}, append(changes("addresses", "insert", "delete", "setLabels"), changes("globalAddresses", "insert", "delete", "setLabels")...)),
	listAddresses, func(s *scope, v *compute.Address) *resource {
		r := s.begin(addressType, v.SelfLink)
		r.Text("address", v.Address).Text("addressType", v.AddressType).Text("status", v.Status).Flag("inUse", v.Status == "IN_USE").
			Text("purpose", v.Purpose).Text("networkTier", v.NetworkTier)
		when(r, "creationTimestamp", v.CreationTimestamp)
		if v.AddressType == "EXTERNAL" && v.Address != "" {
			r.Edge("HAS_IP", publicIPType.ID(s.account, "", v.Address))
		}
		for _, user := range v.Users {
			r.Edge("ATTACHED_TO", s.ref(user, instanceType, forwardingRuleType, routerType))
		}
		r.Edge("IN_SUBNET", s.ref(v.Subnetwork, subnetworkType)).Edge("IN", s.ref(v.Network, networkType))
		return tag(r, v.Labels)
	})

func listAddresses(ctx context.Context, s *scope, filter string, page func([]*compute.Address) error) error {
	return s.compute.Addresses.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.AddressAggregatedList) error {
		return everywhere(l.Items, l.Unreachables, func(v compute.AddressesScopedList) ([]*compute.Address, bool) {
			return v.Addresses, v.Warning != nil && v.Warning.Code == notReached
		}, page)
	})
}

var vpnGateways = searched(with(computeType(vpnGatewayType, "vpnGateways", "Where tunnels to other networks end."), properties{
	texts("addresses", "Its public addresses."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("IN", "Its network.", networkType),
}, changes("vpnGateways", "insert", "delete", "setLabels")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.VpnGateway) error) error {
		return s.compute.VpnGateways.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.VpnGatewayAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.VpnGatewaysScopedList) ([]*compute.VpnGateway, bool) {
				return v.VpnGateways, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.VpnGateway) *resource {
		r := when(s.begin(vpnGatewayType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		for _, i := range v.VpnInterfaces {
			r.Text("addresses", i.IpAddress)
		}
		return tag(r.Edge("IN", s.ref(v.Network, networkType)), v.Labels)
	})

var vpnTunnels = searched(with(computeType(vpnTunnelType, "vpnTunnels", "A connection to another network through the internet."), properties{
	text("status", "ESTABLISHED and others."),
	text("peerIp", "The other end."),
	long("ikeVersion", "How the ends agree on keys: 1 or 2."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("PART_OF", "The gateway on our end.", vpnGatewayType),
	edge("LEADS_TO", "The gateway on the other end, where it is Google's.", vpnGatewayType),
	edge("ROUTED_BY", "The router that exchanges routes through it.", routerType),
}, changes("vpnTunnels", "insert", "delete", "setLabels")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.VpnTunnel) error) error {
		return s.compute.VpnTunnels.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.VpnTunnelAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.VpnTunnelsScopedList) ([]*compute.VpnTunnel, bool) {
				return v.VpnTunnels, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.VpnTunnel) *resource {
		r := when(s.begin(vpnTunnelType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		r.Text("status", v.Status).Text("peerIp", v.PeerIp).Number("ikeVersion", v.IkeVersion)
		r.Edge("PART_OF", s.ref(v.VpnGateway, vpnGatewayType)).Edge("LEADS_TO", s.ref(v.PeerGcpGateway, vpnGatewayType)).Edge("ROUTED_BY", s.ref(v.Router, routerType))
		return tag(r, v.Labels)
	})
