package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"vigil/internal/posture/collect"
)

var transitGateways = listed(declaration{
	Type: transitGatewayType, Scope: collect.PerRegion, Service: "ec2", Doc: "A hub between networks.",
	Permissions: []string{"ec2:DescribeTransitGateways"},
	Properties: properties{
		text("transitGatewayId", "Its id."),
		text("state", "available when it works."),
		text("ownerId", "Whose it is; it may be shared with the account."),
		text("autoAcceptSharedAttachments", "enable when networks of other accounts are let in unasked."),
	},
	Events: events{on("ec2", "CreateTransitGateway", "ModifyTransitGateway", "DeleteTransitGateway")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.TransitGateway) error) error {
	in := &ec2.DescribeTransitGatewaysInput{TransitGatewayIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeTransitGatewaysPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeTransitGatewaysOutput) error {
		return page(out.TransitGateways)
	})
}, func(s *scope, v *types.TransitGateway) *resource {
	r := s.ec2(transitGatewayType, "transit-gateway", v.TransitGatewayId, v.Tags)
	r.Text("transitGatewayId", aws.ToString(v.TransitGatewayId)).Text("state", string(v.State)).Text("ownerId", aws.ToString(v.OwnerId))
	if v.Options != nil {
		r.Text("autoAcceptSharedAttachments", string(v.Options.AutoAcceptSharedAttachments))
	}
	return r
})

var vpnGateways = listed(declaration{
	Type: vpnGatewayType, Scope: collect.PerRegion, Service: "ec2", Doc: "The AWS side of a VPN.",
	Permissions: []string{"ec2:DescribeVpnGateways"},
	Properties: properties{
		text("vpnGatewayId", "Its id."),
		text("state", "available when it works."),
	},
	Edges:  edges{edge("ATTACHED_TO", "The VPCs it serves.", vpcType)},
	Events: events{on("ec2", "CreateVpnGateway", "DeleteVpnGateway", "AttachVpnGateway", "DetachVpnGateway")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.VpnGateway) error) error {
	out, err := ec2.NewFromConfig(s.config).DescribeVpnGateways(ctx, &ec2.DescribeVpnGatewaysInput{VpnGatewayIds: names})
	if err != nil {
		return err
	}
	return page(out.VpnGateways)
}, func(s *scope, v *types.VpnGateway) *resource {
	r := s.ec2(vpnGatewayType, "vpn-gateway", v.VpnGatewayId, v.Tags)
	for _, a := range v.VpcAttachments {
		r.Edge("ATTACHED_TO", s.id(vpcType, a.VpcId))
	}
	return r.Text("vpnGatewayId", aws.ToString(v.VpnGatewayId)).Text("state", string(v.State))
})

var vpnConnections = listed(declaration{
	Type: vpnConnectionType, Scope: collect.PerRegion, Service: "ec2", Doc: "A VPN to a network outside.",
	Permissions: []string{"ec2:DescribeVpnConnections"},
	Properties: properties{
		text("vpnConnectionId", "Its id."),
		text("state", "available when it works."),
		long("tunnelsUp", "How many of its tunnels are up."),
	},
	Edges:  edges{edge("ENDS_AT", "The AWS side.", vpnGatewayType, transitGatewayType)},
	Events: events{on("ec2", "CreateVpnConnection", "ModifyVpnConnection", "DeleteVpnConnection")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.VpnConnection) error) error {
	out, err := ec2.NewFromConfig(s.config).DescribeVpnConnections(ctx, &ec2.DescribeVpnConnectionsInput{VpnConnectionIds: names})
	if err != nil {
		return err
	}
	return page(out.VpnConnections)
}, func(s *scope, v *types.VpnConnection) *resource {
	r := s.ec2(vpnConnectionType, "vpn-connection", v.VpnConnectionId, v.Tags)
	up := int64(0)
	for _, t := range v.VgwTelemetry {
		if t.Status == types.TelemetryStatusUp {
			up++
		}
	}
	return r.Text("vpnConnectionId", aws.ToString(v.VpnConnectionId)).Text("state", string(v.State)).Number("tunnelsUp", up).
		Edge("ENDS_AT", s.id(vpnGatewayType, v.VpnGatewayId)).Edge("ENDS_AT", s.id(transitGatewayType, v.TransitGatewayId))
})
