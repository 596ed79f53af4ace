package derive

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/predicate/azure"
	"vigil/internal/posture/resource"
)

const (
	azureNetworkSecurityGroup posture.EntityType = "Azure.Network.NetworkSecurityGroup"
	azureCIDRRange            posture.EntityType = "Azure.Network.CidrRange"
)

// azureIngress is the label of the edges to allowed sources of traffic.
const azureIngress = "ALLOWS_INGRESS"

// everywhere is the address range of the whole internet.
const everywhere = "0.0.0.0/0"

// azureNetworkRules adds the rules of a network security group as strings, as the ports that
// are reachable from the internet, and as edges to the allowed sources. A range of ports is
// one edge.
var azureNetworkRules = resource.Function{
	Properties: []resource.Property{
		{Name: "securityRules", Kind: resource.Texts, Doc: "Its security rules, without the default ones: priority, direction, access, protocol, source > destination and destination ports."},
		{Name: "internetTcpPorts", Kind: resource.Texts, Doc: "Ranges of TCP ports that the internet at large reaches, with deny rules of a higher priority applied."},
		{Name: "internetUdpPorts", Kind: resource.Texts, Doc: "Ranges of UDP ports that the internet at large reaches, with deny rules of a higher priority applied."},
	},
	Edges: []resource.Edge{{
		Label: azureIngress, To: resource.EntityTypes{azureCIDRRange},
		Doc: "Sources of inbound traffic that it allows, with protocol (tcp or udp), fromPort and toPort. For the internet, deny rules of a higher priority are applied.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Set("securityRules", azureRuleTexts(in.Value))
		azureOpenPorts(b, "internetTcpPorts", "tcp", in.Value)
		azureOpenPorts(b, "internetUdpPorts", "udp", in.Value)
		azureEachSource(in.Value, func(cidr, protocol string, ports span) {
			b.Edge(azureIngress, azureCIDRRange.ID(in.Account, posture.Global, cidr),
				posture.Text("protocol", protocol), posture.Number("fromPort", ports.from), posture.Number("toPort", ports.to))
		})
		return nil
	},
}

// azureCIDRRanges lists the address ranges that network security groups allow, or those of one
// group when an event names it, so that graph queries can use them.
func azureCIDRRanges(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
	seen := map[string]bool{}
	var all []resource.Item
	add := func(group *resource.Item) error {
		azureEachSource(group.Result, func(cidr, _ string, _ span) {
			if !seen[cidr] {
				seen[cidr] = true
				text, _ := json.Marshal(map[string]string{"cidr": cidr}) // strings always marshal
				all = append(all, resource.Item{Result: gjson.ParseBytes(text)})
			}
		})
		return nil
	}
	if name := c.Vars().Name; name != "" {
		group, err := c.One(ctx, azureNetworkSecurityGroup, name)
		if err != nil {
			return nil, err
		}
		err = add(group)
		return all, err
	}
	err := c.Each(ctx, azureNetworkSecurityGroup, add)
	return all, err
}

// azureCIDRRangeFacts adds the facts about an address range.
var azureCIDRRangeFacts = resource.Function{
	Properties: []resource.Property{
		{Name: "prefixLength", Kind: resource.Long, Doc: "The length of its prefix in bits."},
		{Name: "ipVersion", Kind: resource.Long, Doc: "The version of the Internet Protocol: 4 or 6."},
		{Name: "isInternet", Kind: resource.Flag, Doc: "It is every address there is.", Exposed: "is the whole internet"},
		{Name: "isPrivate", Kind: resource.Flag, Doc: "No address of it is routed on the internet."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		p, ok := parsePrefix(in.Value.String())
		if !ok {
			return nil
		}
		version := int64(6)
		if p.Addr().Is4() {
			version = 4
		}
		b.Number("prefixLength", int64(p.Bits())).Number("ipVersion", version).Flag("isInternet", p.Bits() == 0)
		b.Flag("isPrivate", isPrivate(p))
		return nil
	},
}

// An azureRule is one rule of a network security group.
type azureRule struct {
	priority      int64
	inbound, deny bool
	protocol      string   // lower case; * for all
	sources       []string // addresses and service tags
	destinations  []string
	ports         []span // destination ports
	text          string
}

// A span is a range of ports.
type span struct{ from, to int64 }

// allPorts is the range of all ports.
var allPorts = span{0, 65535}

// azureSecurityRules returns the rules of a group in order of priority.
func azureSecurityRules(group gjson.Result) []azureRule {
	var all []azureRule
	for _, p := range group.Get("properties.securityRules.#.properties").Array() {
		r := azureRule{
			priority:     p.Get("priority").Int(),
			inbound:      strings.EqualFold(p.Get("direction").String(), "Inbound"),
			deny:         strings.EqualFold(p.Get("access").String(), "Deny"),
			protocol:     strings.ToLower(p.Get("protocol").String()),
			sources:      texts(p.Get("[sourceAddressPrefix,sourceAddressPrefixes]")),
			destinations: texts(p.Get("[destinationAddressPrefix,destinationAddressPrefixes]")),
		}
		ports := texts(p.Get("[destinationPortRange,destinationPortRanges]"))
		for _, text := range ports {
			if s, ok := parseSpan(text); ok {
				r.ports = append(r.ports, s)
			}
		}
		if groups := p.Get("sourceApplicationSecurityGroups.#").Int(); groups > 0 {
			r.sources = append(r.sources, "application security groups")
		}
		r.text = fmt.Sprintf("%d %s %s %s %s > %s %s", r.priority, p.Get("direction"), p.Get("access"), p.Get("protocol"),
			strings.Join(r.sources, ","), strings.Join(r.destinations, ","), strings.Join(ports, ","))
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b azureRule) int { return cmp.Compare(a.priority, b.priority) })
	return all
}

func azureRuleTexts(group gjson.Result) []string {
	var all []string
	for _, r := range azureSecurityRules(group) {
		all = append(all, r.text)
	}
	return all
}

// parseSpan parses the ports of a rule: *, 22 or 1000-2000.
func parseSpan(text string) (span, bool) {
	if text == "*" {
		return allPorts, true
	}
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	a, err := strconv.ParseUint(strings.TrimSpace(from), 10, 16)
	b, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 16)
	return span{int64(a), int64(b)}, err == nil && err2 == nil && a <= b
}

