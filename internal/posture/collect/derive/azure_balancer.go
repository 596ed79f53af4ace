package derive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

const azureNetworkInterface posture.EntityType = "Azure.Network.NetworkInterface"

// azureLoadBalancerTargets adds the network interfaces to which a load balancer forwards
// traffic. Pools that no rule names, such as those of outbound rules alone, receive none.
var azureLoadBalancerTargets = resource.Function{
	Edges: []resource.Edge{{
		Label: "FORWARDS_TO", To: resource.EntityTypes{azureNetworkInterface},
		Doc: "The network interfaces to which its load balancing and inbound NAT rules forward traffic, with protocol (tcp or udp), fromPort and toPort of the interface.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var all []azureForwarding
		for _, path := range []string{"loadBalancingRules.#.properties", "inboundNatRules.#.properties"} {
			for _, rule := range in.Value.Get(path).Array() {
				for _, id := range azureRuleTargets(rule, in.Value.Get("backendAddressPools")) {
					target := in.Cloud.Ref(in.Vars, []posture.EntityType{azureNetworkInterface}, id)
					all = append(all, azureForwardings(rule, target)...)
				}
			}
		}
		slices.SortFunc(all, azureForwarding.compare)
		for _, f := range slices.Compact(all) {
			b.Edge("FORWARDS_TO", f.target, posture.Text("protocol", f.protocol), posture.Number("fromPort", f.ports.from), posture.Number("toPort", f.ports.to))
		}
		return nil
	},
}

// An azureForwarding is what a rule of a load balancer forwards to a network interface.
type azureForwarding struct {
	target   posture.EntityID
	protocol string
	ports    span
}

func (f azureForwarding) compare(o azureForwarding) int {
	return cmp.Or(cmp.Compare(f.target, o.target), cmp.Compare(f.protocol, o.protocol), cmp.Compare(f.ports.from, o.ports.from), cmp.Compare(f.ports.to, o.ports.to))
}

// azureForwardings returns what a rule forwards to a target. A rule for all ports has port 0. A
// rule whose protocol is neither Tcp nor Udp, such as All, forwards both.
func azureForwardings(rule gjson.Result, target posture.EntityID) (all []azureForwarding) {
	port := rule.Get("backendPort").Int()
	ports := span{port, port}
	if port == 0 {
		ports = allPorts
	}
	protocols := []string{strings.ToLower(rule.Get("protocol").String())}
	if protocols[0] != "tcp" && protocols[0] != "udp" {
		protocols = []string{"tcp", "udp"}
	}
	for _, protocol := range protocols {
		all = append(all, azureForwarding{target, protocol, ports})
	}
	return all
}

// azureRuleTargets returns the ids of the IP configurations to which a rule forwards traffic.
func azureRuleTargets(rule, pools gjson.Result) []string {
	named := append(texts(rule.Get("backendAddressPool.id")), texts(rule.Get("backendAddressPools.#.id"))...)
	targets := texts(rule.Get("backendIPConfiguration.id"))
	for _, pool := range pools.Array() {
		if slices.ContainsFunc(named, func(id string) bool { return strings.EqualFold(id, pool.Get("id").String()) }) {
			targets = append(targets, texts(pool.Get("properties.backendIPConfigurations.#.id"))...)
		}
	}
	return targets
}
