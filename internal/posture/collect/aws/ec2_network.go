package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"vigil/internal/posture/collect"
)

// A flowingVPC is a VPC with the flow logs that record it.
type flowingVPC struct {
	types.Vpc
	logs    []types.FlowLog
	logsErr error // why the logs could not be read
}

var vpcs = listed(declaration{
	Type: vpcType, Scope: collect.PerRegion, Service: "ec2", Doc: "A virtual network.",
	Permissions: []string{"ec2:DescribeVpcs", "ec2:DescribeFlowLogs"},
	Properties: properties{
		text("vpcId", "Its id."),
		text("cidrBlock", "Its first range of addresses."),
		texts("cidrBlocks", "All its ranges of addresses, IPv6 too."),
		flag("isDefault", "It is the one that came with the region."),
		text("state", "pending or available."),
		text("dhcpOptionsId", "The DHCP options it uses."),
		flag("hasActiveFlowLog", "A flow log records its traffic."),
	},
	Edges: edges{edge("HAS_FLOW_LOG", "The flow logs of the VPC as a whole.", flowLogType)},
	Events: events{on("ec2", "CreateVpc", "DeleteVpc", "ModifyVpcAttribute", "AssociateVpcCidrBlock", "DisassociateVpcCidrBlock",
		"CreateDefaultVpc", "CreateFlowLogs", "DeleteFlowLogs")},
}, func(ctx context.Context, s *scope, names []string, page func([]flowingVPC) error) error {
	client := ec2.NewFromConfig(s.config)
	in := &ec2.DescribeVpcsInput{VpcIds: names, MaxResults: limit(names, 200)}
	return each(ctx, ec2.NewDescribeVpcsPaginator(client, in), func(out *ec2.DescribeVpcsOutput) error {
		flowing, err := flows(ctx, client, out.Vpcs)
		if err != nil {
			return err
		}
		return page(flowing)
	})
}, func(s *scope, v *flowingVPC) *resource {
	r := s.ec2(vpcType, "vpc", v.VpcId, v.Tags)
	r.Text("vpcId", aws.ToString(v.VpcId)).Text("cidrBlock", aws.ToString(v.CidrBlock)).Text("state", string(v.State)).
		Text("dhcpOptionsId", aws.ToString(v.DhcpOptionsId)).Flag("isDefault", aws.ToBool(v.IsDefault))
	var blocks []string
	for _, b := range v.CidrBlockAssociationSet {
		blocks = append(blocks, aws.ToString(b.CidrBlock))
	}
	for _, b := range v.Ipv6CidrBlockAssociationSet {
		blocks = append(blocks, aws.ToString(b.Ipv6CidrBlock))
	}
	set(r, "cidrBlocks", blocks)
	if v.logsErr != nil {
		return r.Unread(v.logsErr, "hasActiveFlowLog", "HAS_FLOW_LOG")
	}
	active := false
	for _, f := range v.logs {
		r.Edge("HAS_FLOW_LOG", s.id(flowLogType, f.FlowLogId))
		active = active || aws.ToString(f.FlowLogStatus) == "ACTIVE"
	}
	return r.Flag("hasActiveFlowLog", active)
})

// flows reads the flow logs of a page of VPCs in one call. It fails only when
// the run is over.
func flows(ctx context.Context, client *ec2.Client, page []types.Vpc) ([]flowingVPC, error) {
	all := make([]flowingVPC, len(page))
	at := make(map[string]*flowingVPC, len(page))
	var ids []string
	for i, v := range page {
		all[i].Vpc = v
		at[aws.ToString(v.VpcId)] = &all[i]
		ids = append(ids, aws.ToString(v.VpcId))
	}
	if len(ids) == 0 {
		return nil, nil
	}
	in := &ec2.DescribeFlowLogsInput{Filter: []types.Filter{{Name: aws.String("resource-id"), Values: ids}}}
	err := each(ctx, ec2.NewDescribeFlowLogsPaginator(client, in), func(out *ec2.DescribeFlowLogsOutput) error {
		for _, f := range out.FlowLogs {
			if v := at[aws.ToString(f.ResourceId)]; v != nil {
				v.logs = append(v.logs, f)
			}
		}
		return nil
	})
	if err = plain(err); err == nil || collect.Over(err) {
		return all, err
	}
	for i := range all {
		all[i].logsErr = err
	}
	return all, nil
}

