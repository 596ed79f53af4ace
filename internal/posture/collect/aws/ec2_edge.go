package aws

import (
	"context"
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"vigil/internal/posture/collect"
)

var networkInterfaces = listed(declaration{
	Type: networkInterfaceType, Scope: collect.PerRegion, Service: "ec2", Doc: "Where something is attached to a VPC.",
	Permissions: []string{"ec2:DescribeNetworkInterfaces"},
	Properties: properties{
		text("networkInterfaceId", "Its id."),
		text("interfaceType", "What it is of: interface, natGateway, load_balancer and others."),
		text("description", "What its owner says it is for."),
		text("status", "available, associated, attaching, in-use or detaching."),
		text("privateIpAddress", "Its first private address."),
		text("publicIpAddress", "Its public address; absent when it has none."),
		flag("sourceDestCheck", "Traffic that is not its own is dropped."),
	},
	Edges: edges{
		edge("IN_SUBNET", "Where it is.", subnetType),
		edge("IN_VPC", "Where it is.", vpcType),
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("ATTACHED_TO", "The instance it is attached to.", instanceType),
		edge("HAS_IP", "Its public address.", publicIPType),
	},
	Events: events{on("ec2", "CreateNetworkInterface", "DeleteNetworkInterface", "AttachNetworkInterface", "DetachNetworkInterface",
		"ModifyNetworkInterfaceAttribute", "AssociateAddress", "DisassociateAddress")},
}, listInterfaces, func(s *scope, v *types.NetworkInterface) *resource {
	r := s.ec2(networkInterfaceType, "network-interface", v.NetworkInterfaceId, v.TagSet)
	r.Text("networkInterfaceId", aws.ToString(v.NetworkInterfaceId)).Text("interfaceType", string(v.InterfaceType)).
		Text("description", aws.ToString(v.Description)).Text("status", string(v.Status)).
		Text("privateIpAddress", aws.ToString(v.PrivateIpAddress)).Flag("sourceDestCheck", aws.ToBool(v.SourceDestCheck))
	for _, g := range v.Groups {
		r.Edge("MEMBER_OF", s.id(securityGroupType, g.GroupId))
	}
	if v.Attachment != nil {
		r.Edge("ATTACHED_TO", s.id(instanceType, v.Attachment.InstanceId))
	}
	if v.Association != nil {
		r.Text("publicIpAddress", aws.ToString(v.Association.PublicIp)).Edge("HAS_IP", s.id(publicIPType, v.Association.PublicIp))
	}
	return r.Edge("IN_SUBNET", s.id(subnetType, v.SubnetId)).Edge("IN_VPC", s.id(vpcType, v.VpcId))
})

func listInterfaces(ctx context.Context, s *scope, names []string, page func([]types.NetworkInterface) error) error {
	in := &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeNetworkInterfacesPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeNetworkInterfacesOutput) error {
		return page(out.NetworkInterfaces)
	})
}

var addresses = listed(declaration{
	Type: addressType, Scope: collect.PerRegion, Service: "ec2", Doc: "A public address that the account keeps.",
	Permissions: []string{"ec2:DescribeAddresses"},
	Properties: properties{
		text("allocationId", "Its id."),
		text("publicIp", "The address."),
		text("privateIpAddress", "The private address it leads to."),
		flag("inUse", "It is associated with something."),
	},
	Edges: edges{
		edge("HAS_IP", "The address as others see it.", publicIPType),
		edge("ATTACHED_TO", "What it leads to.", instanceType, networkInterfaceType),
	},
	Events: events{on("ec2", "AllocateAddress", "ReleaseAddress", "AssociateAddress", "DisassociateAddress")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Address) error) error {
	out, err := ec2.NewFromConfig(s.config).DescribeAddresses(ctx, &ec2.DescribeAddressesInput{AllocationIds: names})
	if err != nil {
		return err
	}
	return page(out.Addresses)
}, func(s *scope, v *types.Address) *resource {
	r := s.ec2(addressType, "elastic-ip", v.AllocationId, v.Tags)
	r.Text("allocationId", aws.ToString(v.AllocationId)).Text("publicIp", aws.ToString(v.PublicIp)).
		Text("privateIpAddress", aws.ToString(v.PrivateIpAddress)).Flag("inUse", v.AssociationId != nil)
	return r.Edge("HAS_IP", s.id(publicIPType, v.PublicIp)).Edge("ATTACHED_TO", s.id(instanceType, v.InstanceId)).
		Edge("ATTACHED_TO", s.id(networkInterfaceType, v.NetworkInterfaceId))
})

