package derive

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/predicate/aws"
	"vigil/internal/posture/predicate/ipset"
	"vigil/internal/posture/resource"
)

const (
	awsSecurityGroup posture.EntityType = "AWS.EC2.SecurityGroup"
	awsCIDRRange     posture.EntityType = "AWS.EC2.CidrRange"
	awsPrefixList    posture.EntityType = "AWS.EC2.PrefixList"
)

// awsEverywhere is the address range of the whole internet by IP version.
var awsEverywhere = map[int]string{4: "0.0.0.0/0", 6: "::/0"}

// awsSecurityGroupRules adds the rules of a security group in one direction, as strings and as
// edges. A range of ports is one edge. When several address ranges, or prefix lists, together
// count as the internet (see [ipset.Set.IsInternet]), it adds an edge to 0.0.0.0/0 or ::/0 as
// well, so that queries need not combine ranges.
func awsSecurityGroupRules(property, label, doc string) resource.Function {
	return resource.Function{
		Properties: []resource.Property{{Name: property, Kind: resource.Texts, Doc: doc + ": protocol, ports and peer, such as tcp 22-22 0.0.0.0/0."}},
		Edges: []resource.Edge{{
			Label: label, To: resource.EntityTypes{awsCIDRRange, awsSecurityGroup, awsPrefixList},
			Doc: doc + ", with protocol (-1 for all), fromPort and toPort. If no single range counts as the internet, but the ranges and the entries of prefix lists for a port do when taken together, there is one more edge to 0.0.0.0/0 or ::/0, with together: true.",
		}},
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			var all []string
			for _, rule := range in.Value.Array() {
				protocol := aws.ProtocolName(rule.Get("IpProtocol").String())
				from, to := awsPorts(protocol, rule.Get("FromPort"), rule.Get("ToPort"))
				add := func(peer string, kind posture.EntityType, account posture.AccountID) {
					all = append(all, fmt.Sprintf("%s %d-%d %s", protocol, from, to, peer))
					b.Edge(label, kind.ID(account, in.Region, peer), posture.Text("protocol", protocol), posture.Number("fromPort", from), posture.Number("toPort", to))
				}
				for _, cidr := range awsRuleRanges(rule) {
					add(cidr, awsCIDRRange, in.Account)
				}
				for _, pair := range rule.Get("UserIdGroupPairs").Array() {
					if group := pair.Get("GroupId"); group.Exists() {
						owner := cmp.Or(posture.AccountID(pair.Get("UserId").String()), in.Account) // with VPC peering, it can be another account
						add(group.String(), awsSecurityGroup, owner)
					}
				}
				for _, list := range rule.Get("PrefixListIds.#.PrefixListId").Array() {
					add(list.String(), awsPrefixList, in.Account)
				}
			}
			b.Set(property, all)
			for _, o := range awsOpenings(in.Ctx, in.Caller, in.Value) {
				b.Edge(label, awsCIDRRange.ID(in.Account, in.Region, awsEverywhere[o.Version]), posture.Text("protocol", o.Protocol),
					posture.Number("fromPort", o.From), posture.Number("toPort", o.To), posture.Flag("together", true))
			}
			slices.SortStableFunc(b.Edges, compareEdges)
			return nil
		},
	}
}

