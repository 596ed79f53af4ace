package aws

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"vigil/internal/posture"
)

// target returns the id of what a route leads to.
func target(r types.Route) string {
	return aws.ToString(first(r.GatewayId, r.NatGatewayId, r.TransitGatewayId, r.VpcPeeringConnectionId, r.NetworkInterfaceId, r.InstanceId,
		r.EgressOnlyInternetGatewayId, r.LocalGatewayId, r.CarrierGatewayId, r.CoreNetworkArn))
}

// byPrefix are the types whose ids begin like this.
var byPrefix = map[string]posture.EntityType{
	"igw": internetGatewayType, "nat": natGatewayType, "tgw": transitGatewayType, "pcx": peeringType, "eni": networkInterfaceType,
	"i": instanceType, "vgw": vpnGatewayType, "vpce": vpcEndpointType, "vpc": vpcType, "subnet": subnetType,
}

// gateway returns the entity of an id of EC2, by how the id begins.
func (s *scope) gateway(id string) posture.EntityID {
	kind, _, _ := strings.Cut(id, "-")
	if t, ok := byPrefix[kind]; ok && kind != id {
		return s.id(t, &id)
	}
	return ""
}

// first returns the first value that is there.
func first(values ...*string) *string {
	for _, v := range values {
		if v != nil && *v != "" {
			return v
		}
	}
	return nil
}

func prefixed(s, prefix string) bool { return strings.HasPrefix(s, prefix) }

func textOf(name, value string) posture.Property { return posture.Text(name, value) }
