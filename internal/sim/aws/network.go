package aws

import (
	"fmt"
	"strconv"

	"vigil/internal/sim/world"
)

// network contains the kinds of networks. The i-th resource of most kinds belongs to the VPC
// with the number i modulo the number of VPCs.
type network struct {
	vpcs, subnets, routeTables, internetGateways, natGateways, networkACLs, flowLogs, securityGroups *world.Kind
	peerings, endpoints, transitGateways, vpnGateways, vpnConnections                                *world.Kind
	interfaces, addresses                                                                            *world.Kind
}

// minGroupsPerVPC is the least number of security groups of a VPC, without the default one.
const minGroupsPerVPC = 6

func (e *inventory) makeNetwork() {
	perVPC := func(n int) counter { return func(p world.Place) int { return n * e.vpcs.Count(p) } }
	e.vpcs = e.hexNamed("AWS.EC2.Vpc", "vpc-0", 16, e.share(2, 2), e.vpc)
	e.subnets = e.hexNamed("AWS.EC2.Subnet", "subnet-0", 16, perVPC(4), e.subnet)
	e.routeTables = e.hexNamed("AWS.EC2.RouteTable", "rtb-0", 16, perVPC(2), e.routeTable)
	e.internetGateways = e.hexNamed("AWS.EC2.InternetGateway", "igw-0", 16, perVPC(1), func(p world.Place, i int, id string) world.Object {
		return world.Obj("internetGatewayId", id, "ownerId", p.Account,
			"attachmentSet", world.Items(world.Obj("vpcId", e.vpcs.Name(p, i), "state", "available")), "tagSet", e.tagSet(p, "igw", i))
	})
	e.natGateways = e.hexNamed("AWS.EC2.NatGateway", "nat-0", 16, perVPC(1), e.natGateway)
	e.networkACLs = e.hexNamed("AWS.EC2.NetworkAcl", "acl-0", 16, perVPC(2), e.networkACL)
	e.flowLogs = e.hexNamed("AWS.EC2.FlowLog", "fl-0", 16, perVPC(1), e.flowLog)
	e.securityGroups = e.hexNamed("AWS.EC2.SecurityGroup", "sg-0", 16, func(p world.Place) int {
		n := e.vpcs.Count(p)
		return n * (1 + max(minGroupsPerVPC, e.share(60, 0)(p)/n))
	}, e.securityGroup)
	e.peerings = e.hexNamed("AWS.EC2.VpcPeeringConnection", "pcx-0", 16, constantCount(1), func(p world.Place, i int, id string) world.Object {
		side := func(v int) world.Object {
			return world.Obj("ownerId", p.Account, "vpcId", nth(e.vpcs, p, v), "cidrBlock", cidr(v, 0, 16), "region", p.Region)
		}
		return world.Obj("vpcPeeringConnectionId", id, "requesterVpcInfo", side(i), "accepterVpcInfo", side(i+1),
			"status", world.Obj("code", "active", "message", "Active"), "tagSet", e.tagSet(p, "pcx", i))
	})
	e.endpoints = e.hexNamed("AWS.EC2.VpcEndpoint", "vpce-0", 16, perVPC(1), e.endpoint)
	e.transitGateways = e.hexNamed("AWS.EC2.TransitGateway", "tgw-0", 16, constantCount(1), func(p world.Place, i int, id string) world.Object {
		return world.Obj("transitGatewayId", id, "transitGatewayArn", arn("ec2", p, "transit-gateway/"+id), "state", "available", "ownerId", p.Account,
			"options", world.Obj("autoAcceptSharedAttachments", "disable"), "tagSet", e.tagSet(p, "tgw", i))
	})
	e.vpnGateways = e.hexNamed("AWS.EC2.VpnGateway", "vgw-0", 16, constantCount(1), func(p world.Place, i int, id string) world.Object {
		return world.Obj("vpnGatewayId", id, "state", "available", "type", "ipsec.1",
			"attachments", world.Items(world.Obj("vpcId", nth(e.vpcs, p, i), "state", "attached")), "tagSet", e.tagSet(p, "vgw", i))
	})
	e.vpnConnections = e.hexNamed("AWS.EC2.VpnConnection", "vpn-0", 16, constantCount(1), func(p world.Place, i int, id string) world.Object {
		tunnel := func(status string) world.Object {
			return world.Obj("status", status, "outsideIpAddress", "203.0.113.7")
		}
		return world.Obj("vpnConnectionId", id, "state", "available", "type", "ipsec.1", "vpnGatewayId", nth(e.vpnGateways, p, i),
			"vgwTelemetry", world.Items(tunnel("UP"), tunnel("DOWN")), "tagSet", e.tagSet(p, "vpn", i))
	})
	e.interfaces = e.hexNamed("AWS.EC2.NetworkInterface", "eni-0", 16, func(p world.Place) int {
		return e.instances.Count(p) + e.natGateways.Count(p) + e.endpoints.Count(p)
	}, e.networkInterface)
	e.addresses = e.hexNamed("AWS.EC2.Address", "eipalloc-0", 16, func(p world.Place) int { return e.natGateways.Count(p) + 1 }, e.address)
}

