package azure

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate/ipset"
)

// Ports is an inclusive range of ports.
type Ports struct{ From, To int }

// allPorts is the range of all ports.
var allPorts = Ports{0, 65535}

// String formats the range as in security rules.
func (p Ports) String() string {
	if p.From == p.To {
		return strconv.Itoa(p.From)
	}
	return fmt.Sprintf("%d-%d", p.From, p.To)
}

// covers reports whether the range contains another range.
func (p Ports) covers(o Ports) bool { return p.From <= o.From && o.To <= p.To }

// parsePorts parses the ports of a security rule: *, 22 or 1000-2000.
func parsePorts(text string) (Ports, bool) {
	if text == "*" {
		return allPorts, true
	}
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	a, err := strconv.ParseUint(strings.TrimSpace(from), 10, 16)
	b, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 16)
	return Ports{int(a), int(b)}, err == nil && err2 == nil && a <= b
}

// A securityRule is an inbound rule of a network security group, expressed as sets.
type securityRule struct {
	priority    int64
	denies      bool
	protocol    string // lower case; * for all
	sources     ipset.Set
	ports       []Ports // destination ports
	sourcePorts []Ports
	targets     targets

	// unclear describes an unsupported part of the rule. Such an allow rule
	// may allow every source that no earlier rule denies; such a deny rule denies no
	// source for certain.
	unclear string
}

// everywhere is the set of all addresses.
var everywhere = ipset.Must("0.0.0.0/0", "::/0")

// serviceTag is the syntax of service tags, which name groups of addresses:
// Storage, Sql.WestEurope, AzureFrontDoor.Backend.
var serviceTag = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z0-9]+)*$`)

// source returns the addresses of a source prefix, and false if it is not understood.
// A tag whose addresses are unknown has none, except AzureCloud in an allow rule.
func source(text string, denied bool) (ipset.Set, bool) {
	switch strings.ToLower(text) {
	case "*", "any", "internet":
		return everywhere, true
	case "azurecloud":
		// All machines in Azure: more addresses than a /8, and anyone can rent one, so an
		// allow counts as open to the internet. A deny leaves the rest of the internet open.
		if denied {
			return ipset.Set{}, true
		}
		return everywhere, true
	}
	if set, err := ipset.Parse(text); err == nil {
		return set, true
	}
	// Other tags denote the virtual network, the load balancer's probes, and
	// addresses of services that Microsoft runs: not the whole internet.
	return ipset.Set{}, serviceTag.MatchString(text)
}

// targets are the destinations of a rule: addresses, or the machines of
// application security groups, whose addresses are unknown.
type targets struct {
	all    bool
	addrs  ipset.Set
	groups []string // ids of application security groups, lower case
}

// coverage says to what extent targets cover other targets.
type coverage uint8

const (
	coversNone      coverage = iota // not all of them, possibly some
	coverageUnknown                 // unknown: application security groups against addresses
	coversAll
)

// covers decides whether all traffic to o is traffic to t.
func (t targets) covers(o targets) coverage {
	switch {
	case t.all:
		return coversAll
	case o.all:
		return coversNone
	}
	groups := containsAll(t.groups, o.groups)
	addrs := t.addrs.Contains(o.addrs)
	switch {
	case groups && addrs:
		return coversAll
	case !groups && !t.addrs.IsEmpty(): // t's addresses may be those of the machines in o's groups
		return coverageUnknown
	case !addrs && len(t.groups) > 0: // the machines in t's groups may have o's addresses
		return coverageUnknown
	}
	return coversNone
}

// containsAll reports whether the list all contains every element of some.
func containsAll(all, some []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

// securityRules returns the inbound rules of a group in order of priority.
func securityRules(group gjson.Result) []securityRule {
	var all []securityRule
	for _, p := range group.Get("properties.securityRules.#.properties").Array() {
		if !strings.EqualFold(p.Get("direction").String(), "Inbound") {
			continue
		}
		all = append(all, parseRule(p))
	}
	slices.SortStableFunc(all, func(a, b securityRule) int { return cmp.Compare(a.priority, b.priority) })
	return all
}

func parseRule(p gjson.Result) securityRule {
	r := securityRule{
		priority: p.Get("priority").Int(), denies: strings.EqualFold(p.Get("access").String(), "Deny"),
		protocol: strings.ToLower(p.Get("protocol").String()),
	}
	unclear := func(format string, args ...any) {
		if r.unclear == "" {
			r.unclear = fmt.Sprintf("rule %d: ", r.priority) + fmt.Sprintf(format, args...)
		}
	}
	if access := p.Get("access").String(); !r.denies && !strings.EqualFold(access, "Allow") {
		unclear("access is %q", access)
	}
	if r.protocol == "" {
		unclear("the protocol is missing")
	}
	sources := texts(p.Get("[sourceAddressPrefix,sourceAddressPrefixes]"))
	for _, text := range sources {
		set, ok := source(text, r.denies)
		if !ok {
			unclear("the source %q is not supported", text)
		}
		r.sources = r.sources.Union(set)
	}
	if len(sources) == 0 && !hasAny(p.Get("sourceApplicationSecurityGroups")) {
		unclear("the source is missing")
	}
	r.ports = ports(p, "[destinationPortRange,destinationPortRanges]", unclear)
	r.sourcePorts = ports(p, "[sourcePortRange,sourcePortRanges]", unclear)
	r.targets = parseTargets(p, unclear)
	return r
}

func ports(p gjson.Result, path string, unclear func(string, ...any)) (all []Ports) {
	found := texts(p.Get(path))
	for _, text := range found {
		r, ok := parsePorts(text)
		if !ok {
			unclear("the port range %q is not supported", text)
			r = allPorts
		}
		all = append(all, r)
	}
	if len(found) == 0 {
		return []Ports{allPorts} // absent for protocols without ports
	}
	return all
}

func parseTargets(p gjson.Result, unclear func(string, ...any)) (t targets) {
	for _, g := range p.Get("destinationApplicationSecurityGroups.#.id").Array() {
		t.groups = append(t.groups, strings.ToLower(g.String()))
	}
	found := texts(p.Get("[destinationAddressPrefix,destinationAddressPrefixes]"))
	for _, text := range found {
		switch strings.ToLower(text) {
		case "*", "any", "0.0.0.0/0", "virtualnetwork": // all machines behind a group are in the virtual network
			t.all = true
			continue
		}
		set, err := ipset.Parse(text)
		if err != nil && !serviceTag.MatchString(text) {
			unclear("the destination %q is not supported", text)
			t.all = true
		}
		t.addrs = t.addrs.Union(set)
	}
	if len(found) == 0 && len(t.groups) == 0 {
		t.all = true
	}
	return t
}

// matches reports whether a rule applies to a protocol.
func (r *securityRule) matches(protocol string) bool {
	return r.protocol == "*" || r.protocol == protocol
}

// coversPorts reports whether one of the rule's ranges covers a range of ports.
func (r *securityRule) coversPorts(p Ports) bool {
	return anyCovers(r.ports, p)
}

// coversSourcePorts reports whether the rule applies to every source port of another rule.
func (r *securityRule) coversSourcePorts(o *securityRule) bool {
	for _, p := range o.sourcePorts {
		if !anyCovers(r.sourcePorts, p) {
			return false
		}
	}
	return true
}

// anyCovers reports whether one of the ranges covers p.
func anyCovers(ranges []Ports, p Ports) bool {
	return slices.ContainsFunc(ranges, func(r Ports) bool { return r.covers(p) })
}
