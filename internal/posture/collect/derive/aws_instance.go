package derive

import (
	"regexp"
	"time"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// transitionTime is the time in the reason of an instance's last change of state, such as
// "User initiated (2024-06-01 08:30:00 GMT)". Changes that EC2 itself makes have none.
var transitionTime = regexp.MustCompile(`\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)`)

// awsStopTime adds when an instance was stopped.
var awsStopTime = resource.Function{
	Properties: []resource.Property{
		{Name: "stoppedAt", Kind: resource.Time, Doc: "When it was stopped or terminated; absent if EC2 does not tell."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		found := transitionTime.FindStringSubmatch(in.Value.String())
		if found == nil {
			return nil
		}
		if at, err := time.Parse(time.DateTime, found[1]); err == nil {
			b.Text("stoppedAt", at.UTC().Format(time.RFC3339))
		}
		return nil
	},
}

// awsInstanceGroups adds the security groups of an instance. Every network interface has groups of
// its own, which guard the addresses of this interface only: an open group of a private interface
// does not open the public address of another one.
var awsInstanceGroups = resource.Function{
	Edges: []resource.Edge{{
		Label: "MEMBER_OF", To: resource.EntityTypes{awsSecurityGroup},
		Doc: "The security groups of its network interfaces. If there are several interfaces, publicIpv4 and publicIpv6 say whether one with this group has such an address.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		interfaces := in.Value.Get("NetworkInterfaces").Array()
		if len(interfaces) < 2 { // the edges need no publicIpv4 and publicIpv6: the instance has the same addresses
			interfaces = nil
		}
		var groups []string
		ipv4, ipv6 := map[string]bool{}, map[string]bool{}
		for _, i := range interfaces {
			for _, id := range i.Get("Groups.#.GroupId").Array() {
				if _, seen := ipv4[id.Str]; !seen {
					groups = append(groups, id.Str)
				}
				ipv4[id.Str] = ipv4[id.Str] || hasPublicIPv4(i)
				ipv6[id.Str] = ipv6[id.Str] || len(i.Get(publicIPv6).Array()) > 0
			}
		}
		for _, id := range groups {
			b.Edge("MEMBER_OF", awsSecurityGroup.ID(in.Account, in.Region, id), posture.Flag("publicIpv4", ipv4[id]), posture.Flag("publicIpv6", ipv6[id]))
		}
		for _, id := range in.Value.Get("SecurityGroups.#.GroupId").Array() { // those of the first interface
			if _, seen := ipv4[id.Str]; !seen {
				b.Edge("MEMBER_OF", awsSecurityGroup.ID(in.Account, in.Region, id.Str))
			}
		}
		return nil
	},
}

// publicIPv6 is the path of an interface's IPv6 addresses without unique local addresses. VPCs get those from fd00::/8.
const publicIPv6 = `Ipv6Addresses.#(Ipv6Address!%"fd*")#`

// hasPublicIPv4 reports whether one of the private addresses of a network interface has a public
// IPv4 address.
func hasPublicIPv4(i gjson.Result) bool {
	return i.Get("Association.PublicIp").Str != "" || len(i.Get("PrivateIpAddresses.#.Association.PublicIp").Array()) > 0
}
