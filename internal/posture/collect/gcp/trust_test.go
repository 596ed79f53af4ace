package gcp_test

import (
	"errors"
	"testing"

	"vigil/internal/posture/judge/judgetest"
	"vigil/internal/sim/gateway"
	simgcp "vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
)

// troubles maps each trouble to the fault that causes it.
var troubles = map[judgetest.Trouble]gateway.Fault{
	judgetest.Denied: {Kind: gateway.Deny}, judgetest.Failed: {Kind: gateway.Fail}, judgetest.Timeout: {Kind: gateway.Hang},
	judgetest.Partial: {Kind: gateway.Half, Skip: 1}, // the second page is truncated
}

// TestFailuresKeepFindings closes an open firewall and opens another while
// firewalls cannot be read. No finding may change.
func TestFailuresKeepFindings(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 3, Size: 60, Page: 2})
	project := c.Projects()[0].ID
	firewall := func(name string) simgcp.Change {
		link := "https://www.googleapis.com/compute/v1/projects/" + project + "/global/"
		return simgcp.Change{Type: "GCP.Compute.Firewall", Project: project, Name: name, Make: world.Obj(
			"name", name, "selfLink", link+"firewalls/"+name, "network", link+"networks/vpc-00001", "direction", "INGRESS", "priority", 1000,
			"disabled", false, "sourceRanges", world.Items("0.0.0.0/0"), "allowed", world.Items(world.Obj("IPProtocol", "tcp", "ports", world.Items("22"))))}
	}
	if err := c.Change(firewall("old")); err != nil {
		t.Fatal(err)
	}
	judgetest.NeverWrong(t, judgetest.Cloud{
		Source: c.source(), Access: c.access(0), Today: today,
		Change: func() error {
			closeOld := simgcp.Change{Type: "GCP.Compute.Firewall", Project: project, Name: "old", Patch: world.Obj("sourceRanges", world.Items("10.0.0.0/8"))}
			return errors.Join(c.Change(closeOld), c.Change(firewall("fresh")))
		},
		Break: func(what judgetest.Trouble) func() {
			f := troubles[what]
			f.Match = gateway.Call{Service: "compute", Action: "firewalls.list"}
			fault, err := c.faults.Add(f)
			if err != nil {
				t.Fatal(err)
			}
			return func() { c.faults.Remove(fault) }
		},
	})
}
