package derive

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/predicate/aws"
	"vigil/internal/posture/predicate/ipset"
	"vigil/internal/posture/resource"
)

const (
	ec2NetworkACL posture.EntityType = "AWS.EC2.NetworkAcl"
	ec2Interface  posture.EntityType = "AWS.EC2.NetworkInterface"
	ec2Address    posture.EntityType = "AWS.EC2.Address"
	ec2VPC        posture.EntityType = "AWS.EC2.Vpc"
)

// firstText returns the first of the named members that is not empty.
func firstText(object gjson.Result, names ...string) string {
	for _, name := range names {
		if text := object.Get(name).String(); text != "" {
			return text
		}
	}
	return ""
}

// awsNetworkACL adds the entries of a network ACL, and whether they allow traffic from the
// internet to the ports for remote administration.
var awsNetworkACL = resource.Function{
	Properties: []resource.Property{
		{Name: "entries", Kind: resource.Texts, Doc: "Its rules in order: number, direction, action, protocol, ports and address range."},
		{Name: "sshOpenToInternet", Kind: resource.Flag, Doc: "The internet is allowed in on TCP port 22, and no rule with a lower number denies it."},
		{Name: "rdpOpenToInternet", Kind: resource.Flag, Doc: "The internet is allowed in on TCP port 3389, and no rule with a lower number denies it."},
	},
	Edges: []resource.Edge{{
		Label: "ALLOWS_INGRESS", To: resource.EntityTypes{awsCIDRRange},
		Doc: "What may come in, with ruleNumber, protocol (-1 for all), fromPort and toPort.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		entries := in.Value.Array()
		slices.SortStableFunc(entries, func(a, b gjson.Result) int { return cmp.Compare(a.Get("RuleNumber").Int(), b.Get("RuleNumber").Int()) })
		for _, e := range entries {
			putACLEntry(in, b, e)
		}
		ingress := aclIngress(entries)
		putAnswer(b, "sshOpenToInternet", aws.Admits(ingress, aws.TCP, 22))
		putAnswer(b, "rdpOpenToInternet", aws.Admits(ingress, aws.TCP, 3389))
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("sshOpenToInternet", false).Flag("rdpOpenToInternet", false) },
}

func putACLEntry(in resource.FunctionInput, b *resource.Builder, e gjson.Result) {
	from, to := aclPorts(e)
	peer := firstText(e, "CidrBlock", "Ipv6CidrBlock")
	direction := "ingress"
	if e.Get("Egress").Bool() {
		direction = "egress"
	}
	number, protocol, action := e.Get("RuleNumber").Int(), aws.ProtocolName(e.Get("Protocol").String()), e.Get("RuleAction").String()
	b.Text("entries", fmt.Sprintf("%d %s %s %s %d-%d %s", number, direction, action, protocol, from, to, peer))
	if direction == "ingress" && action == "allow" && peer != "" {
		b.Edge("ALLOWS_INGRESS", awsCIDRRange.ID(in.Account, in.Region, peer), posture.Number("ruleNumber", number), posture.Text("protocol", protocol),
			posture.Number("fromPort", from), posture.Number("toPort", to))
	}
}

func aclPorts(e gjson.Result) (from, to int64) {
	ports := e.Get("PortRange")
	if !ports.IsObject() {
		return 0, 65535
	}
	return ports.Get("From").Int(), ports.Get("To").Int()
}

// aclIngress returns the inbound entries.
func aclIngress(entries []gjson.Result) (all []aws.Entry) {
	for _, e := range entries {
		if e.Get("Egress").Bool() {
			continue
		}
		from, to := aclPorts(e)
		all = append(all, aws.Entry{
			Number: e.Get("RuleNumber").Int(), Deny: e.Get("RuleAction").String() != "allow", Protocol: e.Get("Protocol").String(),
			From: &from, To: &to, Range: firstText(e, "CidrBlock", "Ipv6CidrBlock"),
		})
	}
	return all
}

// awsCIDRRanges lists the distinct address ranges in security groups and network ACLs of the
// region.
var awsCIDRRanges = resource.ListFunction{
	Reads: []posture.EntityType{awsSecurityGroup, ec2NetworkACL},
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
		seen := map[string]bool{}
		groups, err := c.Items(ctx, awsSecurityGroup)
		if err != nil {
			return nil, err
		}
		for _, group := range groups {
			for _, rules := range []string{"IpPermissions", "IpPermissionsEgress"} {
				for _, rule := range group.Get(rules).Array() {
					for _, cidr := range awsRuleRanges(rule) {
						seen[cidr] = true
					}
				}
				for _, o := range awsOpenings(ctx, c, group.Get(rules)) {
					seen[awsEverywhere[o.Version]] = true
				}
			}
		}
		acls, err := c.Items(ctx, ec2NetworkACL)
		if err != nil {
			return nil, err
		}
		for _, acl := range acls {
			for _, e := range acl.Get("Entries").Array() {
				seen[e.Get("CidrBlock").String()] = true
				seen[e.Get("Ipv6CidrBlock").String()] = true
			}
		}
		delete(seen, "")
		return namedItems(slices.Sorted(maps.Keys(seen))), nil
	},
}

