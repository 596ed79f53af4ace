package gcp

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
)

// A Network holds the rules that apply to traffic into a VPC network, in order
// of evaluation: policies of the organisation and folders from the top down, the
// global network policy, and the network's own rules. With the enforcement order
// BEFORE_CLASSIC_FIREWALL the network policy is evaluated before the rules,
// otherwise after them, which is the default.
// https://cloud.google.com/firewall/docs/firewall-policies-overview
type Network struct {
	Hierarchy []gjson.Result // firewall policies (rules), the organisation's first
	Policy    []gjson.Result // network firewall policies
	Rules     []gjson.Result // VPC firewall rules
	Before    bool           // the network policy is evaluated before the rules
	Unread    string         // describes what could not be read, or empty
	Self      string         // the network: projects/p/global/networks/n

	machine   bool      // evaluate for one machine
	selectors []string  // selectors of the machine in rules
	from      ipset.Set // senders to consider; everybody when empty
}

// Ports is an inclusive range of ports.
type Ports struct{ from, to int }

var allPorts = Ports{0, 65535}

// A rule is a VPC firewall rule or a rule of a firewall policy, expressed as sets.
type rule struct {
	priority int64
	verdict  string // allow, deny, goto_next
	sources  ipset.Set
	matches  []match
	whole    bool     // it applies to every machine
	targets  []string // network tags and service accounts of the machines that it applies to
	unclear  string   // describes an unsupported part
	asked    bool     // it is the rule that [Opens] evaluates
}

// A match is a protocol and its ports.
type match struct {
	protocol string
	ports    []Ports
}

// Reaches decides whether the whole internet can reach a port of some machine in
// the network. In each stage the first matching rule decides. goto_next, or no
// match, continues with the next stage. At the end the network denies.
func Reaches(n Network, protocol string, port int) predicate.Answer {
	a := n.admitted(n.stages(""), nil, protocol, port)
	return n.answer(a.certain, a.certain.Union(a.perhaps), a.why, protocol, port)
}

// answer returns the result for the sources that certainly pass and those that may pass.
func (n *Network) answer(certain, possible ipset.Set, why, protocol string, port int) predicate.Answer {
	switch {
	case certain.IsInternet() && n.Unread == "":
		return predicate.Of(true, "the internet passes to "+protocol+" "+strconv.Itoa(port))
	case possible.IsInternet():
		return predicate.NotKnown(cmp.Or(why, n.Unread))
	case n.Unread != "":
		return predicate.NotKnown(n.Unread)
	}
	return predicate.Of(false, "")
}

// A Machine holds the selectors of a machine in rules, and its public addresses.
type Machine struct{ Tags, Accounts, Addresses []string }

// OnMachine returns the rules that apply to traffic to the public addresses of a
// machine. It omits rules for other machines. Secure tags of policies are not
// read.
func (n Network) OnMachine(m Machine) Network {
	n.machine, n.selectors, n.from = true, nil, ipset.Set{}
	for _, t := range m.Tags {
		n.selectors = append(n.selectors, "tag "+t)
	}
	for _, a := range m.Accounts {
		n.selectors = append(n.selectors, "account "+a)
	}
	for _, a := range m.Addresses {
		// Only senders with the same IP version can reach it.
		if strings.Contains(a, ":") {
			n.from = n.from.Union(ipset.Must("::/0"))
		} else {
			n.from = n.from.Union(ipset.Must("0.0.0.0/0"))
		}
	}
	return n
}

// stages returns the rules of each stage in order of evaluation. It marks the rule of a name.
func (n *Network) stages(name string) [][]rule {
	var stages [][]rule
	for _, p := range n.Hierarchy {
		stages = append(stages, policyRules(p, n.Self))
	}
	var vpc, policy []rule
	for _, r := range n.Rules {
		for _, one := range vpcRule(r) {
			one.asked = name != "" && r.Get("name").String() == name
			vpc = append(vpc, one)
		}
	}
	for _, p := range n.Policy {
		policy = append(policy, policyRules(p, n.Self)...)
	}
	// Among VPC rules of one priority, deny rules come first.
	slices.SortStableFunc(vpc, func(a, b rule) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), -cmp.Compare(a.verdict, b.verdict))
	})
	if n.Before {
		stages = append(stages, policy, vpc)
	} else {
		stages = append(stages, vpc, policy)
	}
	if n.machine {
		for i := range stages {
			stages[i] = n.forMachine(stages[i])
		}
	}
	return stages
}

