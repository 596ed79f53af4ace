package azure_test

import (
	"errors"
	"testing"

	"vigil/internal/posture/judge/judgetest"
	simazure "vigil/internal/sim/azure"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// troubles maps each trouble to the fault that causes it.
var troubles = map[judgetest.Trouble]gateway.Fault{
	judgetest.Denied: {Kind: gateway.Deny}, judgetest.Failed: {Kind: gateway.Fail}, judgetest.Timeout: {Kind: gateway.Hang},
	judgetest.Partial: {Kind: gateway.Half, Skip: 1}, // the second page
}

// TestFailuresKeepFindings closes an open security group and opens another
// while security groups cannot be read. No finding may change.
func TestFailuresKeepFindings(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 40, Page: 2})
	id := func(name string) string {
		return "/subscriptions/" + r.Subscriptions()[0].ID + "/resourceGroups/made/providers/Microsoft.Network/networkSecurityGroups/" + name
	}
	rdpFrom := func(prefix string) world.Object {
		return world.Obj("properties", world.Obj("securityRules", world.Items(world.Obj("name", "remote", "properties", world.Obj(
			"priority", 100, "direction", "Inbound", "access", "Allow", "protocol", "Tcp", "sourceAddressPrefix", prefix, "sourcePortRange", "*",
			"destinationAddressPrefix", "*", "destinationPortRange", "3389")))))
	}
	group := func(name string) simazure.Change {
		return simazure.Change{ID: id(name), Make: append(world.Obj("location", "westeurope"), rdpFrom("*")...)}
	}
	if err := r.Change(group("nsg-90001")); err != nil {
		t.Fatal(err)
	}
	judgetest.NeverWrong(t, judgetest.Cloud{
		Source: r.source, Access: r.access(0), Today: today,
		Change: func() error {
			return errors.Join(r.Change(simazure.Change{ID: id("nsg-90001"), Patch: rdpFrom("10.0.0.0/8")}), r.Change(group("nsg-90002")))
		},
		Break: func(what judgetest.Trouble) func() {
			f := troubles[what]
			f.Match = gateway.Call{Service: "Microsoft.Network", Action: "networkSecurityGroups/read"}
			fault, err := r.faults.Add(f)
			if err != nil {
				t.Fatal(err)
			}
			return func() { r.faults.Remove(fault) }
		},
	})
}
