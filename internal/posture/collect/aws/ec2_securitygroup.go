package aws

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

var securityGroups = listed(declaration{
	Type: securityGroupType, Scope: collect.PerRegion, Service: "ec2", Doc: "A firewall around network interfaces.",
	Permissions: []string{"ec2:DescribeSecurityGroups"},
	Properties: properties{
		text("groupId", "Its id."),
		text("groupName", "Its name; the one named default comes with the VPC."),
		text("description", "What its owner says it is for."),
		texts("ipPermissions", "What may come in: protocol, ports and source, such as tcp 22-22 0.0.0.0/0."),
		texts("ipPermissionsEgress", "What may go out: protocol, ports and target."),
	},
	Edges: edges{
		edge("IN_VPC", "The VPC it belongs to.", vpcType),
		edge("ALLOWS_INGRESS", "What may come in, with protocol (-1 for all), fromPort and toPort.", cidrRangeType, securityGroupType),
		edge("ALLOWS_EGRESS", "What may go out, with protocol (-1 for all), fromPort and toPort.", cidrRangeType, securityGroupType),
	},
	Events: events{on("ec2", "CreateSecurityGroup", "DeleteSecurityGroup", "AuthorizeSecurityGroupIngress", "RevokeSecurityGroupIngress",
		"AuthorizeSecurityGroupEgress", "RevokeSecurityGroupEgress", "ModifySecurityGroupRules", "UpdateSecurityGroupRuleDescriptionsIngress")},
}, listSecurityGroups, func(s *scope, v *types.SecurityGroup) *resource {
	r := s.ec2(securityGroupType, "security-group", v.GroupId, v.Tags)
	if v.GroupName != nil && r.Tags["Name"] == "" {
		r.Name = *v.GroupName
	}
	r.Text("groupId", aws.ToString(v.GroupId)).Text("groupName", aws.ToString(v.GroupName)).Text("description", aws.ToString(v.Description))
	r.Edge("IN_VPC", s.id(vpcType, v.VpcId))
	s.permit(r, "ipPermissions", "ALLOWS_INGRESS", v.IpPermissions)
	s.permit(r, "ipPermissionsEgress", "ALLOWS_EGRESS", v.IpPermissionsEgress)
	return r
})

func listSecurityGroups(ctx context.Context, s *scope, names []string, page func([]types.SecurityGroup) error) error {
	in := &ec2.DescribeSecurityGroupsInput{GroupIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeSecurityGroupsPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeSecurityGroupsOutput) error {
		return page(out.SecurityGroups)
	})
}

// permit adds the rules of a security group, as text and as edges. Ranges stay
// ranges: 65,536 ports are one edge.
func (s *scope) permit(r *resource, property, label string, rules []types.IpPermission) {
	var all []string
	for _, rule := range rules {
		protocol := aws.ToString(rule.IpProtocol)
		from, to := ports(protocol, rule.FromPort, rule.ToPort)
		add := func(peer string, id posture.EntityID) {
			all = append(all, fmt.Sprintf("%s %d-%d %s", protocol, from, to, peer))
			r.Edge(label, id, posture.Text("protocol", protocol), posture.Number("fromPort", from), posture.Number("toPort", to))
		}
		for _, cidr := range ranges(rule) {
			add(cidr, s.id(cidrRangeType, &cidr))
		}
		for _, pair := range rule.UserIdGroupPairs {
			add(aws.ToString(pair.GroupId), s.id(securityGroupType, pair.GroupId))
		}
		for _, list := range rule.PrefixListIds {
			add(aws.ToString(list.PrefixListId), "")
		}
	}
	set(r, property, all)
	slices.SortStableFunc(r.Edges, compareEdges)
}

// ports returns the range of ports that a rule covers: all of them when it names
// none.
func ports(protocol string, from, to *int32) (int64, int64) {
	if protocol == "-1" || from == nil || to == nil || *from == -1 && *to == -1 {
		return 0, 65535
	}
	return int64(*from), int64(*to)
}

// ranges returns the addresses that a rule names.
func ranges(rule types.IpPermission) []string {
	var all []string
	for _, v4 := range rule.IpRanges {
		all = append(all, aws.ToString(v4.CidrIp))
	}
	for _, v6 := range rule.Ipv6Ranges {
		all = append(all, aws.ToString(v6.CidrIpv6))
	}
	return all
}

// compareEdges puts edges that differ in their properties alone into an order
// that does not depend on the answer's.
func compareEdges(a, b posture.Edge) int {
	if c := cmp.Compare(a.Label, b.Label); c != 0 {
		return c
	}
	if c := cmp.Compare(a.To, b.To); c != 0 {
		return c
	}
	return slices.CompareFunc(a.Properties, b.Properties, func(a, b posture.Property) int {
		return cmp.Or(cmp.Compare(a.String, b.String), cmp.Compare(a.Long, b.Long))
	})
}

// cidrRanges lists the address ranges that rules of the region name, so that
// they can be asked for in the graph.
var cidrRanges = collector{
	Declaration: declaration{
		Type: cidrRangeType, Scope: collect.PerRegion, Service: "ec2", Doc: "A range of addresses that firewall rules of the region name.",
		Permissions: []string{"ec2:DescribeSecurityGroups", "ec2:DescribeNetworkAcls"},
		Properties: properties{
			text("cidr", "The range, such as 10.0.0.0/8."),
			long("prefixLength", "How many bits are fixed."),
			long("ipVersion", "4 or 6."),
			flag("isInternet", "It is every address there is."),
			flag("isPrivate", "No address of it is routed on the internet."),
		},
		Events: securityGroups.Events,
	},
	List: func(ctx context.Context, s *scope, emit collect.Emit) error {
		return plain(namedRanges(ctx, s, func(cidr string) error { return emit(s.cidrRange(cidr)) }))
	},
	Get: func(_ context.Context, s *scope, name string, emit collect.Emit) error {
		return emit(s.cidrRange(name))
	},
}

// namedRanges passes on each range once.
func namedRanges(ctx context.Context, s *scope, found func(string) error) error {
	seen := map[string]bool{}
	add := func(cidrs ...string) error {
		for _, cidr := range cidrs {
			if cidr == "" || seen[cidr] {
				continue
			}
			seen[cidr] = true
			if err := found(cidr); err != nil {
				return err
			}
		}
		return nil
	}
	err := listSecurityGroups(ctx, s, nil, func(groups []types.SecurityGroup) error {
		for _, g := range groups {
			for _, rule := range slices.Concat(g.IpPermissions, g.IpPermissionsEgress) {
				if err := add(ranges(rule)...); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return listNetworkACLs(ctx, s, nil, func(acls []types.NetworkAcl) error {
		for _, a := range acls {
			for _, e := range a.Entries {
				if err := add(aws.ToString(e.CidrBlock), aws.ToString(e.Ipv6CidrBlock)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (s *scope) cidrRange(cidr string) *resource {
	r := s.resource(cidrRangeType, cidr)
	r.XID = cidr
	r.Text("cidr", cidr)
	if p, err := netip.ParsePrefix(cidr); err == nil {
		r.Number("prefixLength", int64(p.Bits()))
		r.Number("ipVersion", map[bool]int64{true: 4, false: 6}[p.Addr().Is4()])
		r.Flag("isInternet", p.Bits() == 0)
		r.Flag("isPrivate", p.Bits() > 7 && (p.Addr().IsPrivate() || p.Addr().IsLoopback() || p.Addr().IsLinkLocalUnicast()))
	}
	return r
}
