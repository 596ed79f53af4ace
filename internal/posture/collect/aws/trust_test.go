package aws_test

import (
	"errors"
	"testing"

	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/judge/judgetest"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// troubles maps each trouble to the fault that causes it.
var troubles = map[judgetest.Trouble]gateway.Kind{
	judgetest.Denied: gateway.Deny, judgetest.Failed: gateway.Fail, judgetest.Timeout: gateway.Hang, judgetest.Partial: gateway.Half,
}

// TestFailuresKeepFindings closes an open security group and opens another
// while security groups cannot be read. No finding may change.
func TestFailuresKeepFindings(t *testing.T) {
	t.Parallel()
	const region = "us-east-1"
	c := start(t, simaws.Options{Seed: 5, Size: 40, Regions: []string{region}})
	place := world.Place{Account: c.Account(0).ID, Region: region}
	old := world.Ref{Type: "AWS.EC2.SecurityGroup", Place: place, Name: "sg-0000000000000aaaa"}
	fresh := world.Ref{Type: old.Type, Place: place, Name: "sg-0000000000000bbbb"}
	sshFrom := func(cidr string) world.Object {
		return world.Obj("ipPermissions", world.Items(world.Obj("ipProtocol", "tcp", "fromPort", 22, "toPort", 22, "ipRanges", world.Items(world.Obj("cidrIp", cidr)))))
	}
	group := func(ref world.Ref) world.Change {
		vpc, _, _ := c.Resource("AWS.EC2.Vpc", place, 0)
		return world.Change{Ref: ref, Make: append(world.Obj("groupId", ref.Name, "groupName", ref.Name, "groupDescription", "made by a test",
			"ownerId", place.Account, "vpcId", vpc, "ipPermissionsEgress", []any{}), sshFrom("0.0.0.0/0")...)}
	}
	if err := c.Change(group(old)); err != nil {
		t.Fatal(err)
	}
	judgetest.NeverWrong(t, judgetest.Cloud{
		Source: aws.New(c.options), Access: c.access(0), Today: today,
		Change: func() error {
			return errors.Join(c.Change(world.Change{Ref: old, Patch: sshFrom("10.0.0.0/8")}), c.Change(group(fresh)))
		},
		Break: func(what judgetest.Trouble) func() {
			id, err := c.gateway.Faults.Add(gateway.Fault{Match: gateway.Call{Service: "ec2", Action: "DescribeSecurityGroups"}, Kind: troubles[what]})
			if err != nil {
				t.Fatal(err)
			}
			return func() { c.gateway.Faults.Remove(id) }
		},
	})
}
