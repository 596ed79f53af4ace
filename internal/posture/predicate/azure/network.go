package azure

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
)

// An Opening is a range of ports that is reachable from the internet.
type Opening struct {
	Ports
	Why string // the reason when it is uncertain
}

// FromInternet returns the port ranges of a protocol ("tcp", "udp", "icmp") that
// the whole internet can reach through all network security groups on the way:
// those of the subnet and of the network interface, as Resource Manager
// describes them. Omit a level without a group. unknown are the ranges that
// cannot be decided.
func FromInternet(protocol string, groups ...gjson.Result) (open, unknown []Opening) {
	if len(groups) == 0 {
		return nil, nil
	}
	rules := make([][]securityRule, len(groups))
	var all []securityRule
	for i, g := range groups {
		// A rule whose protocol is missing stays: it is unclear and may apply.
		rules[i] = slices.DeleteFunc(securityRules(g), func(r securityRule) bool { return !r.matches(protocol) && r.protocol != "" })
		all = append(all, rules[i]...)
	}
	for _, p := range pieces(all) {
		certain, possible, reason := everywhere, everywhere, "" // sources that pass all groups
		for _, group := range rules {
			a := admit(group, p)
			certain = certain.Intersect(a.certain)
			possible = possible.Intersect(a.certain.Union(a.perhaps))
			reason = cmp.Or(reason, a.why)
		}
		switch {
		case certain.IsInternet():
			open = appendOpening(open, Opening{p, ""})
		case possible.IsInternet():
			unknown = appendOpening(unknown, Opening{p, reason})
		}
	}
	return open, unknown
}

// Reaches decides whether the whole internet can reach a port through all groups on the way.
func Reaches(protocol string, port int, groups ...gjson.Result) predicate.Answer {
	open, unknown := FromInternet(protocol, groups...)
	for _, o := range open {
		if o.covers(Ports{port, port}) {
			return predicate.Of(true, "the internet passes to "+protocol+" "+o.String())
		}
	}
	for _, o := range unknown {
		if o.covers(Ports{port, port}) {
			return predicate.NotKnown(o.Why)
		}
	}
	return predicate.Of(false, "")
}

// pieces splits all ports at the boundaries of the rules' ranges, so that each
// piece is completely inside or outside each range.
func pieces(rules []securityRule) []Ports {
	cuts := []int{0, 65536}
	for _, r := range rules {
		for _, p := range r.ports {
			cuts = append(cuts, p.From, p.To+1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var all []Ports
	for i := 1; i < len(cuts); i++ {
		all = append(all, Ports{cuts[i-1], cuts[i] - 1})
	}
	return all
}

// An admission is the set of sources whose traffic passes a group to some ports.
type admission struct {
	certain, perhaps ipset.Set
	why              string
}

// admit returns the sources whose traffic passes to a piece. Rules are in order
// of priority. An allow rule admits the sources that no earlier deny rule
// covers. A deny rule covers them only if it applies to every destination and
// every source port of the allow rule; if it is unknown whether it applies to
// every destination, its sources are perhaps admitted. Default rules deny
// everything else.
func admit(rules []securityRule, p Ports) (a admission) {
	for i := range rules {
		r := &rules[i]
		if r.denies || !r.coversPorts(p) {
			continue
		}
		remaining, doubt := r.sources, r.unclear
		if doubt != "" {
			remaining = everywhere // an unclear rule may allow every source
		}
		var perhapsDenied ipset.Set
		for j := range rules[:i] {
			d := &rules[j]
			if !d.denies || !d.coversPorts(p) || !d.coversSourcePorts(r) {
				continue
			}
			if d.unclear != "" {
				doubt = cmp.Or(doubt, d.unclear)
				continue
			}
			switch d.targets.covers(r.targets) {
			case coversAll:
				remaining = remaining.Difference(d.sources)
			case coverageUnknown:
				perhapsDenied = perhapsDenied.Union(d.sources)
			}
		}
		if doubt == "" {
			a.certain = a.certain.Union(remaining.Difference(perhapsDenied))
			if perhapsDenied.IsEmpty() {
				continue
			}
			doubt = "an earlier deny rule has other application security groups or addresses as its destination, whose machines are unknown"
		}
		a.perhaps, a.why = a.perhaps.Union(remaining), cmp.Or(a.why, doubt)
	}
	return a
}

// appendOpening joins adjacent ranges.
func appendOpening(all []Opening, o Opening) []Opening {
	if n := len(all) - 1; n >= 0 && all[n].To+1 == o.From && all[n].Why == o.Why {
		all[n].To = o.To
		return all
	}
	return append(all, o)
}
