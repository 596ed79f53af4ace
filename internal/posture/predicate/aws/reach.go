package aws

import (
	"cmp"
	"slices"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
)

// A Rule of a security group allows some ports of a protocol from some peers.
type Rule struct {
	Protocol string `yaml:"protocol"` // tcp, udp, icmp, icmpv6, a number, or -1 for all
	// From and To are the first and last port. If one of them is nil, or From is -1, the rule
	// is for all ports. For ICMP they are type and code, not ports.
	From        *int64   `yaml:"from"`
	To          *int64   `yaml:"to"`
	Ranges      []string `yaml:"ranges"`      // CIDR ranges of either version
	PrefixLists []string `yaml:"prefixLists"` // ids
	Groups      []string `yaml:"groups"`      // other groups: never the internet
}

// A Firewall holds the rules of all security groups of a network interface.
// There are no rules that deny.
type Firewall struct {
	Rules []Rule `yaml:"rules"`
	// Lists are the entries of prefix lists. A list that could not be read is missing.
	Lists map[string][]string `yaml:"lists"`
}

// Protocols that have ports.
const (
	TCP = "tcp"
	UDP = "udp"
)

// lastPort is the highest port.
const lastPort = 65535

// An Opening is a range of ports that is reachable from the internet.
type Opening struct {
	Protocol string // tcp or udp
	From, To int64
	Version  int // IP version: 4 or 6
}

// ProtocolName returns the name of a protocol. AWS also accepts protocol numbers.
func ProtocolName(p string) string {
	if name, ok := map[string]string{"6": TCP, "17": UDP, "1": "icmp", "58": "icmpv6", "all": "-1"}[p]; ok {
		return name
	}
	return p
}

// includesProtocol reports whether a rule's protocol includes a required one, which has ports.
func includesProtocol(protocol, required string) bool {
	name := ProtocolName(protocol)
	return name == "-1" || name == required
}

// ports returns the port range of a rule.
func (r Rule) ports() (from, to int64) {
	if ProtocolName(r.Protocol) == "-1" || r.From == nil || r.To == nil || *r.From == -1 {
		return 0, lastPort
	}
	return *r.From, *r.To
}

// everywhere are all addresses by IP version.
var everywhere = map[int]ipset.Set{4: ipset.Must("0.0.0.0/0"), 6: ipset.Must("::/0")}

// Reaches decides whether a port is reachable from the internet over an IP
// version: the union of the allowed ranges counts as the internet. ICMP has no ports.
func (f Firewall) Reaches(protocol string, port int64, version int) predicate.Answer {
	peers, unread := peersOf(f.allowances(protocol), port)
	switch {
	case isInternet(peers, version):
		return predicate.Of(true, "its rules let in "+peers.Public().String())
	case unread != "":
		return predicate.NotKnown(unread)
	}
	return predicate.Of(false, "")
}

// An allowance is a rule whose ranges are parsed and whose prefix lists are replaced
// by their entries.
type allowance struct {
	from, to int64
	peers    ipset.Set
	unread   string // why there may be more peers, or empty
}

// allowances returns what the rules for a protocol allow.
func (f Firewall) allowances(protocol string) (all []allowance) {
	for _, r := range f.Rules {
		if !includesProtocol(r.Protocol, protocol) {
			continue
		}
		from, to := r.ports()
		peers, unread := f.peers(r)
		all = append(all, allowance{from, to, peers, unread})
	}
	return all
}

// peersOf returns the addresses that may reach a port, and the reason if there may be more.
func peersOf(rules []allowance, port int64) (all ipset.Set, unread string) {
	for _, r := range rules {
		if r.from <= port && port <= r.to {
			all, unread = all.Union(r.peers), cmp.Or(r.unread, unread)
		}
	}
	return all, unread
}

// isInternet reports whether the addresses of an IP version are the internet.
func isInternet(s ipset.Set, version int) bool { return s.Intersect(everywhere[version]).IsInternet() }

// peers returns the addresses that a rule allows, and the reason if there may be more.
func (f Firewall) peers(r Rule) (all ipset.Set, unread string) {
	add := func(texts []string) {
		for _, text := range texts {
			addresses, err := ipset.Parse(text)
			if err != nil {
				unread = err.Error()
			}
			all = all.Union(addresses)
		}
	}
	add(r.Ranges)
	for _, id := range r.PrefixLists {
		entries, ok := f.Lists[id]
		if !ok {
			unread = "the entries of the prefix list " + id + " could not be read"
		}
		add(entries)
	}
	return all, unread
}

// Openings returns the maximal port ranges that are reachable from the internet,
// and the first reason why there may be more.
func (f Firewall) Openings() (open []Opening, unread string) {
	for _, protocol := range []string{TCP, UDP} {
		rules := f.allowances(protocol)
		edges := []int64{0, lastPort + 1}
		for _, r := range rules {
			edges = append(edges, r.from, r.to+1)
		}
		slices.Sort(edges)
		edges = slices.Compact(edges)
		for _, version := range []int{4, 6} {
			joined := false
			for i := range len(edges) - 1 {
				peers, reason := peersOf(rules, edges[i])
				isOpen := isInternet(peers, version)
				switch {
				case !isOpen:
					unread = cmp.Or(unread, reason)
				case joined: // the previous range is open too
					open[len(open)-1].To = edges[i+1] - 1
				default:
					open = append(open, Opening{protocol, edges[i], edges[i+1] - 1, version})
				}
				joined = isOpen
			}
		}
	}
	return open, unread
}

// An Entry of a network ACL. Entries are evaluated in the order of their
// numbers; the first that matches a packet decides.
type Entry struct {
	Number   int64  `yaml:"number"`
	Deny     bool   `yaml:"deny"`
	Protocol string `yaml:"protocol"`
	From     *int64 `yaml:"from"`
	To       *int64 `yaml:"to"`
	Range    string `yaml:"range"`
}

// Admits decides whether the ingress entries of a network ACL allow the internet to reach a port.
func Admits(entries []Entry, protocol string, port int64) predicate.Answer {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Entry) int { return int(a.Number - b.Number) })
	var decided, allowed, maybe ipset.Set
	unread := ""
	for _, e := range entries {
		from, to := Rule{Protocol: e.Protocol, From: e.From, To: e.To}.ports()
		if !includesProtocol(e.Protocol, protocol) || port < from || port > to {
			continue
		}
		peers, err := ipset.Parse(e.Range)
		if err != nil {
			unread = err.Error()
			maybe = ipset.Must("0.0.0.0/0", "::/0") // it may match any address that is still undecided
			continue
		}
		if !e.Deny {
			allowed = allowed.Union(peers.Difference(decided).Difference(maybe))
		}
		decided = decided.Union(peers)
	}
	switch {
	case allowed.IsInternet():
		return predicate.Of(true, "its entries let in "+allowed.Public().String())
	case unread != "":
		return predicate.NotKnown(unread)
	}
	return predicate.Of(false, "")
}
