package gcp

import (
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
)

// Opens decides whether the whole internet can reach a port of some machine by
// one VPC firewall rule. Rules and policies are taken into account if they have
// precedence and deny the port to all machines of the rule. Other rules that allow
// the port are ignored.
func Opens(n Network, name, protocol string, port int) predicate.Answer {
	stages := n.stages(name)
	var target *rule
	for _, stage := range stages {
		for i := range stage {
			if stage[i].asked && stage[i].verdict == "allow" {
				target = &stage[i]
			}
		}
	}
	if target == nil {
		return predicate.Of(false, "")
	}
	return n.reaches(stages, target, protocol, port)
}

// OpensAny decides whether the whole internet can reach some TCP or UDP port by
// one VPC firewall rule.
func OpensAny(n Network, name string) predicate.Answer {
	return n.any(func(n Network, protocol string, port int) predicate.Answer { return Opens(n, name, protocol, port) })
}

// OpensAll decides whether one VPC firewall rule covers all ports of TCP or of
// UDP and the whole internet can reach more than half of them by it. Denying a
// few ports with precedence does not make such a rule safe.
func OpensAll(n Network, name string) predicate.Answer {
	alone := Network{Rules: slices.DeleteFunc(slices.Clone(n.Rules), func(r gjson.Result) bool { return r.Get("name").String() != name })}
	out := predicate.Of(false, "")
	for _, protocol := range []string{"tcp", "udp"} {
		if certain, possible, reason := opened(alone, name, protocol); certain < lastPort {
			if possible == lastPort {
				out = predicate.Or(out, predicate.NotKnown(reason))
			}
			continue
		}
		switch certain, possible, reason := opened(n, name, protocol); {
		case certain > lastPort/2:
			return predicate.Of(true, "the internet passes to all ports of "+protocol)
		case possible > lastPort/2:
			out = predicate.Or(out, predicate.NotKnown(reason))
		}
	}
	return out
}

// opened returns the number of ports that the internet certainly reaches by a
// rule, and the number that it may reach.
func opened(n Network, name, protocol string) (certain, possible int, reason string) {
	starts := n.starts()
	for i, port := range starts {
		end := lastPort + 1
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		switch answer := Opens(n, name, protocol, port); answer.Truth {
		case predicate.Yes:
			certain += end - port
			possible += end - port
		case predicate.Unknown:
			possible += end - port
			reason = answer.Why
		}
	}
	return certain, possible, reason
}

// ReachesAny decides whether the whole internet can reach some TCP or UDP port.
func ReachesAny(n Network) predicate.Answer { return n.any(Reaches) }

func (n Network) any(ask func(n Network, protocol string, port int) predicate.Answer) predicate.Answer {
	out := predicate.Of(false, "")
	for _, protocol := range []string{"tcp", "udp"} {
		for _, port := range n.starts() {
			out = predicate.Or(out, ask(n, protocol, port))
			if out.Truth == predicate.Yes {
				return out
			}
		}
	}
	return out
}

const lastPort = 65535 // also the number of ports, because the first is 1

// starts returns in ascending order the ports at which a port range of a rule
// begins, and the first ports after such ranges. All ports between two starts are
// treated in the same way, and so are those from the last start to lastPort.
func (n *Network) starts() []int {
	ports := map[int]bool{1: true}
	for _, stage := range n.stages("") {
		for _, r := range stage {
			for _, m := range r.matches {
				for _, p := range m.ports {
					ports[max(p.from, 1)] = true
					if p.to < lastPort { // no range contains lastPort+1, so a deny of ranges would not cover it
						ports[p.to+1] = true
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(ports))
}
