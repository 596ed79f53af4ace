package derive

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
	"vigil/internal/posture/resource"
)

const ec2Peering posture.EntityType = "AWS.EC2.VpcPeeringConnection"

// awsVPCPeering adds the VPCs that a peering connection connects.
var awsVPCPeering = resource.Function{
	Properties: []resource.Property{
		{Name: "crossAccount", Kind: resource.Flag, Doc: "The VPCs belong to different accounts."},
	},
	Edges: []resource.Edge{{Label: "CONNECTS", To: resource.EntityTypes{ec2VPC}, Doc: "The VPCs of this account that it connects."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var owners []string
		for _, name := range []string{"RequesterVpcInfo", "AccepterVpcInfo"} {
			side := in.Value.Get(name)
			if !side.IsObject() {
				continue
			}
			owner := side.Get("OwnerId").String()
			owners = append(owners, owner)
			if id := side.Get("VpcId").String(); owner == string(in.Account) && id != "" {
				b.Edge("CONNECTS", ec2VPC.ID(in.Account, cmp.Or(side.Get("Region").String(), in.Region), id))
			}
		}
		b.Flag("crossAccount", len(owners) == 2 && owners[0] != owners[1])
		return nil
	},
}

// awsPeeringRoutes adds whether the routes of a route table over a peering connection cover a
// whole address range of the VPC on the other side. A table without such routes lacks the property.
var awsPeeringRoutes = resource.Function{
	Properties: []resource.Property{{
		Name: "routesToWholePeer", Kind: resource.Flag,
		Doc: "Its routes over a VPC peering connection cover a whole address range of the other VPC; absent if it has no such routes.",
	}},
	Reads: []posture.EntityType{ec2Peering},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		routes := map[string][]gjson.Result{} // by peering connection
		for _, route := range in.Value.Get("Routes").Array() {
			// A route over a connection that is not active leads nowhere.
			if id := route.Get("VpcPeeringConnectionId").Str; id != "" && route.Get("State").Str != "blackhole" {
				routes[id] = append(routes[id], route)
			}
		}
		if len(routes) == 0 {
			return nil
		}
		connections, err := in.Items(ec2Peering)
		if err != nil {
			return err
		}
		peers := map[string][]string{} // address ranges of the other VPC by peering connection
		for _, c := range connections {
			peers[c.Get("VpcPeeringConnectionId").Str] = peerRanges(c.Result, in.Value.Get("VpcId").Str)
		}
		whole := predicate.Of(false, "")
		var refused error // of a prefix list
		for _, id := range slices.Sorted(maps.Keys(routes)) {
			to, err := destinations(in, routes[id])
			refused = cmp.Or(refused, err)
			whole = predicate.Or(whole, coversRange(to, err == nil, peers[id]))
		}
		putAnswerOrRefusal(b, "routesToWholePeer", whole, refused)
		return nil
	},
}

// peerRanges returns the address ranges of the VPC at the other end of a peering connection of
// vpc. AWS returns them only while the connection is active.
func peerRanges(connection gjson.Result, vpc string) (ranges []string) {
	for name, other := range map[string]string{"RequesterVpcInfo": "AccepterVpcInfo", "AccepterVpcInfo": "RequesterVpcInfo"} {
		if connection.Get(name).Get("VpcId").Str != vpc {
			continue
		}
		peer := connection.Get(other)
		if first := peer.Get("CidrBlock").Str; first != "" {
			ranges = append(ranges, first)
		}
		for _, path := range []string{"CidrBlockSet.#.CidrBlock", "Ipv6CidrBlockSet.#.Ipv6CidrBlock"} {
			for _, r := range peer.Get(path).Array() {
				ranges = append(ranges, r.Str)
			}
		}
	}
	return ranges
}

// destinations returns the address ranges that routes lead to, and the error of a prefix list
// that could not be read.
func destinations(in resource.FunctionInput, routes []gjson.Result) (all []string, failed error) {
	for _, route := range routes {
		if list := route.Get("DestinationPrefixListId").Str; list != "" {
			entries, err := awsPrefixListEntries(in.Ctx, in.Caller, list)
			failed = cmp.Or(failed, err)
			all = append(all, entries...)
			continue
		}
		all = append(all, firstText(route, "DestinationCidrBlock", "DestinationIpv6CidrBlock"))
	}
	return all, failed
}

// coversRange decides whether some destinations together contain one of the ranges of a VPC.
// complete says that there are no other destinations.
func coversRange(destinations []string, complete bool, ranges []string) predicate.Answer {
	var covered ipset.Set
	for _, text := range destinations {
		set, err := ipset.Parse(text)
		if err != nil {
			complete = false
		}
		covered = covered.Union(set)
	}
	answer := predicate.Of(false, "")
	if !complete || len(ranges) == 0 {
		answer = predicate.NotKnown("the destinations of its routes or the address ranges of the other VPC are not known")
	}
	for _, text := range ranges {
		set, err := ipset.Parse(text)
		switch {
		case err != nil:
			answer = predicate.NotKnown(err.Error())
		case covered.Contains(set):
			return predicate.Of(true, "routes lead to all of "+text)
		}
	}
	return answer
}