// cidr returns the range 10.v.third.0/bits of the private addresses of the v-th VPC.
func cidr(v, third, bits int) string { return fmt.Sprintf("10.%d.%d.0/%d", v%256, third%256, bits) }

func (e *inventory) vpc(p world.Place, i int, id string) world.Object {
	return world.Obj("vpcId", id, "state", "available", "cidrBlock", cidr(i, 0, 16), "isDefault", i == 0, "instanceTenancy", "default",
		"dhcpOptionsId", "dopt-0"+e.seed(p).With("dopt").Hex(16),
		"cidrBlockAssociationSet", world.Items(world.Obj("associationId", "vpc-cidr-assoc-"+id[4:], "cidrBlock", cidr(i, 0, 16),
			"cidrBlockState", world.Obj("state", "associated"))),
		"tagSet", e.tagSet(p, "vpc", i))
}

// vpcOf returns the number of the VPC that the i-th subnet is in.
func (e *inventory) vpcOf(p world.Place, subnet int) int { return subnet % e.vpcs.Count(p) }

// isPublicSubnet reports whether the i-th subnet has a route to the internet. The subnets of a
// VPC are public and private in turn.
func (e *inventory) isPublicSubnet(p world.Place, subnet int) bool {
	return subnet/e.vpcs.Count(p)%2 == 0
}

func (e *inventory) subnet(p world.Place, i int, id string) world.Object {
	v := e.vpcOf(p, i)
	return world.Obj("subnetId", id, "subnetArn", arn("ec2", p, "subnet/"+id), "state", "available", "vpcId", e.vpcs.Name(p, v),
		"cidrBlock", cidr(v, i/e.vpcs.Count(p)*16, 20), "availableIpAddressCount", 4000, "availabilityZone", zone(p, i), "defaultForAz", v == 0,
		"mapPublicIpOnLaunch", e.isPublicSubnet(p, i), "tagSet", e.tagSet(p, "subnet", i))
}

func zone(p world.Place, i int) string { return p.Region + string("abc"[i%3]) }

