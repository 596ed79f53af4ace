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

// A Network holds the rules that apply to traffic into a VPC network, or into one of its regions,
// in order of evaluation: policies of the organisation and folders from the top down, the global
// network policy, the regional network policy, and the network's own rules. With the enforcement
// order BEFORE_CLASSIC_FIREWALL the network policies are evaluated before the rules, otherwise
// after them, which is the default.
// https://cloud.google.com/firewall/docs/firewall-policies-rule-eval-order
type Network struct {
	Hierarchy []gjson.Result // firewall policies (rules), the organisation's first
	Policy    []gjson.Result // network firewall policies, the global one first
	Rules     []gjson.Result // VPC firewall rules
	Before    bool           // the network policies are evaluated before the rules
	Unread    string         // describes what could not be read, or empty
	Self      string         // the network: projects/p/global/networks/n

	machine   bool      // evaluate for one machine
	selectors []string  // of the machine: "tag x" for a network tag, "account x" for a service account
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
	targets  []string // selectors of the machines that it applies to: "tag x", "secure tag x", "account x"
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
	return n.reaches(n.stages(""), nil, protocol, port)
}

// reaches decides whether the internet can reach a port of a machine that has
// some combination of the tags and service accounts in the rules. If about is
// set, only what that rule admits counts.
func (n *Network) reaches(stages [][]rule, about *rule, protocol string, port int) predicate.Answer {
	out := predicate.Of(false, "")
	machines, complete := n.machines(stages, about, protocol, port)
	if !complete {
		out = predicate.NotKnown("its rules have too many combinations of tags and service accounts")
	}
	for _, machine := range machines {
		a := n.admitted(stages, machine, about != nil, protocol, port)
		if out = predicate.Or(out, n.answer(a.certain, a.certain.Union(a.perhaps), a.why, protocol, port)); out.Truth == predicate.Yes {
			return out
		}
	}
	return out
}

// machines returns the sets of selectors of the machines to consider. A machine
// that about applies to has one of its targets, and may have other selectors by
// which a policy passes traffic on to the next stage. complete is false when there are
// too many combinations.
func (n *Network) machines(stages [][]rule, about *rule, protocol string, port int) (all [][]string, complete bool) {
	if n.machine {
		return [][]string{n.selectors}, true
	}
	var others []string
	for _, stage := range stages {
		for _, r := range stage {
			if !r.coversPort(protocol, port) {
				continue
			}
			if about == nil || r.verdict == "goto_next" {
				others = append(others, r.targets...)
			}
		}
	}
	slices.Sort(others)
	combinations, complete := combine(slices.Compact(others))
	if about == nil || about.whole {
		return combinations, complete
	}
	for _, target := range about.targets {
		for _, more := range combinations {
			all = append(all, append([]string{target}, more...))
		}
	}
	return all, complete
}

// maxSelectors is the largest number of selectors of which all subsets are considered.
const maxSelectors = 6

// combine returns the subsets of selectors. If there are too many selectors, it
// returns only the subsets with at most one, and complete is false.
func combine(selectors []string) (all [][]string, complete bool) {
	complete = len(selectors) <= maxSelectors
	all = [][]string{nil}
	for _, s := range selectors {
		for _, set := range all {
			if complete || len(set) == 0 {
				all = append(all, append(slices.Clone(set), s))
			}
		}
	}
	return all, complete
}

// answer returns the result for the sources that certainly pass and those that may pass.
func (n *Network) answer(certain, possible ipset.Set, reason, protocol string, port int) predicate.Answer {
	switch {
	case certain.IsInternet() && n.Unread == "":
		return predicate.Of(true, "the internet passes to "+protocol+" "+strconv.Itoa(port))
	case possible.IsInternet():
		return predicate.NotKnown(cmp.Or(reason, n.Unread))
	case n.Unread != "":
		return predicate.NotKnown(n.Unread)
	}
	return predicate.Of(false, "")
}

// A Machine holds the selectors of a machine in rules, and its public addresses.
type Machine struct{ Tags, Accounts, Addresses []string }

// OnMachine returns the network for the evaluation of one machine: only rules that
// apply to it count and, if it has public addresses, only senders with the same IP
// version. The secure tags of machines are not read.
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

