package gcp

import (
	"context"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/dns/v1"
)

// networks take one look at the project's DNS policies too, so that a network
// whose policies could not be read is not taken for one that has none.
var networks = detailed(declaration{
	Type: networkType, Service: "compute", Doc: "A virtual network.",
	Permissions: []string{"compute.networks.list", "compute.networks.get", "dns.policies.list"},
	Properties: properties{
		text("name", "Its name; the one named default comes with the project."),
		flag("autoCreateSubnetworks", "Every region has a subnetwork of it by itself."),
		text("routingMode", "REGIONAL or GLOBAL."),
		long("mtu", "The largest packet."),
		text("creationTimestamp", "When it was made."),
		texts("peerings", "Names of its peerings with other networks."),
		flag("dnsLogging", "A DNS policy logs its queries."),
	},
	Edges: edges{
		edge("HAS", "Its subnetworks.", subnetworkType),
		edge("PEERED_WITH", "The networks it is joined with.", networkType),
	},
	Events: append(changes("networks", "insert", "patch", "delete", "addPeering", "removePeering", "updatePeering", "switchToCustomMode"),
		each("dns", "dns.policies.", "create", "patch", "update", "delete")),
}, func(ctx context.Context, s *scope, page func([]*compute.Network) error) error {
	return s.compute.Networks.List(s.project).MaxResults(most).Pages(ctx, func(l *compute.NetworkList) error { return page(l.Items) })
}, func(ctx context.Context, s *scope, at spot) (*compute.Network, error) {
	return s.compute.Networks.Get(s.project, at.name).Context(ctx).Do()
}, func(ctx context.Context, s *scope, v *compute.Network) (*resource, error) {
	r := s.begin(networkType, v.SelfLink)
	r.Text("name", v.Name).Flag("autoCreateSubnetworks", v.AutoCreateSubnetworks)
	if v.Mtu > 0 {
		r.Number("mtu", v.Mtu)
	}
	when(r, "creationTimestamp", v.CreationTimestamp)
	if v.RoutingConfig != nil {
		r.Text("routingMode", v.RoutingConfig.RoutingMode)
	}
	var peerings []string
	for _, p := range v.Peerings {
		peerings = append(peerings, p.Name)
		r.Edge("PEERED_WITH", s.ref(p.Network, networkType))
	}
	set(r, "peerings", peerings)
	for _, subnet := range v.Subnetworks {
		r.Edge("HAS", s.ref(subnet, subnetworkType))
	}
	return r, s.detail(r, "dns.policies.list", []string{"dnsLogging"}, func() error {
		policies, err := s.dnsPolicies(ctx)
		if err != nil && !isOff(s.sorted(err, "")) {
			return err
		}
		r.Flag("dnsLogging", logged(s, policies, v.SelfLink))
		return nil
	})
})

// logged reports whether a policy logs the DNS queries of a network.
func logged(s *scope, policies []*dns.Policy, network string) bool {
	id := s.ref(network, networkType)
	for _, p := range policies {
		for _, n := range p.Networks {
			if p.EnableLogging && s.ref(n.NetworkUrl, networkType) == id {
				return true
			}
		}
	}
	return false
}

var subnetworks = searched(with(computeType(subnetworkType, "subnetworks", "A part of a network in one region."), properties{
	text("ipCidrRange", "Its addresses."),
	texts("secondaryIpRanges", "Further addresses."),
	text("gatewayAddress", "Its gateway."),
	text("purpose", "PRIVATE, or what else than instances it is for, such as REGIONAL_MANAGED_PROXY."),
	flag("logConfigEnable", "Its traffic is logged."),
	flag("privateIpGoogleAccess", "Instances without a public address reach Google's services."),
	text("stackType", "IPV4_ONLY or IPV4_IPV6."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("IN", "Its network.", networkType),
}, changes("subnetworks", "insert", "patch", "delete", "expandIpCidrRange", "setPrivateIpGoogleAccess", "setIamPolicy")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.Subnetwork) error) error {
		return s.compute.Subnetworks.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.SubnetworkAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.SubnetworksScopedList) ([]*compute.Subnetwork, bool) {
				return v.Subnetworks, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.Subnetwork) *resource {
		r := s.begin(subnetworkType, v.SelfLink)
		r.Text("ipCidrRange", v.IpCidrRange).Text("gatewayAddress", v.GatewayAddress).Text("purpose", v.Purpose).Text("stackType", v.StackType).
			Flag("logConfigEnable", v.LogConfig != nil && v.LogConfig.Enable || v.EnableFlowLogs).Flag("privateIpGoogleAccess", v.PrivateIpGoogleAccess)
		when(r, "creationTimestamp", v.CreationTimestamp)
		var more []string
		for _, extra := range v.SecondaryIpRanges {
			more = append(more, extra.IpCidrRange)
		}
		set(r, "secondaryIpRanges", more)
		return r.Edge("IN", s.ref(v.Network, networkType))
	})

