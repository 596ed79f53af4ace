package azure

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

const cidrRangeType entityType = "Azure.Network.CidrRange"

// everywhere is the range that stands for the internet.
const everywhere = "0.0.0.0/0"

// A securityRule is one rule of a network security group.
type securityRule struct {
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

// securityRules returns the rules of a group in the order in which they count.
func securityRules(group gjson.Result) []securityRule {
	var all []securityRule
	for _, p := range group.Get("properties.securityRules.#.properties").Array() {
		r := securityRule{
			priority: p.Get("priority").Int(),
			inbound:  strings.EqualFold(p.Get("direction").String(), "Inbound"),
			deny:     strings.EqualFold(p.Get("access").String(), "Deny"),
			protocol: strings.ToLower(p.Get("protocol").String()),
			sources:  flat(p.Get("[sourceAddressPrefix,sourceAddressPrefixes]")),
			targets:  flat(p.Get("[destinationAddressPrefix,destinationAddressPrefixes]")),
		}
		ports := flat(p.Get("[destinationPortRange,destinationPortRanges]"))
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
	slices.SortStableFunc(all, func(a, b securityRule) int { return cmp.Compare(a.priority, b.priority) })
	return all
}

func ruleTexts(group gjson.Result) []string {
	var all []string
	for _, r := range securityRules(group) {
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
	for _, r := range securityRules(group) {
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

// ingressEdge is added by addIngress.
var ingressEdge = collect.Edge{
	Label: "ALLOWS_INGRESS", To: []entityType{cidrRangeType},
	Doc: "Who may come in, with protocol (tcp or udp), fromPort and toPort. For the internet, earlier rules that deny are considered.",
}

// ingress passes on who may come in.
func ingress(group gjson.Result, found func(cidr, protocol string, ports span)) {
	for _, protocol := range []string{"tcp", "udp"} {
		for _, s := range fromInternet(group, protocol) {
			found(everywhere, protocol, s)
		}
		for _, r := range securityRules(group) {
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

// addIngress adds edges to who may come in. Ranges stay ranges: 65,536 ports are
// one edge.
func addIngress(s *session, group gjson.Result, r *resource) {
	ingress(group, func(cidr, protocol string, ports span) {
		r.Edge(ingressEdge.Label, s.global(cidrRangeType, cidr),
			posture.Text("protocol", protocol), posture.Number("fromPort", ports.from), posture.Number("toPort", ports.to))
	})
}

// cidrRanges are the addresses that security groups let in, so that they can be
// asked for in the graph.
var cidrRanges = collector{
	Declaration: collect.Declaration{
		Type: cidrRangeType, Scope: collect.PerAccount, Service: armService, Doc: "A range of addresses that security groups let in.",
		Permissions: []string{"Microsoft.Network/networkSecurityGroups/read"},
		Properties: []collect.Property{
			{Name: "cidr", Kind: posture.StringProperty, Doc: "The range, such as 10.0.0.0/8."},
			{Name: "prefixLength", Kind: posture.LongProperty, Doc: "How many bits are fixed."},
			{Name: "ipVersion", Kind: posture.LongProperty, Doc: "Version 4 or 6."},
			{Name: "isInternet", Kind: posture.BoolProperty, Doc: "It is every address there is."},
			{Name: "isPrivate", Kind: posture.BoolProperty, Doc: "No address of it is routed on the internet."},
		},
		Events: []collect.Event{{Source: "Microsoft.Network/networkSecurityGroups", Names: []string{"write", "delete"}}},
	},
	List: func(ctx context.Context, s *session, emit collect.Emit) error {
		seen := map[string]bool{}
		return kindOf(networkSecurityGroupType).inTurn(ctx, s, func(it item) error { return s.emitRanges(it.Result, seen, emit) })
	},
	// An event names the security group, not the range.
	Get: func(ctx context.Context, s *session, name string, emit collect.Emit) error {
		group, err := kindOf(networkSecurityGroupType).one(ctx, s, name)
		if err != nil {
			return err
		}
		return s.emitRanges(group.Result, map[string]bool{}, emit)
	},
}

// emitRanges emits the ranges that a security group lets in and that were not
// seen before.
func (s *session) emitRanges(group gjson.Result, seen map[string]bool, emit collect.Emit) error {
	var fresh []string
	ingress(group, func(cidr, _ string, _ span) {
		if !seen[cidr] {
			seen[cidr] = true
			fresh = append(fresh, cidr)
		}
	})
	for _, cidr := range fresh {
		if err := emit(s.cidrRange(cidr)); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) cidrRange(cidr string) *resource {
	r := collect.NewResource(cidrRangeType, s.account, posture.Global, cidr)
	r.XID = cidr
	r.Text("cidr", cidr)
	if p, ok := parsePrefix(cidr); ok {
		r.Number("prefixLength", int64(p.Bits()))
		r.Number("ipVersion", map[bool]int64{true: 4, false: 6}[p.Addr().Is4()])
		r.Flag("isInternet", p.Bits() == 0)
		r.Flag("isPrivate", p.Bits() > 7 && (p.Addr().IsPrivate() || p.Addr().IsLoopback() || p.Addr().IsLinkLocalUnicast()))
	}
	return r
}
