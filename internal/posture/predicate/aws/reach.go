package aws

import (
	"slices"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
)

// A Rule of a security group lets in some ports of a protocol from some peers.
type Rule struct {
	Protocol string `yaml:"protocol"` // tcp, udp, icmp, icmpv6, a number, or -1 for all
	// From and To are the first and last port. Both nil means all; of ICMP they are
	// type and code, not ports.
	From        *int64   `yaml:"from"`
	To          *int64   `yaml:"to"`
	Ranges      []string `yaml:"ranges"`      // CIDR ranges of either version
	PrefixLists []string `yaml:"prefixLists"` // ids
	Groups      []string `yaml:"groups"`      // other groups: never the internet
}

// A Firewall is what lets traffic in to a network interface: the rules of all its
// security groups together. There is no rule that denies.
type Firewall struct {
	Rules []Rule `yaml:"rules"`
	// Lists are the entries of prefix lists. One that is not there could not be
	// read.
	Lists map[string][]string `yaml:"lists"`
}

// Protocols that have ports.
const (
	TCP = "tcp"
	UDP = "udp"
)

// lastPort is the greatest port.
const lastPort = 65535

// An Opening is a range of ports that the internet reaches.
type Opening struct {
	Protocol string // tcp or udp
	From, To int64
	Version  int // of the addresses: 4 or 6
}

// ProtocolName names a protocol: AWS takes the numbers of those that have names,
// too.
func ProtocolName(p string) string {
	if name, ok := map[string]string{"6": TCP, "17": UDP, "1": "icmp", "58": "icmpv6", "all": "-1"}[p]; ok {
		return name
	}
	return p
}

// carries reports whether a rule is about a protocol that has ports.
func carries(protocol, wanted string) bool {
	name := ProtocolName(protocol)
	return name == "-1" || name == wanted
}

// ports returns the range of ports of a rule.
func (r Rule) ports() (from, to int64) {
	if ProtocolName(r.Protocol) == "-1" || r.From == nil || r.To == nil || *r.From == -1 {
		return 0, lastPort
	}
	return *r.From, *r.To
}

// whole are all addresses by version.
var whole = map[int]ipset.Set{4: ipset.Must("0.0.0.0/0"), 6: ipset.Must("::/0")}

// Reaches answers whether the internet reaches a port over addresses of a version:
// the ranges that rules let in to it, taken together, are the internet. ICMP is
// not a port.
func (f Firewall) Reaches(protocol string, port int64, version int) predicate.Answer {
	var all ipset.Set
	unread := ""
	for _, r := range f.Rules {
		from, to := r.ports()
		if !carries(r.Protocol, protocol) || port < from || port > to {
			continue
		}
		peers, why := f.peers(r)
		all = all.Union(peers)
		if why != "" {
			unread = why
		}
	}
	switch {
	case all.Intersect(whole[version]).IsInternet():
		return predicate.Of(true, "its rules let in "+all.Public().String())
	case unread != "":
		return predicate.NotKnown(unread)
	}
	return predicate.Of(false, "")
}

// peers returns the addresses that a rule lets in, and why there may be more.
func (f Firewall) peers(r Rule) (all ipset.Set, unread string) {
	add := func(texts []string) {
		for _, text := range texts {
			one, err := ipset.Parse(text)
			if err != nil {
				unread = err.Error()
			}
			all = all.Union(one)
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

// Openings returns the ranges of ports that the internet reaches, and the first
// reason why there may be more. Ranges are as long as they can be.
func (f Firewall) Openings() (open []Opening, unread string) {
	for _, protocol := range []string{TCP, UDP} {
		for _, version := range []int{4, 6} {
			edges := []int64{0, lastPort + 1}
			for _, r := range f.Rules {
				if from, to := r.ports(); carries(r.Protocol, protocol) {
					edges = append(edges, from, to+1)
				}
			}
			slices.Sort(edges)
			edges = slices.Compact(edges)
			joined := false
			for i := range len(edges) - 1 {
				a := f.Reaches(protocol, edges[i], version)
				if a.Truth == predicate.Unknown && unread == "" {
					unread = a.Why
				}
				switch {
				case a.Truth != predicate.Yes:
				case joined:
					open[len(open)-1].To = edges[i+1] - 1
				default:
					open = append(open, Opening{protocol, edges[i], edges[i+1] - 1, version})
				}
				joined = a.Truth == predicate.Yes
			}
		}
	}
	return open, unread
}

// An Entry of a network ACL. Entries are tried in the order of their numbers, and
// the first that fits a packet decides.
type Entry struct {
	Number   int64  `yaml:"number"`
	Deny     bool   `yaml:"deny"`
	Protocol string `yaml:"protocol"`
	From     *int64 `yaml:"from"`
	To       *int64 `yaml:"to"`
	Range    string `yaml:"range"`
}

// Admits answers whether the ingress entries of a network ACL let the internet in
// to a port.
func Admits(entries []Entry, protocol string, port int64) predicate.Answer {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Entry) int { return int(a.Number - b.Number) })
	var decided, allowed, maybe ipset.Set
	unread := ""
	for _, e := range entries {
		from, to := Rule{Protocol: e.Protocol, From: e.From, To: e.To}.ports()
		if !carries(e.Protocol, protocol) || port < from || port > to {
			continue
		}
		peers, err := ipset.Parse(e.Range)
		if err != nil {
			unread = err.Error()
			maybe = ipset.Must("0.0.0.0/0", "::/0") // it may decide anything that is not decided yet
			continue
		}
		if fresh := peers.Less(decided); !e.Deny {
			allowed = allowed.Union(fresh.Less(maybe))
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
