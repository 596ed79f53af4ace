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
	"vigil/internal/posture/resource"
)

const (
	azureNetworkSecurityGroup posture.EntityType = "Azure.Network.NetworkSecurityGroup"
	azureCIDRRange            posture.EntityType = "Azure.Network.CidrRange"
)

// everywhere is the range that stands for the internet.
const everywhere = "0.0.0.0/0"

// azureNetworkRules adds the rules of a network security group, as strings, as the
// ports that the internet reaches, and as edges to who may come in. Ranges stay
// ranges: 65,536 ports are one edge.
var azureNetworkRules = resource.Function{
	Properties: []resource.Property{
		{Name: "securityRules", Kind: resource.Texts, Doc: "Its security rules, without the default ones: priority, direction, access, protocol, source > destination and destination ports."},
		{Name: "internetTcpPorts", Kind: resource.Texts, Doc: "Ranges of TCP ports that any source on the internet reaches, with deny rules of a higher priority applied."},
		{Name: "internetUdpPorts", Kind: resource.Texts, Doc: "Ranges of UDP ports that any source on the internet reaches, with deny rules of a higher priority applied."},
	},
	Edges: []resource.Edge{{
		Label: "ALLOWS_INGRESS", To: resource.EntityTypes{azureCIDRRange},
		Doc: "Sources of inbound traffic that it allows, with protocol (tcp or udp), fromPort and toPort. For the internet, deny rules of a higher priority are applied.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Set("securityRules", azureRuleTexts(in.Value))
		b.Set("internetTcpPorts", openPorts(in.Value, "tcp"))
		b.Set("internetUdpPorts", openPorts(in.Value, "udp"))
		ingress(in.Value, func(cidr, protocol string, ports span) {
			b.Edge("ALLOWS_INGRESS", azureCIDRRange.ID(in.Account, posture.Global, cidr),
				posture.Text("protocol", protocol), posture.Number("fromPort", ports.from), posture.Number("toPort", ports.to))
		})
		return nil
	},
}

// azureCIDRRanges lists the ranges of addresses that network security groups let
// in, or of one group when an event names it, so that they can be asked for in the
// graph.
func azureCIDRRanges(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
	seen := map[string]bool{}
	var all []resource.Item
	add := func(group *resource.Item) error {
		ingress(group.Result, func(cidr, _ string, _ span) {
			if !seen[cidr] {
				seen[cidr] = true
				text, _ := json.Marshal(map[string]string{"cidr": cidr}) // strings alone cannot fail
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

// azureCIDRRangeFacts adds what is known of a range of addresses.
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
		b.Flag("isPrivate", p.Bits() > 7 && (p.Addr().IsPrivate() || p.Addr().IsLoopback() || p.Addr().IsLinkLocalUnicast()))
		return nil
	},
}

// An azureRule is one rule of a network security group.
type azureRule struct {
	priority      int64
	inbound, deny bool
	protocol      string   // lower case; * for all
	sources       []string // addresses and service tags
	targets       []string
	ports         []span // of the destination
	text          string
}

// A span is a range of ports.
type span struct{ from, to int64 }

// allPorts is every port there is.
var allPorts = span{0, 65535}

// azureSecurityRules returns the rules of a group in the order in which they count.
func azureSecurityRules(group gjson.Result) []azureRule {
	var all []azureRule
	for _, p := range group.Get("properties.securityRules.#.properties").Array() {
		r := azureRule{
			priority: p.Get("priority").Int(),
			inbound:  strings.EqualFold(p.Get("direction").String(), "Inbound"),
			deny:     strings.EqualFold(p.Get("access").String(), "Deny"),
			protocol: strings.ToLower(p.Get("protocol").String()),
			sources:  texts(p.Get("[sourceAddressPrefix,sourceAddressPrefixes]")),
			targets:  texts(p.Get("[destinationAddressPrefix,destinationAddressPrefixes]")),
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
			strings.Join(r.sources, ","), strings.Join(r.targets, ","), strings.Join(ports, ","))
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

// parseSpan reads ports as rules have them: *, 22 or 1000-2000.
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

// anybody reports whether a rule names every address of the internet.
func anybody(sources []string) bool {
	return slices.ContainsFunc(sources, func(s string) bool {
		s = strings.ToLower(s)
		return s == "*" || s == "internet" || s == "any" || s == "0.0.0.0" || strings.HasSuffix(s, "/0")
	})
}

// fromInternet returns the ports of a protocol that anybody reaches: what rules
// allow and no earlier one denies to everybody.
func fromInternet(group gjson.Result, protocol string) []span {
	var open, closed []span
	for _, r := range azureSecurityRules(group) {
		if !r.inbound || !anybody(r.sources) || r.protocol != "*" && r.protocol != protocol {
			continue
		}
		switch {
		case !r.deny:
			open = append(open, without(r.ports, closed)...)
		case len(r.targets) == 0 || slices.Contains(r.targets, "*"):
			closed = append(closed, r.ports...)
		}
	}
	return merged(open)
}

// without returns the parts of spans that others do not cover.
func without(spans, others []span) []span {
	for _, o := range others {
		var rest []span
		for _, s := range spans {
			if o.to < s.from || o.from > s.to {
				rest = append(rest, s)
				continue
			}
			if s.from < o.from {
				rest = append(rest, span{s.from, o.from - 1})
			}
			if o.to < s.to {
				rest = append(rest, span{o.to + 1, s.to})
			}
		}
		spans = rest
	}
	return spans
}

// merged returns spans in order, those that touch as one.
func merged(spans []span) []span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var all []span
	for _, s := range spans {
		if n := len(all); n > 0 && s.from <= all[n-1].to+1 {
			all[n-1].to = max(all[n-1].to, s.to)
			continue
		}
		all = append(all, s)
	}
	return all
}

// openPorts is fromInternet as text.
func openPorts(group gjson.Result, protocol string) []string {
	var all []string
	for _, s := range fromInternet(group, protocol) {
		all = append(all, s.String())
	}
	return all
}

// ingress passes on who may come in.
func ingress(group gjson.Result, found func(cidr, protocol string, ports span)) {
	for _, protocol := range []string{"tcp", "udp"} {
		for _, s := range fromInternet(group, protocol) {
			found(everywhere, protocol, s)
		}
		for _, r := range azureSecurityRules(group) {
			if !r.inbound || r.deny || anybody(r.sources) || r.protocol != "*" && r.protocol != protocol {
				continue
			}
			for _, source := range r.sources {
				if prefix, ok := parsePrefix(source); ok {
					for _, s := range r.ports {
						found(prefix.String(), protocol, s)
					}
				}
			}
		}
	}
}

// parsePrefix reads addresses as rules have them. Service tags are none.
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

// texts returns the strings of a value that may be one, a list, or lists in it.
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