// routeTable generates the two tables of a VPC: the main one routes to the
// internet, the other through the NAT gateway.
func (e *inventory) routeTable(p world.Place, i int, id string) world.Object {
	n := e.vpcs.Count(p)
	v, private := i%n, i >= n
	routes := world.Items(world.Obj("destinationCidrBlock", cidr(v, 0, 16), "gatewayId", "local", "state", "active", "origin", "CreateRouteTable"))
	associations := world.Items(world.Obj("routeTableAssociationId", "rtbassoc-0"+id[5:], "routeTableId", id, "main", !private))
	if private {
		associations = nil
		routes = append(routes, world.Obj("destinationCidrBlock", "0.0.0.0/0", "natGatewayId", e.natGateways.Name(p, v), "state", "active", "origin", "CreateRoute"))
		if v == 0 {
			routes = append(routes, world.Obj("destinationCidrBlock", "10.1.0.0/16", "vpcPeeringConnectionId", e.peerings.Name(p, 0), "state", "active"),
				world.Obj("destinationCidrBlock", "172.16.0.0/12", "transitGatewayId", e.transitGateways.Name(p, 0), "state", "active"))
		}
	} else {
		routes = append(routes, world.Obj("destinationCidrBlock", "0.0.0.0/0", "gatewayId", e.internetGateways.Name(p, v), "state", "active", "origin", "CreateRoute"))
	}
	for s := range e.subnets.Count(p) {
		if e.vpcOf(p, s) == v && e.isPublicSubnet(p, s) == !private {
			associations = append(associations, world.Obj("routeTableAssociationId", fmt.Sprintf("rtbassoc-%s%d", id[5:], s), "routeTableId", id,
				"subnetId", e.subnets.Name(p, s), "main", false))
		}
	}
	return world.Obj("routeTableId", id, "vpcId", e.vpcs.Name(p, v), "routeSet", routes, "associationSet", associations, "tagSet", e.tagSet(p, "rtb", i))
}

func (e *inventory) natGateway(p world.Place, i int, id string) world.Object {
	return world.Obj("natGatewayId", id, "vpcId", e.vpcs.Name(p, i), "subnetId", e.subnets.Name(p, i), "state", "available", "connectivityType", "public",
		"createTime", e.ago(300), "natGatewayAddressSet", world.Items(world.Obj("publicIp", natIP(e.region(p), i), "allocationId", e.addresses.Name(p, i),
			"privateIp", fmt.Sprintf("10.%d.0.9", i%256), "networkInterfaceId", e.natInterface(p, i))),
		"tagSet", e.tagSet(p, "nat", i))
}

// region returns the number of a place's region.
func (e *inventory) region(p world.Place) int {
	for i, name := range e.options.Regions {
		if name == p.Region {
			return i
		}
	}
	return 0
}

// instanceIP and natIP return public addresses that are unique in an account.
func instanceIP(region, i int) string {
	return fmt.Sprintf("18.%d.%d.%d", region*8+(i>>16), i>>8&255, i&255)
}

func natIP(region, i int) string { return fmt.Sprintf("34.%d.%d.%d", region, i>>8&255, i&255) }

func (e *inventory) address(p world.Place, i int, id string) world.Object {
	o := world.Obj("allocationId", id, "publicIp", natIP(e.region(p), i), "domain", "vpc", "tagSet", e.tagSet(p, "eip", i))
	if i < e.natGateways.Count(p) {
		o = append(o, world.Obj("associationId", "eipassoc-"+id[9:], "networkInterfaceId", e.natInterface(p, i),
			"privateIpAddress", fmt.Sprintf("10.%d.0.9", i%256))...)
	}
	return o
}

// networkInterface generates the interfaces of instances, then of NAT gateways,
// then of endpoints.
func (e *inventory) networkInterface(p world.Place, i int, id string) world.Object {
	o := world.Obj("networkInterfaceId", id, "ownerId", p.Account, "status", "in-use", "sourceDestCheck", true, "tagSet", []any{})
	instances, nats := e.instances.Count(p), e.natGateways.Count(p)
	in := func(subnet int) world.Object {
		return world.Obj("subnetId", e.subnets.Name(p, subnet), "vpcId", e.vpcs.Name(p, e.vpcOf(p, subnet)))
	}
	switch {
	case i < instances:
		m := e.machine(p, i)
		o = append(o, in(m.subnet)...)
		o = append(o, world.Obj("interfaceType", "interface", "privateIpAddress", m.privateIP, "groupSet", e.groupSet(p, m.group),
			"attachment", world.Obj("instanceId", e.instances.Name(p, i), "status", "attached"))...)
		if m.publicIP != "" {
			o = append(o, world.Obj("association", world.Obj("publicIp", m.publicIP, "ipOwnerId", "amazon"))...)
		}
	case i < instances+nats:
		n := i - instances
		o = append(o, in(n)...)
		o = append(o, world.Obj("interfaceType", "natGateway", "description", "Interface for NAT Gateway "+e.natGateways.Name(p, n),
			"privateIpAddress", fmt.Sprintf("10.%d.0.9", n%256), "association", world.Obj("publicIp", natIP(e.region(p), n), "ipOwnerId", p.Account))...)
	default:
		n := i - instances - nats
		o = append(o, in(n)...)
		o = append(o, world.Obj("interfaceType", "vpc_endpoint", "description", "VPC Endpoint Interface "+e.endpoints.Name(p, n),
			"privateIpAddress", fmt.Sprintf("10.%d.0.7", n%256), "groupSet", e.groupSet(p, e.ordinaryGroup(p, n, 0)))...)
	}
	return o
}