// publicIPs lists the public addresses of the region by asking whose interfaces
// have one and which are kept for later.
var publicIPs = collector{
	Declaration: declaration{
		Type: publicIPType, Scope: collect.PerRegion, Service: "ec2", Doc: "An address that the internet can reach.",
		Permissions: []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeAddresses"},
		Properties: properties{
			text("ip", "The address."),
			text("owner", "Whose it is: amazon, or the account's id for one it keeps."),
			flag("inUse", "An interface has it."),
			long("ipVersion", "4 or 6."),
		},
		Events: networkInterfaces.Events,
	},
	List: func(ctx context.Context, s *scope, emit collect.Emit) error {
		seen := map[string]bool{}
		add := func(ip, owner *string, used bool) error {
			name := aws.ToString(ip)
			if name == "" || seen[name] {
				return nil
			}
			seen[name] = true
			return emit(s.publicIP(name, aws.ToString(owner), used))
		}
		err := listInterfaces(ctx, s, nil, func(page []types.NetworkInterface) error {
			for _, n := range page {
				if n.Association == nil {
					continue
				}
				if err := add(n.Association.PublicIp, n.Association.IpOwnerId, true); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return plain(err)
		}
		out, err := ec2.NewFromConfig(s.config).DescribeAddresses(ctx, &ec2.DescribeAddressesInput{})
		if err != nil {
			return plain(err)
		}
		for _, a := range out.Addresses {
			if err := add(a.PublicIp, aws.String(string(s.account)), a.AssociationId != nil); err != nil {
				return err
			}
		}
		return nil
	},
	Get: func(ctx context.Context, s *scope, name string, emit collect.Emit) error {
		in := &ec2.DescribeNetworkInterfacesInput{Filters: []types.Filter{{Name: aws.String("association.public-ip"), Values: []string{name}}}}
		out, err := ec2.NewFromConfig(s.config).DescribeNetworkInterfaces(ctx, in)
		if err != nil {
			return plain(err)
		}
		for _, n := range out.NetworkInterfaces {
			if n.Association != nil {
				return emit(s.publicIP(name, aws.ToString(n.Association.IpOwnerId), true))
			}
		}
		kept, err := ec2.NewFromConfig(s.config).DescribeAddresses(ctx, &ec2.DescribeAddressesInput{PublicIps: []string{name}})
		if err != nil {
			return plain(err)
		}
		for _, a := range kept.Addresses {
			return emit(s.publicIP(name, string(s.account), a.AssociationId != nil))
		}
		return collect.ErrGone
	},
}

func (s *scope) publicIP(ip, owner string, used bool) *resource {
	r := s.resource(publicIPType, ip)
	r.XID = ip
	if a, err := netip.ParseAddr(ip); err == nil {
		r.Number("ipVersion", map[bool]int64{true: 4, false: 6}[a.Is4()])
	}
	return r.Text("ip", ip).Text("owner", owner).Flag("inUse", used)
}

var peerings = listed(declaration{
	Type: peeringType, Scope: collect.PerRegion, Service: "ec2", Doc: "A connection between two VPCs.",
	Permissions: []string{"ec2:DescribeVpcPeeringConnections"},
	Properties: properties{
		text("vpcPeeringConnectionId", "Its id."),
		text("status", "active when traffic flows."),
		text("requesterAccountId", "Whose VPC asked for it."),
		text("accepterAccountId", "Whose VPC was asked."),
		flag("crossAccount", "The VPCs are of different accounts."),
	},
	Edges: edges{edge("CONNECTS", "The VPCs of this account that it connects.", vpcType)},
	Events: events{on("ec2", "CreateVpcPeeringConnection", "AcceptVpcPeeringConnection", "DeleteVpcPeeringConnection", "RejectVpcPeeringConnection",
		"ModifyVpcPeeringConnectionOptions")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.VpcPeeringConnection) error) error {
	in := &ec2.DescribeVpcPeeringConnectionsInput{VpcPeeringConnectionIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeVpcPeeringConnectionsPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeVpcPeeringConnectionsOutput) error {
		return page(out.VpcPeeringConnections)
	})
}, func(s *scope, v *types.VpcPeeringConnection) *resource {
	r := s.ec2(peeringType, "vpc-peering-connection", v.VpcPeeringConnectionId, v.Tags)
	r.Text("vpcPeeringConnectionId", aws.ToString(v.VpcPeeringConnectionId))
	if v.Status != nil {
		r.Text("status", string(v.Status.Code))
	}
	var owners []string
	for name, side := range map[string]*types.VpcPeeringConnectionVpcInfo{"requesterAccountId": v.RequesterVpcInfo, "accepterAccountId": v.AccepterVpcInfo} {
		if side == nil {
			continue
		}
		owner := aws.ToString(side.OwnerId)
		owners = append(owners, owner)
		r.Text(name, owner)
		if owner == string(s.account) {
			r.Edge("CONNECTS", s.at(vpcType, aws.ToString(first(side.Region, &s.region)), aws.ToString(side.VpcId)))
		}
	}
	return r.Flag("crossAccount", len(owners) == 2 && owners[0] != owners[1])
})

var vpcEndpoints = listed(declaration{
	Type: vpcEndpointType, Scope: collect.PerRegion, Service: "ec2", Doc: "A private way from a VPC to a service.",
	Permissions: []string{"ec2:DescribeVpcEndpoints"},
	Properties: append(properties{
		text("vpcEndpointId", "Its id."),
		text("vpcEndpointType", "Interface, Gateway or GatewayLoadBalancer."),
		text("serviceName", "The service it leads to."),
		text("state", "available when it works."),
		flag("privateDnsEnabled", "The service's own name leads to it."),
	}, policyProperties...),
	Edges: edges{
		edge("IN_VPC", "The VPC it serves.", vpcType),
		edge("IN_SUBNET", "The subnets it has interfaces in.", subnetType),
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("HAS_INTERFACE", "Its network interfaces.", networkInterfaceType),
	},
	Events: events{on("ec2", "CreateVpcEndpoint", "ModifyVpcEndpoint", "DeleteVpcEndpoints")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.VpcEndpoint) error) error {
	in := &ec2.DescribeVpcEndpointsInput{VpcEndpointIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeVpcEndpointsPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeVpcEndpointsOutput) error { return page(out.VpcEndpoints) })
}, func(s *scope, v *types.VpcEndpoint) *resource {
	r := s.ec2(vpcEndpointType, "vpc-endpoint", v.VpcEndpointId, v.Tags)
	r.Text("vpcEndpointId", aws.ToString(v.VpcEndpointId)).Text("vpcEndpointType", string(v.VpcEndpointType)).
		Text("serviceName", aws.ToString(v.ServiceName)).Text("state", string(v.State)).Flag("privateDnsEnabled", aws.ToBool(v.PrivateDnsEnabled))
	if v.PolicyDocument != nil {
		policyFacts(r, *v.PolicyDocument)
	}
	for _, id := range v.SubnetIds {
		r.Edge("IN_SUBNET", s.id(subnetType, &id))
	}
	for _, g := range v.Groups {
		r.Edge("MEMBER_OF", s.id(securityGroupType, g.GroupId))
	}
	for _, id := range v.NetworkInterfaceIds {
		r.Edge("HAS_INTERFACE", s.id(networkInterfaceType, &id))
	}
	return r.Edge("IN_VPC", s.id(vpcType, v.VpcId))
})