// stages returns the rules of each stage in order of evaluation. It marks the VPC rule called name as asked.
func (n *Network) stages(name string) [][]rule {
	var stages [][]rule
	for _, p := range n.Hierarchy {
		stages = append(stages, policyRules(p, n.Self))
	}
	var vpc []rule
	var policies [][]rule
	for _, r := range n.Rules {
		for _, part := range vpcRule(r) {
			part.asked = name != "" && r.Get("name").String() == name
			vpc = append(vpc, part)
		}
	}
	for _, p := range n.Policy {
		policies = append(policies, policyRules(p, n.Self))
	}
	if n.Before {
		stages = append(append(stages, policies...), vpc)
	} else {
		stages = append(append(stages, vpc), policies...)
	}
	for _, stage := range stages {
		// Among VPC rules of one priority, deny rules come first. Priorities within a policy differ.
		slices.SortStableFunc(stage, func(a, b rule) int {
			return cmp.Or(cmp.Compare(a.priority, b.priority), -cmp.Compare(a.verdict, b.verdict))
		})
	}
	return stages
}

// applies reports whether a rule applies to a machine with some selectors. The secure
// tags of a machine that was read are unknown: a rule for secure tags may apply, and
// applies marks it as unclear.
func (n *Network) applies(r *rule, selectors []string) bool {
	switch has := func(s string) bool { return slices.Contains(selectors, s) }; {
	case r.whole || slices.ContainsFunc(r.targets, has):
		return true
	case n.machine && slices.ContainsFunc(r.targets, func(t string) bool { return strings.HasPrefix(t, "secure tag ") }):
		r.markUnclear("it applies to machines with secure tags, which are not read")
		return true
	}
	return false
}

type admission struct {
	certain, perhaps ipset.Set
	why              string
}

// admitted returns the sources whose traffic the stages let through to a machine.
// If asked is true, only what the rule that is marked as asked allows counts.
func (n *Network) admitted(stages [][]rule, machine []string, asked bool, protocol string, port int) (a admission) {
	mayBeDenied := false // an earlier rule may deny, or pass on what later rules deny
	undecided := ipset.Must("0.0.0.0/0", "::/0")
	if !n.from.IsEmpty() {
		undecided = n.from
	}
	for _, rules := range stages {
		remaining, passed := undecided, ipset.Set{}
		for _, r := range rules {
			if !r.coversPort(protocol, port) || !n.applies(&r, machine) || asked && r.verdict == "allow" && !r.asked {
				continue // another rule that opens the port does not matter for the asked one
			}
			if r.unclear != "" {
				switch {
				case r.verdict == "deny": // it matters only for what a later rule allows
				case r.verdict == "goto_next":
					passed = passed.Union(remaining)
				case !asked || r.asked:
					a.perhaps = a.perhaps.Union(remaining)
				}
				a.why = cmp.Or(a.why, r.unclear)
				mayBeDenied = mayBeDenied || r.verdict != "allow"
				continue
			}
			here := remaining.Intersect(r.sources)
			switch {
			case r.verdict == "allow" && mayBeDenied:
				a.perhaps = a.perhaps.Union(here)
			case r.verdict == "allow":
				a.certain = a.certain.Union(here)
			case r.verdict == "goto_next":
				passed = passed.Union(here)
			}
			remaining = remaining.Difference(here)
		}
		undecided = remaining.Union(passed)
	}
	return a
}

func (r *rule) coversPort(protocol string, port int) bool {
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
		for _, element := range list {
			r.add(element.Get("IPProtocol").String(), texts(element.Get("ports")))
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

// anyInternetSource are the values of srcNetworkContext and srcNetworkType that do not limit
// traffic from the internet.
var anyInternetSource = []string{"", "UNSPECIFIED", "INTERNET"}

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
		// The values are lists, except the texts of srcNetworkContext and srcNetworkType, which Array returns as lists of one.
		for _, name := range []string{"srcSecureTags", "srcRegionCodes", "srcThreatIntelligences", "srcFqdns", "srcAddressGroups", "srcNetworkContext", "srcNetworkType"} {
			if list := m.Get(name); len(list.Array()) > 0 && !slices.Contains(anyInternetSource, list.String()) {
				narrowed = true
			}
		}
		switch {
		case len(ranges) == 0 && !narrowed:
			ranges = []string{"0.0.0.0/0", "::/0"}
		case narrowed && r.verdict != "deny":
			r.markUnclear("it is limited to tags, countries or groups of addresses, which are not read")
		case narrowed:
			ranges = nil // its sources are unknown, so it denies none for certain
		}
		r.from(ranges)
		for _, config := range m.Get("layer4Configs").Array() {
			r.add(config.Get("ipProtocol").String(), texts(config.Get("ports")))
		}
		all = append(all, r)
	}
	return all
}