// awsOpenings returns the port ranges that are open to the internet although no single range of
// the rules counts as the internet: several ranges, or the entries of prefix lists, do so
// together. Adjacent open ports are one returned range, which can therefore include ports that a
// single address range opens. Prefix lists and ranges that cannot be read are ignored here: their own entities
// report that they may be the internet.
func awsOpenings(ctx context.Context, c resource.Caller, rules gjson.Result) []aws.Opening {
	combined := aws.Firewall{Lists: map[string][]string{}} // all rules
	separate := aws.Firewall{}                             // only the ranges that are the internet by themselves
	var parts ipset.Set                                    // union of the other ranges and of the prefix lists, regardless of ports
	for _, rule := range rules.Array() {
		r := aws.Rule{Protocol: rule.Get("IpProtocol").String(), Ranges: awsRuleRanges(rule)}
		if from, to := rule.Get("FromPort"), rule.Get("ToPort"); from.Exists() && to.Exists() {
			first, last := from.Int(), to.Int()
			r.From, r.To = &first, &last
		}
		internetOnly := r
		internetOnly.Ranges = nil
		for _, text := range r.Ranges {
			set, err := ipset.Parse(text)
			if err == nil && set.IsInternet() {
				internetOnly.Ranges = append(internetOnly.Ranges, text)
			} else {
				parts = parts.Union(set) // the set is empty if the range cannot be read
			}
		}
		separate.Rules = append(separate.Rules, internetOnly)
		for _, list := range rule.Get("PrefixListIds.#.PrefixListId").Array() {
			if entries, err := awsPrefixListEntries(ctx, c, list.Str); err == nil {
				r.PrefixLists = append(r.PrefixLists, list.Str)
				combined.Lists[list.Str] = entries
				for _, text := range entries {
					set, _ := ipset.Parse(text)
					parts = parts.Union(set)
				}
			}
		}
		combined.Rules = append(combined.Rules, r)
	}
	if !parts.IsInternet() {
		return nil // the usual case; it avoids the slow comparison below
	}
	open, _ := combined.Openings()
	openSeparately, _ := separate.Openings()
	return slices.DeleteFunc(open, func(o aws.Opening) bool { return slices.Contains(openSeparately, o) })
}

// awsPrefixListEntries returns the address ranges of a prefix list.
func awsPrefixListEntries(ctx context.Context, c resource.Caller, id string) ([]string, error) {
	read, err := c.Once("prefix list "+id, func() (any, error) {
		parameters := append(gjson.AppendJSONString([]byte(`{"id":`), id), '}')
		item := &resource.Item{Result: gjson.ParseBytes(parameters)}
		answers, err := c.Call(ctx, resource.NewRequest("ec2.GetManagedPrefixListEntries", `{PrefixListId: "${id}", MaxResults: 100}`), item)
		if err != nil {
			return nil, err
		}
		entries := []string{}
		for _, answer := range answers {
			for _, cidr := range answer.Get("Entries.#.Cidr").Array() {
				entries = append(entries, cidr.Str)
			}
		}
		return entries, nil
	})
	if err != nil {
		return nil, err
	}
	return read.([]string), nil
}

// awsPorts returns the port range of a rule: all ports if the rule has none.
func awsPorts(protocol string, from, to gjson.Result) (int64, int64) {
	if protocol == "-1" || !from.Exists() || !to.Exists() || from.Int() == -1 && to.Int() == -1 {
		return 0, 65535
	}
	return from.Int(), to.Int()
}

// awsRuleRanges returns the address ranges of a rule.
func awsRuleRanges(rule gjson.Result) (all []string) {
	for _, path := range []string{"IpRanges.#.CidrIp", "Ipv6Ranges.#.CidrIpv6"} {
		for _, cidr := range rule.Get(path).Array() {
			all = append(all, cidr.String())
		}
	}
	return all
}

// compareEdges orders edges by label, target and properties, so that their order does not depend
// on the order of a response.
func compareEdges(a, b posture.Edge) int {
	return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.To, b.To),
		slices.CompareFunc(a.Properties, b.Properties, func(a, b posture.Property) int {
			return cmp.Or(cmp.Compare(a.String, b.String), cmp.Compare(a.Long, b.Long))
		}))
}

// awsPrefixListInternet adds the property isInternet: whether the entries of a prefix list
// together are the internet.
var awsPrefixListInternet = resource.Function{
	Properties: []resource.Property{
		{Name: "isInternet", Kind: resource.Flag, Exposed: "is the internet", Doc: "It is the internet at large: its entries together have more public addresses than a /8 of IPv4 or a /32 of IPv6."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var all ipset.Set
		for _, cidr := range in.Value.Get("#.Cidr").Array() {
			addresses, err := ipset.Parse(cidr.Str)
			if err != nil {
				return err
			}
			all = all.Union(addresses)
		}
		b.Flag("isInternet", all.IsInternet())
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("isInternet", false) },
}