var subnets = listed(declaration{
	Type: subnetType, Scope: collect.PerRegion, Service: "ec2", Doc: "A part of a VPC in one availability zone.",
	Permissions: []string{"ec2:DescribeSubnets"},
	Properties: properties{
		text("subnetId", "Its id."),
		text("cidrBlock", "Its range of addresses."),
		text("availabilityZone", "Where it is."),
		flag("mapPublicIpOnLaunch", "What is started in it gets a public address."),
		flag("defaultForAz", "It is the one that came with the zone."),
		text("state", "pending, available or unavailable."),
		long("availableIpAddressCount", "How many addresses are left."),
	},
	Edges:  edges{edge("IN_VPC", "The VPC it is a part of.", vpcType)},
	Events: events{on("ec2", "CreateSubnet", "DeleteSubnet", "ModifySubnetAttribute", "CreateDefaultSubnet")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Subnet) error) error {
	in := &ec2.DescribeSubnetsInput{SubnetIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeSubnetsPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeSubnetsOutput) error { return page(out.Subnets) })
}, func(s *scope, v *types.Subnet) *resource {
	r := s.ec2(subnetType, "subnet", v.SubnetId, v.Tags)
	r.Text("subnetId", aws.ToString(v.SubnetId)).Text("cidrBlock", aws.ToString(v.CidrBlock)).Text("availabilityZone", aws.ToString(v.AvailabilityZone)).
		Flag("mapPublicIpOnLaunch", aws.ToBool(v.MapPublicIpOnLaunch)).Flag("defaultForAz", aws.ToBool(v.DefaultForAz)).Text("state", string(v.State))
	number(r, "availableIpAddressCount", v.AvailableIpAddressCount)
	return r.Edge("IN_VPC", s.id(vpcType, v.VpcId))
})

var routeTables = listed(declaration{
	Type: routeTableType, Scope: collect.PerRegion, Service: "ec2", Doc: "Where the traffic of subnets goes.",
	Permissions: []string{"ec2:DescribeRouteTables"},
	Properties: properties{
		text("routeTableId", "Its id."),
		flag("main", "Subnets without a route table of their own use it."),
		texts("routes", "Destination and target of each route."),
		flag("hasInternetRoute", "Everything that is not local goes to an internet gateway."),
	},
	Edges: edges{
		edge("IN_VPC", "The VPC it belongs to.", vpcType),
		edge("ROUTES_FOR", "The subnets that use it by name.", subnetType),
		edge("ROUTES_TO", "Where its routes lead, with the destination.", internetGatewayType, natGatewayType, peeringType, transitGatewayType,
			vpnGatewayType, networkInterfaceType, instanceType, vpcEndpointType),
	},
	Events: events{on("ec2", "CreateRouteTable", "DeleteRouteTable", "CreateRoute", "ReplaceRoute", "DeleteRoute", "AssociateRouteTable",
		"DisassociateRouteTable", "ReplaceRouteTableAssociation")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.RouteTable) error) error {
	in := &ec2.DescribeRouteTablesInput{RouteTableIds: names, MaxResults: limit(names, 100)}
	return each(ctx, ec2.NewDescribeRouteTablesPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeRouteTablesOutput) error { return page(out.RouteTables) })
}, func(s *scope, v *types.RouteTable) *resource {
	r := s.ec2(routeTableType, "route-table", v.RouteTableId, v.Tags)
	r.Text("routeTableId", aws.ToString(v.RouteTableId)).Edge("IN_VPC", s.id(vpcType, v.VpcId))
	main := false
	for _, a := range v.Associations {
		main = main || aws.ToBool(a.Main)
		r.Edge("ROUTES_FOR", s.id(subnetType, a.SubnetId))
	}
	r.Flag("main", main)
	var all []string
	internet := false
	for _, route := range v.Routes {
		to := target(route)
		destination := aws.ToString(first(route.DestinationCidrBlock, route.DestinationIpv6CidrBlock, route.DestinationPrefixListId))
		all = append(all, destination+" "+to)
		internet = internet || prefixed(to, "igw-") && (destination == "0.0.0.0/0" || destination == "::/0")
		r.Edge("ROUTES_TO", s.gateway(to), textOf("destination", destination))
	}
	set(r, "routes", all)
	return r.Flag("hasInternetRoute", internet)
})