// forMachine drops the rules for other machines. The remaining rules are treated
// as rules for all machines.
func (n *Network) forMachine(rules []rule) (kept []rule) {
	for _, r := range rules {
		switch {
		case r.whole:
		case slices.ContainsFunc(r.targets, func(t string) bool { return slices.Contains(n.selectors, t) }):
			r.whole = true
		case slices.ContainsFunc(r.targets, func(t string) bool { return strings.HasPrefix(t, "secure tag ") }):
			r.markUnclear("it applies to machines with secure tags, which are not read")
		default:
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

type admission struct {
	certain, perhaps ipset.Set
	why              string
}

// admitted evaluates the stages for the sources that are still undecided. With
// about, it admits only what that rule allows to the machines that the rule
// applies to.
func (n *Network) admitted(stages [][]rule, about *rule, protocol string, port int) (a admission) {
	mayBeDenied := false // an earlier rule may deny
	undecided := ipset.Must("0.0.0.0/0", "::/0")
	if !n.from.IsEmpty() {
		undecided = n.from
	}
	for _, rules := range stages {
		left, passed := undecided, ipset.Set{}
		slices.SortStableFunc(rules, func(a, b rule) int { return cmp.Compare(a.priority, b.priority) })
		for _, r := range rules {
			if !r.about(protocol, port) {
				continue
			}
			here := left.Intersect(r.sources)
			whole := r.whole
			if about != nil {
				if r.verdict == "allow" && !r.asked {
					continue // another rule opens it too, which does not matter for this one
				}
				whole = whole || len(about.targets) > 0 && !slices.ContainsFunc(about.targets, func(t string) bool { return !slices.Contains(r.targets, t) })
			}
			if r.unclear != "" {
				if about == nil || r.asked {
					a.perhaps = a.perhaps.Union(left)
				}
				a.why = cmp.Or(a.why, r.unclear)
				mayBeDenied = mayBeDenied || r.verdict != "allow"
				continue
			}
			switch {
			case r.verdict == "allow" && mayBeDenied:
				a.perhaps = a.perhaps.Union(here)
			case r.verdict == "allow":
				// It is open for some machines; later rules decide for the others.
				a.certain = a.certain.Union(here)
			case !whole:
				continue // only some machines: later rules still apply to the others
			case r.verdict == "goto_next":
				passed = passed.Union(here)
			}
			if whole {
				left = left.Less(here)
			}
		}
		undecided = left.Union(passed)
	}
	return a
}

func (r *rule) about(protocol string, port int) bool {
	return slices.ContainsFunc(r.matches, func(m match) bool {
		if m.protocol != "all" && m.protocol != protocol {
			return false
		}
		return len(m.ports) == 0 || slices.ContainsFunc(m.ports, func(p Ports) bool { return p.from <= port && port <= p.to })
	})
}

// numbers maps protocol numbers in rules to names.
var numbers = map[string]string{"6": "tcp", "17": "udp", "1": "icmp"}

func (r *rule) add(protocol string, ports []string) {
	m := match{protocol: strings.ToLower(protocol)}
	if name, ok := numbers[m.protocol]; ok {
		m.protocol = name
	}
	for _, text := range ports {
		from, to, ranged := strings.Cut(text, "-")
		if !ranged {
			to = from
		}
		a, err := strconv.ParseUint(from, 10, 16)
		b, err2 := strconv.ParseUint(to, 10, 16)
		if err != nil || err2 != nil || a > b {
			r.markUnclear("the port range %q is not supported", text)
			m.ports = append(m.ports, allPorts)
			continue
		}
		m.ports = append(m.ports, Ports{int(a), int(b)})
	}
	r.matches = append(r.matches, m)
}

func (r *rule) markUnclear(format string, args ...any) {
	if r.unclear == "" {
		r.unclear = fmt.Sprintf("firewall rule with priority %d: ", r.priority) + fmt.Sprintf(format, args...)
	}
}

func (r *rule) from(ranges []string) {
	for _, text := range ranges {
		set, err := ipset.Parse(text)
		if err != nil {
			r.markUnclear("the source %q is not supported", text)
		}
		r.sources = r.sources.Union(set)
	}
}

// vpcRule converts a VPC firewall rule to one rule for what it allows and one
// for what it denies. It returns none for disabled and egress rules.
func vpcRule(v gjson.Result) (all []rule) {
	if v.Get("disabled").Bool() || strings.EqualFold(v.Get("direction").String(), "EGRESS") {
		return nil
	}
	for _, verdict := range []string{"allow", "deny"} {
		list := v.Get(map[string]string{"allow": "allowed", "deny": "denied"}[verdict]).Array()
		if len(list) == 0 {
			continue
		}
		r := rule{priority: 1000, verdict: verdict, targets: append(prefixed("tag ", v.Get("targetTags")), prefixed("account ", v.Get("targetServiceAccounts"))...)}
		r.whole = len(r.targets) == 0
		if p := v.Get("priority"); p.Exists() {
			r.priority = p.Int()
		}
		tagged := len(v.Get("sourceTags").Array())+len(v.Get("sourceServiceAccounts").Array()) > 0
		ranges := texts(v.Get("sourceRanges"))
		if len(ranges) == 0 && !tagged {
			ranges = []string{"0.0.0.0/0"} // the default of the cloud
		}
		r.from(ranges)
		for _, one := range list {
			r.add(one.Get("IPProtocol").String(), texts(one.Get("ports")))
		}
		all = append(all, r)
	}
	return all
}

// prefixed returns the strings of a list with a prefix.
func prefixed(prefix string, v gjson.Result) (all []string) {
	for _, text := range texts(v) {
		all = append(all, prefix+text)
	}
	return all
}

// policyRules returns the inbound rules of a firewall policy for a network.
func policyRules(policy gjson.Result, network string) (all []rule) {
	for _, v := range policy.Get("rules").Array() {
		if networks := texts(v.Get("targetResources")); len(networks) > 0 && !slices.ContainsFunc(networks, func(n string) bool { return strings.HasSuffix(n, "/"+network) }) {
			continue // it applies to other networks
		}
		if v.Get("disabled").Bool() || strings.EqualFold(v.Get("direction").String(), "EGRESS") {
			continue
		}
		r := rule{priority: v.Get("priority").Int(), verdict: strings.ToLower(v.Get("action").String())}
		r.targets = append(prefixed("secure tag ", v.Get("targetSecureTags.#.name")), prefixed("account ", v.Get("targetServiceAccounts"))...)
		r.whole = len(r.targets) == 0
		if !slices.Contains([]string{"allow", "deny", "goto_next"}, r.verdict) {
			r.markUnclear("the action %q is not supported", r.verdict)
		}
		m := v.Get("match")
		ranges := texts(m.Get("srcIpRanges"))
		narrowed := false
		for _, name := range []string{"srcSecureTags", "srcRegionCodes", "srcThreatIntelligences", "srcFqdns", "srcAddressGroups", "srcNetworkContext", "srcNetworkType"} {
			if list := m.Get(name); len(list.Array()) > 0 && list.String() != "" && !strings.EqualFold(list.String(), "INTERNET") {
				narrowed = true
			}
		}
		switch {
		case len(ranges) == 0 && !narrowed:
			ranges = []string{"0.0.0.0/0", "::/0"}
		case narrowed && r.verdict != "deny":
			r.markUnclear("it is limited to tags, countries or groups of addresses, which are not read")
		case narrowed:
			ranges = nil // it denies unknown sources
		}
		r.from(ranges)
		for _, one := range m.Get("layer4Configs").Array() {
			r.add(one.Get("ipProtocol").String(), texts(one.Get("ports")))
		}
		all = append(all, r)
	}
	return all
}
