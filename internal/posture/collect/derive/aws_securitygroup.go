package derive

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

const (
	awsSecurityGroup posture.EntityType = "AWS.EC2.SecurityGroup"
	awsCIDRRange     posture.EntityType = "AWS.EC2.CidrRange"
)

// awsSecurityGroupRules adds the rules of a security group in one direction, as
// strings and as edges. Ranges stay ranges: 65,536 ports are one edge.
func awsSecurityGroupRules(property, label, doc string) resource.Function {
	return resource.Function{
		Properties: []resource.Property{{Name: property, Kind: resource.Texts, Doc: doc + ": protocol, ports and peer, such as tcp 22-22 0.0.0.0/0."}},
		Edges: []resource.Edge{{
			Label: label, To: resource.EntityTypes{awsCIDRRange, awsSecurityGroup}, Doc: doc + ", with protocol (-1 for all), fromPort and toPort.",
		}},
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			var all []string
			for _, rule := range in.Value.Array() {
				protocol := rule.Get("IpProtocol").String()
				from, to := awsPorts(protocol, rule.Get("FromPort"), rule.Get("ToPort"))
				add := func(peer string, kind posture.EntityType) {
					all = append(all, fmt.Sprintf("%s %d-%d %s", protocol, from, to, peer))
					if kind != "" {
						b.Edge(label, kind.ID(in.Account, in.Region, peer), posture.Text("protocol", protocol), posture.Number("fromPort", from), posture.Number("toPort", to))
					}
				}
				for _, cidr := range awsRuleRanges(rule) {
					add(cidr, awsCIDRRange)
				}
				for _, group := range rule.Get("UserIdGroupPairs.#.GroupId").Array() {
					add(group.String(), awsSecurityGroup)
				}
				for _, list := range rule.Get("PrefixListIds.#.PrefixListId").Array() {
					add(list.String(), "")
				}
			}
			b.Set(property, all)
			slices.SortStableFunc(b.Edges, compareEdges)
			return nil
		},
	}
}

// awsPorts returns the range of ports that a rule covers: all of them when it
// names none.
func awsPorts(protocol string, from, to gjson.Result) (int64, int64) {
	if protocol == "-1" || !from.Exists() || !to.Exists() || from.Int() == -1 && to.Int() == -1 {
		return 0, 65535
	}
	return from.Int(), to.Int()
}

// awsRuleRanges returns the address ranges that a rule names.
func awsRuleRanges(rule gjson.Result) (all []string) {
	for _, path := range []string{"IpRanges.#.CidrIp", "Ipv6Ranges.#.CidrIpv6"} {
		for _, cidr := range rule.Get(path).Array() {
			all = append(all, cidr.String())
		}
	}
	return all
}

// compareEdges puts edges that differ in their properties alone into an order
// that does not depend on the answer's.
func compareEdges(a, b posture.Edge) int {
	return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.To, b.To),
		slices.CompareFunc(a.Properties, b.Properties, func(a, b posture.Property) int {
			return cmp.Or(cmp.Compare(a.String, b.String), cmp.Compare(a.Long, b.Long))
		}))
}
