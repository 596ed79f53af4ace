package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

var networkACLs = listed(declaration{
	Type: networkACLType, Scope: collect.PerRegion, Service: "ec2", Doc: "A firewall around subnets.",
	Permissions: []string{"ec2:DescribeNetworkAcls"},
	Properties: properties{
		text("networkAclId", "Its id."),
		flag("isDefault", "Subnets without one of their own have it."),
		texts("entries", "Its rules by number: number, ingress or egress, allow or deny, protocol, ports and addresses."),
		flag("sshOpenToInternet", "The internet is let in to TCP port 22, and no rule of a lower number refuses it."),
		flag("rdpOpenToInternet", "The internet is let in to TCP port 3389, and no rule of a lower number refuses it."),
	},
	Edges: edges{
		edge("GUARDS", "The subnets it guards.", subnetType),
		edge("IN_VPC", "The VPC it belongs to.", vpcType),
		edge("ALLOWS_INGRESS", "What may come in, with ruleNumber, protocol (-1 for all), fromPort and toPort.", cidrRangeType),
	},
	Events: events{on("ec2", "CreateNetworkAcl", "DeleteNetworkAcl", "CreateNetworkAclEntry", "ReplaceNetworkAclEntry", "DeleteNetworkAclEntry",
		"ReplaceNetworkAclAssociation")},
}, listNetworkACLs, func(s *scope, v *types.NetworkAcl) *resource {
	r := s.ec2(networkACLType, "network-acl", v.NetworkAclId, v.Tags)
	r.Text("networkAclId", aws.ToString(v.NetworkAclId)).Flag("isDefault", aws.ToBool(v.IsDefault))
	entries := slices.Clone(v.Entries)
	slices.SortStableFunc(entries, func(a, b types.NetworkAclEntry) int {
		return int(aws.ToInt32(a.RuleNumber) - aws.ToInt32(b.RuleNumber))
	})
	for _, e := range entries {
		s.aclEntry(r, e)
	}
	r.Flag("sshOpenToInternet", admits(entries, 22)).Flag("rdpOpenToInternet", admits(entries, 3389))
	for _, a := range v.Associations {
		r.Edge("GUARDS", s.id(subnetType, a.SubnetId))
	}
	return r.Edge("IN_VPC", s.id(vpcType, v.VpcId))
})

func listNetworkACLs(ctx context.Context, s *scope, names []string, page func([]types.NetworkAcl) error) error {
	in := &ec2.DescribeNetworkAclsInput{NetworkAclIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeNetworkAclsPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeNetworkAclsOutput) error { return page(out.NetworkAcls) })
}

// aclEntry adds one rule.
func (s *scope) aclEntry(r *resource, e types.NetworkAclEntry) {
	from, to := aclPorts(e)
	peer := aws.ToString(first(e.CidrBlock, e.Ipv6CidrBlock))
	way := map[bool]string{false: "ingress", true: "egress"}[aws.ToBool(e.Egress)]
	n, protocol := aws.ToInt32(e.RuleNumber), aclProtocol(aws.ToString(e.Protocol))
	r.Text("entries", fmt.Sprintf("%d %s %s %s %d-%d %s", n, way, e.RuleAction, protocol, from, to, peer))
	if way == "ingress" && e.RuleAction == types.RuleActionAllow {
		r.Edge("ALLOWS_INGRESS", s.id(cidrRangeType, &peer), posture.Number("ruleNumber", int64(n)), posture.Text("protocol", protocol),
			posture.Number("fromPort", from), posture.Number("toPort", to))
	}
}

// aclProtocol names the protocols that security groups name too.
func aclProtocol(number string) string {
	if name, ok := map[string]string{"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6"}[number]; ok {
		return name
	}
	return number
}

func aclPorts(e types.NetworkAclEntry) (from, to int64) {
	if e.PortRange == nil {
		return 0, 65535
	}
	return int64(aws.ToInt32(e.PortRange.From)), int64(aws.ToInt32(e.PortRange.To))
}

// admits reports whether the internet is let in to a TCP port. The rules are in
// the order of their numbers: the first that covers the port decides.
func admits(entries []types.NetworkAclEntry, port int64) bool {
	for _, peer := range []string{"0.0.0.0/0", "::/0"} {
		for _, e := range entries {
			from, to := aclPorts(e)
			protocol := aws.ToString(e.Protocol)
			if aws.ToBool(e.Egress) || aws.ToString(first(e.CidrBlock, e.Ipv6CidrBlock)) != peer || port < from || port > to || protocol != "-1" && protocol != "6" {
				continue
			}
			if e.RuleAction == types.RuleActionAllow {
				return true
			}
			break
		}
	}
	return false
}