var internetGateways = listed(declaration{
	Type: internetGatewayType, Scope: collect.PerRegion, Service: "ec2", Doc: "A VPC's way to the internet and back.",
	Permissions: []string{"ec2:DescribeInternetGateways"},
	Properties:  properties{text("internetGatewayId", "Its id.")},
	Edges:       edges{edge("ATTACHED_TO", "The VPC it serves.", vpcType)},
	Events:      events{on("ec2", "CreateInternetGateway", "DeleteInternetGateway", "AttachInternetGateway", "DetachInternetGateway")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.InternetGateway) error) error {
	in := &ec2.DescribeInternetGatewaysInput{InternetGatewayIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeInternetGatewaysPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeInternetGatewaysOutput) error {
		return page(out.InternetGateways)
	})
}, func(s *scope, v *types.InternetGateway) *resource {
	r := s.ec2(internetGatewayType, "internet-gateway", v.InternetGatewayId, v.Tags)
	for _, a := range v.Attachments {
		r.Edge("ATTACHED_TO", s.id(vpcType, a.VpcId))
	}
	return r.Text("internetGatewayId", aws.ToString(v.InternetGatewayId))
})

var natGateways = listed(declaration{
	Type: natGatewayType, Scope: collect.PerRegion, Service: "ec2", Doc: "A way out for subnets that nothing may come in to.",
	Permissions: []string{"ec2:DescribeNatGateways"},
	Properties: properties{
		text("natGatewayId", "Its id."),
		text("state", "pending, failed, available, deleting or deleted."),
		text("connectivityType", "public or private."),
		text("createTime", "When it was made."),
	},
	Edges: edges{
		edge("IN_VPC", "The VPC it serves.", vpcType),
		edge("IN_SUBNET", "Where it is.", subnetType),
		edge("HAS_IP", "Its public addresses.", publicIPType),
		edge("HAS_INTERFACE", "Its network interfaces.", networkInterfaceType),
	},
	Events: events{on("ec2", "CreateNatGateway", "DeleteNatGateway")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.NatGateway) error) error {
	in := &ec2.DescribeNatGatewaysInput{NatGatewayIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeNatGatewaysPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeNatGatewaysOutput) error { return page(out.NatGateways) })
}, func(s *scope, v *types.NatGateway) *resource {
	r := s.ec2(natGatewayType, "natgateway", v.NatGatewayId, v.Tags)
	r.Text("natGatewayId", aws.ToString(v.NatGatewayId)).Text("state", string(v.State)).Text("connectivityType", string(v.ConnectivityType))
	for _, a := range v.NatGatewayAddresses {
		r.Edge("HAS_IP", s.id(publicIPType, a.PublicIp))
		r.Edge("HAS_INTERFACE", s.id(networkInterfaceType, a.NetworkInterfaceId))
	}
	r.Edge("IN_VPC", s.id(vpcType, v.VpcId)).Edge("IN_SUBNET", s.id(subnetType, v.SubnetId))
	return when(r, "createTime", v.CreateTime)
})

var flowLogs = listed(declaration{
	Type: flowLogType, Scope: collect.PerRegion, Service: "ec2", Doc: "A record of a network's traffic.",
	Permissions: []string{"ec2:DescribeFlowLogs"},
	Properties: properties{
		text("flowLogId", "Its id."),
		text("flowLogStatus", "ACTIVE when it records."),
		text("trafficType", "ACCEPT, REJECT or ALL."),
		text("resourceId", "What it records: a VPC, subnet or interface."),
		text("logDestinationType", "cloud-watch-logs, s3 or kinesis-data-firehose."),
		text("deliverLogsStatus", "SUCCESS or FAILED."),
	},
	Edges: edges{
		edge("RECORDS", "What it records.", vpcType, subnetType, networkInterfaceType),
		edge("WRITES_TO", "Where it writes.", logGroupType, bucketType),
		edge("HAS_ROLE", "The role it writes with.", roleType),
	},
	Events: events{on("ec2", "CreateFlowLogs", "DeleteFlowLogs")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.FlowLog) error) error {
	in := &ec2.DescribeFlowLogsInput{FlowLogIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeFlowLogsPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeFlowLogsOutput) error { return page(out.FlowLogs) })
}, func(s *scope, v *types.FlowLog) *resource {
	r := s.ec2(flowLogType, "vpc-flow-log", v.FlowLogId, v.Tags)
	r.Text("flowLogId", aws.ToString(v.FlowLogId)).Text("flowLogStatus", aws.ToString(v.FlowLogStatus)).Text("trafficType", string(v.TrafficType)).
		Text("resourceId", aws.ToString(v.ResourceId)).Text("logDestinationType", string(v.LogDestinationType)).
		Text("deliverLogsStatus", aws.ToString(v.DeliverLogsStatus))
	r.Edge("RECORDS", s.gateway(aws.ToString(v.ResourceId))).Edge("HAS_ROLE", s.refs(v.DeliverLogsPermissionArn))
	if v.LogGroupName != nil {
		return r.Edge("WRITES_TO", s.id(logGroupType, v.LogGroupName))
	}
	return r.Edge("WRITES_TO", s.refs(v.LogDestination))
})
