package gcp

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/compute/v1"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

var firewalls = searched(with(computeType(firewallType, "firewalls", "A rule on what may come into a network or leave it."), properties{
	text("direction", "INGRESS or EGRESS."),
	flag("disabled", "It does not apply."),
	long("priority", "The smallest counts."),
	texts("sourceRanges", "Addresses from which it allows or denies."),
	texts("destinationRanges", "Addresses to which it allows or denies."),
	texts("allowed", "What it allows: protocol and ports, such as tcp:22 or all."),
	texts("denied", "What it denies: protocol and ports."),
	texts("sourceTags", "Tags of the instances from which it allows or denies."),
	texts("sourceServiceAccounts", "Whom the instances run as from which it allows or denies."),
	texts("targetTags", "Tags of the instances it is for."),
	texts("targetServiceAccounts", "Whom the instances run as that it is for."),
	flag("appliesToAll", "It is for all instances of the network."),
	flag("openToInternet", "It lets everybody in: it is in force, allows, and has 0.0.0.0/0 or ::/0 as a source."),
	flag("logging", "What it does is logged."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("GUARDS", "Its network.", networkType),
	edge("ALLOWS_INGRESS", "From where it lets in, with protocol (all, or a name or number), fromPort and toPort.", cidrRangeType),
	edge("ALLOWS_EGRESS", "Where it lets out to, with protocol, fromPort and toPort.", cidrRangeType),
	edge("TARGETS", "Whom the instances run as that it is for.", serviceAccountType, principalType),
}, changes("firewalls", "insert", "patch", "update", "delete")), listFirewalls, func(s *scope, v *compute.Firewall) *resource {
	r := s.begin(firewallType, v.SelfLink)
	r.Text("direction", v.Direction).Flag("disabled", v.Disabled).Number("priority", v.Priority).
		Flag("appliesToAll", len(v.TargetTags) == 0 && len(v.TargetServiceAccounts) == 0).
		Flag("openToInternet", v.Direction == "INGRESS" && !v.Disabled && len(v.Allowed) > 0 && slices.ContainsFunc(v.SourceRanges, anybody)).
		Flag("logging", v.LogConfig != nil && v.LogConfig.Enable)
	when(r, "creationTimestamp", v.CreationTimestamp)
	for name, values := range map[string][]string{
		"sourceRanges": v.SourceRanges, "destinationRanges": v.DestinationRanges, "sourceTags": v.SourceTags, "targetTags": v.TargetTags,
		"sourceServiceAccounts": v.SourceServiceAccounts, "targetServiceAccounts": v.TargetServiceAccounts,
	} {
		set(r, name, values)
	}
	var allowed, denied []string
	label, peers := "ALLOWS_INGRESS", v.SourceRanges
	if v.Direction == "EGRESS" {
		label, peers = "ALLOWS_EGRESS", v.DestinationRanges
	}
	for _, a := range v.Allowed {
		allowed = append(allowed, portText(a.IPProtocol, a.Ports))
		s.permit(r, label, peers, a)
	}
	for _, d := range v.Denied {
		denied = append(denied, portText(d.IPProtocol, d.Ports))
	}
	set(r, "allowed", allowed)
	set(r, "denied", denied)
	for _, email := range v.TargetServiceAccounts {
		r.Edge("TARGETS", s.serviceAccount(email))
	}
	sortEdges(r)
	return r.Edge("GUARDS", s.ref(v.Network, networkType))
})

func listFirewalls(ctx context.Context, s *scope, filter string, page func([]*compute.Firewall) error) error {
	return s.compute.Firewalls.List(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.FirewallList) error { return page(l.Items) })
}

// anybody reports whether a range is the whole internet.
func anybody(cidr string) bool { return cidr == "0.0.0.0/0" || cidr == "::/0" }

// portText writes what a rule is about: tcp:22,80-90.
func portText(protocol string, ports []string) string {
	if len(ports) == 0 {
		return protocol
	}
	return protocol + ":" + strings.Join(ports, ",")
}

// permit adds an edge for every range of addresses and ports that a rule allows.
// Ranges stay ranges: 65,536 ports are one edge.
func (s *scope) permit(r *resource, label string, peers []string, a *compute.FirewallAllowed) {
	ports := a.Ports
	if len(ports) == 0 {
		ports = []string{"0-65535"}
	}
	for _, peer := range peers {
		for _, span := range ports {
			from, to, ok := portRange(span)
			if !ok {
				continue
			}
			r.Edge(label, cidrRangeType.ID(s.account, "", peer), posture.Text("protocol", strings.ToLower(a.IPProtocol)), posture.Number("fromPort", from), posture.Number("toPort", to))
		}
	}
}

// portRange reads 22 or 20-25.
func portRange(text string) (from, to int64, ok bool) {
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	from, err := strconv.ParseInt(strings.TrimSpace(low), 10, 32)
	if err != nil {
		return 0, 0, false
	}
	to, err = strconv.ParseInt(strings.TrimSpace(high), 10, 32)
	return from, to, err == nil
}

var cidrRanges = derived(declaration{
	Type: cidrRangeType, Service: "compute", Doc: "Addresses that a firewall rule names.",
	Permissions: []string{"compute.firewalls.list"},
	Properties: properties{
		text("cidr", "The addresses."),
		flag("anybody", "It is the whole internet."),
		flag("private", "No address of it is reachable from the internet."),
		long("ipVersion", "4 or 6."),
		long("prefixLength", "How many bits its addresses share."),
	},
	Events: firewalls.Events,
}, func(ctx context.Context, s *scope, emit collect.Emit) error {
	seen := map[string]bool{}
	return s.compute.Firewalls.List(s.project).MaxResults(most).Fields("nextPageToken,items(sourceRanges,destinationRanges)").Pages(ctx, func(l *compute.FirewallList) error {
		for _, v := range l.Items {
			for _, cidr := range append(slices.Clone(v.SourceRanges), v.DestinationRanges...) {
				if seen[cidr] {
					continue
				}
				seen[cidr] = true
				if err := emit(s.cidrRange(cidr)); err != nil {
					return err
				}
			}
		}
		return nil
	})
})

// cidrRange describes a range of addresses.
func (s *scope) cidrRange(cidr string) *resource {
	r := s.derive(cidrRangeType, cidr).Text("cidr", cidr).Flag("anybody", anybody(cidr))
	text := cidr
	if !strings.Contains(cidr, "/") {
		if ip, err := netip.ParseAddr(cidr); err == nil {
			text = fmt.Sprintf("%s/%d", ip, ip.BitLen())
		}
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return r
	}
	version := int64(4)
	if prefix.Addr().Is6() {
		version = 6
	}
	return r.Flag("private", slices.ContainsFunc(privateRanges, func(p netip.Prefix) bool {
		return p.Contains(prefix.Addr()) && prefix.Bits() >= p.Bits()
	})).Number("ipVersion", version).Number("prefixLength", int64(prefix.Bits()))
}

// privateRanges are those that the internet does not route.
var privateRanges = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("::1/128"),
}