var routes = searched(with(computeType(routeType, "routes", "Where a network sends packets."), properties{
	text("destRange", "The addresses it is for."),
	long("priority", "The smallest counts."),
	text("nextHop", "Where packets go: default-internet-gateway, an address, or the name of what it is."),
	flag("toInternet", "Packets go to the internet."),
	texts("tags", "Tags of the instances it is for; all when absent."),
}, edges{
	edge("IN", "Its network.", networkType),
	edge("ROUTES_TO", "Where packets go.", instanceType, vpnTunnelType, networkType, forwardingRuleType),
}, changes("routes", "insert", "delete")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.Route) error) error {
		return s.compute.Routes.List(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.RouteList) error { return page(l.Items) })
	}, func(s *scope, v *compute.Route) *resource {
		r := s.begin(routeType, v.SelfLink)
		r.Text("destRange", v.DestRange).Number("priority", v.Priority).Flag("toInternet", last(v.NextHopGateway) == "default-internet-gateway")
		for _, hop := range []string{v.NextHopGateway, v.NextHopInstance, v.NextHopIp, v.NextHopVpnTunnel, v.NextHopIlb, v.NextHopNetwork, v.NextHopPeering} {
			if hop != "" {
				r.Text("nextHop", last(hop))
				break
			}
		}
		set(r, "tags", v.Tags)
		return r.Edge("IN", s.ref(v.Network, networkType)).Edge("ROUTES_TO", s.ref(v.NextHopInstance, instanceType)).
			Edge("ROUTES_TO", s.ref(v.NextHopVpnTunnel, vpnTunnelType)).Edge("ROUTES_TO", s.ref(v.NextHopNetwork, networkType)).
			Edge("ROUTES_TO", s.ref(v.NextHopIlb, forwardingRuleType))
	})

var routers = searched(with(computeType(routerType, "routers", "What exchanges routes with other networks, or hides instances behind one address."), properties{
	text("creationTimestamp", "When it was made."),
	long("asn", "Its autonomous system number."),
	texts("nats", "Names of its NAT gateways."),
	flag("natLogging", "All of its NAT gateways log; absent when it has none."),
	texts("bgpPeers", "Names of the routers it exchanges routes with."),
}, edges{
	edge("IN", "Its network.", networkType),
	edge("SERVES", "The subnetworks that its NAT gateways name.", subnetworkType),
}, changes("routers", "insert", "patch", "update", "delete")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.Router) error) error {
		return s.compute.Routers.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.RouterAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.RoutersScopedList) ([]*compute.Router, bool) {
				return v.Routers, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.Router) *resource {
		r := when(s.begin(routerType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		if v.Bgp != nil {
			r.Number("asn", v.Bgp.Asn)
		}
		var nats, peers []string
		quiet := 0
		for _, n := range v.Nats {
			nats = append(nats, n.Name)
			if n.LogConfig == nil || !n.LogConfig.Enable {
				quiet++
			}
			for _, subnet := range n.Subnetworks {
				r.Edge("SERVES", s.ref(subnet.Name, subnetworkType))
			}
		}
		for _, p := range v.BgpPeers {
			peers = append(peers, p.Name)
		}
		if len(nats) > 0 {
			r.Flag("natLogging", quiet == 0)
		}
		set(r, "nats", nats)
		set(r, "bgpPeers", peers)
		sortEdges(r)
		return r.Edge("IN", s.ref(v.Network, networkType))
	})
