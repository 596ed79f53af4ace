package aws

import (
	"slices"

	"vigil/internal/sim/world"
)

func ec2Service(c *Cloud) {
	e := c.inventory
	c.register("ec2", "DescribeRegions", func(x *call) (answer, error) {
		var all []any
		for _, name := range c.options.Regions {
			status := "opt-in-not-required"
			if c.isDisabled(x.account, name) {
				status = "not-opted-in"
			}
			if status != "not-opted-in" || x.text("AllRegions") == "true" {
				all = append(all, world.Obj("regionName", name, "regionEndpoint", "ec2."+name+".amazonaws.com", "optInStatus", status))
			}
		}
		return answer{Object: world.Obj("regionInfo", all)}, nil
	})
	c.register("ec2", "DescribeInstanceAttribute", func(x *call) (answer, error) {
		id := x.text("InstanceId")
		o, ok := c.Get(e.instances, x.place(), id)
		if !ok {
			return answer{}, &failure{400, "InvalidInstanceID.NotFound", "The instance ID '" + id + "' does not exist"}
		}
		if x.text("Attribute") != "userData" {
			return answer{}, &failure{400, "InvalidParameterValue", "only userData is simulated"}
		}
		data := world.Object{}
		if text := o.Text("_userData"); text != "" {
			data = world.Obj("value", text)
		}
		return answer{Object: world.Obj("instanceId", id, "userData", data)}, nil
	})
	for _, l := range []struct {
		action, field, names, missing string
		kind                          *world.Kind
	}{
		{"DescribeInstances", "reservationSet", "InstanceId", "InvalidInstanceID.NotFound", e.instances},
		{"DescribeKeyPairs", "keySet", "KeyName", "InvalidKeyPair.NotFound", e.keyPairs},
		{"DescribeLaunchTemplates", "launchTemplates", "LaunchTemplateId", "InvalidLaunchTemplateId.NotFound", e.launchTemplates},
		{"DescribeSecurityGroups", "securityGroupInfo", "GroupId", "InvalidGroup.NotFound", e.securityGroups},
		{"DescribeVpcs", "vpcSet", "VpcId", "InvalidVpcID.NotFound", e.vpcs},
		{"DescribeSubnets", "subnetSet", "SubnetId", "InvalidSubnetID.NotFound", e.subnets},
		{"DescribeRouteTables", "routeTableSet", "RouteTableId", "InvalidRouteTableID.NotFound", e.routeTables},
		{"DescribeInternetGateways", "internetGatewaySet", "InternetGatewayId", "InvalidInternetGatewayID.NotFound", e.internetGateways},
		{"DescribeNatGateways", "natGatewaySet", "NatGatewayId", "NatGatewayNotFound", e.natGateways},
		{"DescribeNetworkInterfaces", "networkInterfaceSet", "NetworkInterfaceId", "InvalidNetworkInterfaceID.NotFound", e.interfaces},
		{"DescribeNetworkAcls", "networkAclSet", "NetworkAclId", "InvalidNetworkAclID.NotFound", e.networkACLs},
		{"DescribeFlowLogs", "flowLogSet", "FlowLogId", "", e.flowLogs},
		{"DescribeAddresses", "addressesSet", "AllocationId", "InvalidAllocationID.NotFound", e.addresses},
		{"DescribeVpcPeeringConnections", "vpcPeeringConnectionSet", "VpcPeeringConnectionId", "InvalidVpcPeeringConnectionID.NotFound", e.peerings},
		{"DescribeVpcEndpoints", "vpcEndpointSet", "VpcEndpointId", "InvalidVpcEndpointId.NotFound", e.endpoints},
		{"DescribeTransitGateways", "transitGatewaySet", "TransitGatewayIds", "InvalidTransitGatewayID.NotFound", e.transitGateways},
		{"DescribeVpnGateways", "vpnGatewaySet", "VpnGatewayId", "InvalidVpnGatewayID.NotFound", e.vpnGateways},
		{"DescribeVpnConnections", "vpnConnectionSet", "VpnConnectionId", "InvalidVpnConnectionID.NotFound", e.vpnConnections},
		{"DescribeVolumes", "volumeSet", "VolumeId", "InvalidVolume.NotFound", e.volumes},
		{"DescribeSnapshots", "snapshotSet", "SnapshotId", "InvalidSnapshot.NotFound", e.snapshots},
		{"DescribeImages", "imagesSet", "ImageId", "InvalidAMIID.NotFound", e.images},
	} {
		c.register("ec2", l.action, func(x *call) (answer, error) {
			if len(x.texts(l.names)) > 0 && x.text("MaxResults") != "" {
				return answer{}, &failure{400, "InvalidParameterCombination", "The parameter " + l.names + " cannot be used with the parameter maxResults"}
			}
			return x.list(c, listing{
				kind: l.kind, field: l.field, names: l.names, missing: l.missing, token: "NextToken", next: "nextToken", max: "MaxResults", page: 1000,
				only: publicFilter(x), shape: ec2Shape(x),
			})
		})
	}
}

// publicFilter returns a function that selects public snapshots, if the call asks for
// those only, else everything.
func publicFilter(x *call) func(string, world.Object) bool {
	onlyPublic := slices.Contains(x.texts("RestorableBy"), "all")
	return func(_ string, o world.Object) bool { return !onlyPublic || o.Flag("_public") }
}

// ec2Shape returns a function that wraps instances in reservations.
func ec2Shape(x *call) func(string, world.Object) any {
	if x.action != "DescribeInstances" {
		return nil
	}
	return func(name string, o world.Object) any {
		return world.Obj("reservationId", "r-"+name[2:], "ownerId", x.account, "groupSet", []any{}, "instancesSet", world.Items(o.Visible()))
	}
}
