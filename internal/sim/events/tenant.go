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
// narrowed and closed again. It is there from the start, so that whoever looks
// twice at the graph of the account finds the same vertices.
func (t *Tenant) WorkAWS(cloud *aws.Cloud, account, region string) error {
	place := world.Place{Account: account, Region: region}
	ref := world.Ref{Type: "AWS.EC2.SecurityGroup", Place: place, Name: fmt.Sprintf("sg-0%016x", 0xfeed)}
	vpc, _, _ := cloud.Resource("AWS.EC2.Vpc", place, 0)
	err := cloud.Change(world.Change{Ref: ref, Make: world.Obj("groupId", ref.Name, "groupName", "maintenance", "groupDescription", "opened for maintenance",
		"ownerId", account, "vpcId", vpc, "ipPermissions", []any{}, "ipPermissionsEgress", []any{})})
	if err != nil {
		return err
	}
	allow := func(permissions []any) func(int) error {
		return func(int) error {
			return cloud.Change(world.Change{Ref: ref, Patch: world.Obj("ipPermissions", permissions)})
		}
	}
	from := func(cidr string) []any {
		return world.Items(world.Obj("ipProtocol", "tcp", "fromPort", 22, "toPort", 22, "ipRanges", world.Items(world.Obj("cidrIp", cidr))))
	}
	t.steps = append(t.steps, allow(from("0.0.0.0/0")), allow(from("10.0.0.0/8")), allow([]any{}))
	return nil
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
			c.Make = world.Obj("name", c.Name, "selfLink", link+"firewalls/"+c.Name, "network", link+"networks/vpc-00001", "direction", "INGRESS",
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
