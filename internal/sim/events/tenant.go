package events

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"vigil/internal/sim/aws"
	"vigil/internal/sim/azure"
	"vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
)

// A Tenant is somebody who works in the simulated clouds: every few seconds they
// open something that they should not, close it again, or throw it away.
type Tenant struct {
	Courier *Courier
	Every   time.Duration
	Log     *slog.Logger

	steps []func(round int) error
}

// Run works until ctx ends.
func (t *Tenant) Run(ctx context.Context) {
	tick := time.NewTicker(t.Every)
	defer tick.Stop()
	for i := 0; len(t.steps) > 0; i++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := t.steps[i%len(t.steps)](i / len(t.steps)); err != nil {
			t.Log.Warn("the simulated tenant could not make a change", "error", err)
		}
	}
}

// WorkAWS has the tenant work in an account: a security group that is opened,
// closed and removed.
func (t *Tenant) WorkAWS(cloud *aws.Cloud, account, region string) {
	place := world.Place{Account: account, Region: region}
	ref := func(round int) world.Ref {
		return world.Ref{Type: "AWS.EC2.SecurityGroup", Place: place, Name: fmt.Sprintf("sg-0%016x", 0xfeed0000+round)}
	}
	rules := func(cidr string, port int) world.Object {
		return world.Obj("ipPermissions", world.Items(world.Obj("ipProtocol", "tcp", "fromPort", port, "toPort", port,
			"ipRanges", world.Items(world.Obj("cidrIp", cidr)))))
	}
	t.steps = append(t.steps,
		func(round int) error {
			vpc, _, _ := cloud.Resource("AWS.EC2.Vpc", place, 0)
			made := world.Obj("groupId", ref(round).Name, "groupName", fmt.Sprintf("maintenance-%d", round), "groupDescription", "opened for maintenance",
				"ownerId", account, "vpcId", vpc, "ipPermissionsEgress", []any{})
			return cloud.Change(world.Change{Ref: ref(round), Make: append(made, rules("0.0.0.0/0", 22)...)})
		},
		func(round int) error {
			return cloud.Change(world.Change{Ref: ref(round), Patch: rules("10.0.0.0/8", 22)})
		},
		func(round int) error { return cloud.Change(world.Change{Ref: ref(round), Gone: true}) },
	)
}

// WorkAzure has the tenant work in a subscription: a security group that is
// opened, closed and removed.
func (t *Tenant) WorkAzure(cloud *azure.Cloud, subscription string) {
	id := func(round int) string {
		return fmt.Sprintf("/subscriptions/%s/resourceGroups/maintenance/providers/Microsoft.Network/networkSecurityGroups/nsg-%05d", subscription, 90000+round)
	}
	rules := func(from string) world.Object {
		return world.Obj("properties", world.Obj("securityRules", world.Items(world.Obj("name", "remote", "properties", world.Obj(
			"priority", 100, "direction", "Inbound", "access", "Allow", "protocol", "Tcp", "sourceAddressPrefix", from, "sourcePortRange", "*",
			"destinationAddressPrefix", "*", "destinationPortRange", "3389")))))
	}
	t.steps = append(t.steps,
		func(round int) error {
			return t.Courier.ChangeAzure(cloud, azure.Change{ID: id(round), Make: append(world.Obj("location", "westeurope"), rules("*")...)})
		},
		func(round int) error {
			return t.Courier.ChangeAzure(cloud, azure.Change{ID: id(round), Patch: rules("10.0.0.0/8")})
		},
		func(round int) error { return t.Courier.ChangeAzure(cloud, azure.Change{ID: id(round), Gone: true}) },
	)
}

// WorkGCP has the tenant work in a project: a firewall rule that is opened,
// closed and removed.
func (t *Tenant) WorkGCP(cloud *gcp.Cloud, project string) {
	rule := func(round int) gcp.Change {
		return gcp.Change{Type: "GCP.Compute.Firewall", Project: project, Name: fmt.Sprintf("maintenance-%d", round)}
	}
	t.steps = append(t.steps,
		func(round int) error {
			c := rule(round)
			link := "https://www.googleapis.com/compute/v1/projects/" + project + "/global/"
			c.Make = world.Obj("name", c.Name, "selfLink", link+"firewalls/"+c.Name, "network", link+"networks/net-00000", "direction", "INGRESS",
				"priority", 1000, "disabled", false, "sourceRanges", world.Items("0.0.0.0/0"),
				"allowed", world.Items(world.Obj("IPProtocol", "tcp", "ports", world.Items("22"))))
			return cloud.Change(c)
		},
		func(round int) error {
			c := rule(round)
			c.Patch = world.Obj("sourceRanges", world.Items("10.0.0.0/8"))
			return cloud.Change(c)
		},
		func(round int) error {
			c := rule(round)
			c.Gone = true
			return cloud.Change(c)
		},
	)
}