// awsCIDR adds the facts about an address range.
var awsCIDR = resource.Function{
	Properties: []resource.Property{
		{Name: "prefixLength", Kind: resource.Long, Doc: "The length of its prefix in bits."},
		{Name: "ipVersion", Kind: resource.Long, Doc: "The IP version: 4 or 6."},
		{Name: "isInternet", Kind: resource.Flag, Exposed: "is the internet", Doc: "It is the internet at large: it has more public addresses than a /8 of IPv4 or a /32 of IPv6."},
		{Name: "isPrivate", Kind: resource.Flag, Doc: "None of its addresses are routed on the internet."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		p, err := netip.ParsePrefix(in.Value.String())
		if err != nil {
			b.Unread(err, "isInternet", "isPrivate") // the entity also lacks prefixLength and ipVersion
			return nil
		}
		set, err := ipset.Parse(in.Value.String())
		if err != nil {
			return err
		}
		b.Number("prefixLength", int64(p.Bits())).Number("ipVersion", ipVersion(p.Addr())).Flag("isInternet", set.IsInternet())
		b.Flag("isPrivate", isPrivate(p))
		return nil
	},
}

func ipVersion(a netip.Addr) int64 {
	if a.Is4() {
		return 4
	}
	return 6
}

// awsIPVersion adds the version of an address.
var awsIPVersion = resource.Function{
	Properties: []resource.Property{{Name: "ipVersion", Kind: resource.Long, Doc: "The IP version: 4 or 6."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		if a, err := netip.ParseAddr(in.Value.String()); err == nil {
			b.Number("ipVersion", ipVersion(a))
		}
		return nil
	},
}

// awsPublicAddresses lists the public addresses of the region: those of network interfaces
// and allocated ones.
var awsPublicAddresses = resource.ListFunction{
	Reads: []posture.EntityType{ec2Interface, ec2Address},
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) (all []resource.Item, err error) {
		seen := map[string]bool{}
		add := func(ip, owner string, used bool) {
			if ip == "" || seen[ip] {
				return
			}
			seen[ip] = true
			text := gjson.AppendJSONString([]byte(`{"name":`), ip)
			text = gjson.AppendJSONString(append(text, `,"owner":`...), owner)
			all = append(all, resource.Item{Result: gjson.Parse(fmt.Sprintf(`%s,"inUse":%t}`, text, used))})
		}
		interfaces, err := c.Items(ctx, ec2Interface)
		if err != nil {
			return nil, err
		}
		for _, i := range interfaces {
			add(i.Get("Association.PublicIp").String(), i.Get("Association.IpOwnerId").String(), true)
		}
		addresses, err := c.Items(ctx, ec2Address)
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			add(a.Get("PublicIp").String(), string(c.Vars().Account), a.Get("AssociationId").Exists())
		}
		return all, nil
	},
}

// routeTargets are the types that routes lead to.
var routeTargets = resource.EntityTypes{
	"AWS.EC2.InternetGateway", "AWS.EC2.NatGateway", "AWS.EC2.VpcPeeringConnection", "AWS.EC2.TransitGateway", "AWS.EC2.VpnGateway",
	ec2Interface, "AWS.EC2.Instance", "AWS.EC2.VpcEndpoint",
}

// awsRoutes adds the routes of a route table.
var awsRoutes = resource.Function{
	Properties: []resource.Property{
		{Name: "routes", Kind: resource.Texts, Doc: "The destination and target of each route."},
		{Name: "hasInternetRoute", Kind: resource.Flag, Doc: "It has a default route to an internet gateway, or routes that together are one."},
	},
	Edges: []resource.Edge{{Label: "ROUTES_TO", To: routeTargets, Doc: "The targets of its routes, with the destination."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var all, toInternet []string
		for _, route := range in.Value.Array() {
			to := firstText(route, "GatewayId", "NatGatewayId", "TransitGatewayId", "VpcPeeringConnectionId", "NetworkInterfaceId", "InstanceId",
				"EgressOnlyInternetGatewayId", "LocalGatewayId", "CarrierGatewayId", "CoreNetworkArn")
			destination := firstText(route, "DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")
			all = append(all, destination+" "+to)
			if strings.HasPrefix(to, "igw-") && route.Get("State").Str != "blackhole" {
				toInternet = append(toInternet, destination)
			}
			b.Edge("ROUTES_TO", in.Cloud.Ref(in.Vars, routeTargets, to), posture.Text("destination", destination))
		}
		b.Set("routes", all)
		putAnswer(b, "hasInternetRoute", ipset.Admits(toInternet))
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("hasInternetRoute", false) },
}