// natInterface returns the name of the interface of the i-th NAT gateway.
func (e *inventory) natInterface(p world.Place, i int) string {
	return e.interfaces.Name(p, e.instances.Count(p)+i)
}

func (e *inventory) endpoint(p world.Place, i int, id string) world.Object {
	return world.Obj("vpcEndpointId", id, "vpcEndpointType", "Interface", "vpcId", e.vpcs.Name(p, i),
		"serviceName", "com.amazonaws."+p.Region+".ssm", "state", "available", "privateDnsEnabled", true,
		"policyDocument", policy(allow("*", "*", "*")), "subnetIdSet", world.Items(e.subnets.Name(p, i)),
		"groupSet", e.groupSet(p, e.ordinaryGroup(p, i, 0)),
		"networkInterfaceIdSet", world.Items(e.interfaces.Name(p, e.instances.Count(p)+e.natGateways.Count(p)+i)), "tagSet", e.tagSet(p, "vpce", i))
}

func (e *inventory) flowLog(p world.Place, i int, id string) world.Object {
	delivery := "SUCCESS"
	if e.violates("aws-vpc-flow-logs", p, i) {
		delivery = "FAILED"
	}
	return world.Obj("flowLogId", id, "flowLogStatus", "ACTIVE", "resourceId", e.vpcs.Name(p, i), "trafficType", "ALL", "deliverLogsStatus", delivery,
		"logDestinationType", "s3", "logDestination", "arn:aws:s3:::"+nth(e.buckets, p, i),
		"deliverLogsPermissionArn", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i)), "creationTime", e.ago(200), "tagSet", e.tagSet(p, "fl", i))
}

// networkACL generates the two ACLs of a VPC: the default one, for its public subnets, and one for
// its private subnets.
func (e *inventory) networkACL(p world.Place, i int, id string) world.Object {
	n := e.vpcs.Count(p)
	v := i % n
	const (
		anyProtocol, tcp = "-1", "6"
		ingress, egress  = false, true
	)
	rule := func(number int, action, protocol string, isEgress bool, ports ...int) world.Object {
		o := world.Obj("ruleNumber", number, "protocol", protocol, "ruleAction", action, "egress", isEgress, "cidrBlock", "0.0.0.0/0")
		if len(ports) == 2 {
			o = append(o, world.Obj("portRange", world.Obj("from", ports[0], "to", ports[1]))...)
		}
		return o
	}
	entries := world.Items(rule(90, "deny", tcp, ingress, 22, 22), rule(91, "deny", tcp, ingress, 3389, 3389))
	if e.violates("aws-ec2-nacl-admin-open", p, i) {
		entries = nil
	}
	entries = append(entries, rule(100, "allow", anyProtocol, ingress), rule(100, "allow", anyProtocol, egress),
		rule(32767, "deny", anyProtocol, ingress), rule(32767, "deny", anyProtocol, egress))
	var associations []any
	for s := range e.subnets.Count(p) {
		if e.vpcOf(p, s) == v && s/n%2 == i/n {
			associations = append(associations, world.Obj("networkAclAssociationId", "aclassoc-"+id[5:]+strconv.Itoa(s), "networkAclId", id,
				"subnetId", e.subnets.Name(p, s)))
		}
	}
	return world.Obj("networkAclId", id, "vpcId", e.vpcs.Name(p, v), "default", i < n, "entrySet", entries, "associationSet", associations,
		"tagSet", e.tagSet(p, "acl", i))
}