func (s span) String() string {
	if s.from == s.to {
		return strconv.FormatInt(s.from, 10)
	}
	return fmt.Sprintf("%d-%d", s.from, s.to)
}

// isInternet reports whether a source of a rule is the whole internet.
func isInternet(source string) bool {
	source = strings.ToLower(source)
	return source == "*" || source == "internet" || source == "any" || source == "0.0.0.0" || strings.HasSuffix(source, "/0")
}

// azureOpenPorts adds the ports of a protocol that are reachable from the internet. If this cannot
// be decided for one range of ports, the property and the edges to allowed sources are unknown.
func azureOpenPorts(b *resource.Builder, property, protocol string, group gjson.Result) {
	open, unknown := azure.FromInternet(protocol, group)
	var all []string
	for _, o := range open {
		all = append(all, o.String())
	}
	if len(unknown) == 0 {
		b.Set(property, all)
		return
	}
	b.Properties = append(b.Properties, posture.Unknown(property, unknown[0].Why))
	if !b.IsUnread(azureIngress) { // the call for the other protocol may have marked the edges already
		b.Properties = append(b.Properties, posture.Unknown(azureIngress, unknown[0].Why))
	}
}

// azureEachSource visits each source from which a group allows inbound traffic.
func azureEachSource(group gjson.Result, visit func(cidr, protocol string, ports span)) {
	for _, protocol := range []string{"tcp", "udp"} {
		open, _ := azure.FromInternet(protocol, group)
		for _, o := range open {
			visit(everywhere, protocol, span{int64(o.From), int64(o.To)})
		}
		for _, r := range azureSecurityRules(group) {
			if !r.inbound || r.deny || r.protocol != "*" && r.protocol != protocol {
				continue
			}
			for _, source := range r.sources {
				// The internet is visited above as everywhere.
				if prefix, ok := parsePrefix(source); ok && !isInternet(source) {
					for _, s := range r.ports {
						visit(prefix.String(), protocol, s)
					}
				}
			}
		}
	}
}

// parsePrefix parses the addresses of a rule. It returns false for service tags.
func parsePrefix(text string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

// privateRanges are the address ranges that are not routed on the internet.
var privateRanges = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("::1/128"),
}

// isPrivate reports whether a range lies within one of privateRanges. The first address of the
// range alone does not tell: 192.168.0.0/15 has public addresses.
func isPrivate(p netip.Prefix) bool {
	return slices.ContainsFunc(privateRanges, func(r netip.Prefix) bool { return p.Bits() >= r.Bits() && r.Contains(p.Addr()) })
}

// texts returns the strings of a value, which may be a string, a list or a nested list.
func texts(v gjson.Result) (all []string) {
	switch {
	case v.Type == gjson.String, v.Type == gjson.Number:
		return []string{v.String()}
	case v.IsArray():
		for _, e := range v.Array() {
			all = append(all, texts(e)...)
		}
	}
	return all
}
