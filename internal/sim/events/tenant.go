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

// A Tenant simulates a user of the clouds: periodically it opens a resource to
// the internet and closes it again.
type Tenant struct {
	Publisher *Publisher
	Every     time.Duration
	Log       *slog.Logger

	steps []func() error
}

// Run makes changes until ctx is done.
func (t *Tenant) Run(ctx context.Context) {
	tick := time.NewTicker(t.Every)
	defer tick.Stop()
	for i := 0; len(t.steps) > 0; i++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := t.steps[i%len(t.steps)](); err != nil {
			t.Log.Warn("simulated tenant: change failed", "error", err)
		}
	}
}

// WorkAWS makes the tenant change an account: a security group is opened,
// narrowed and closed again. WorkAWS creates the group, so that the later changes
// add no vertex to the account's graph.
func (t *Tenant) WorkAWS(cloud *aws.Cloud, account, region string) error {
	place := world.Place{Account: account, Region: region}
	ref := world.Ref{Type: "AWS.EC2.SecurityGroup", Place: place, Name: fmt.Sprintf("sg-0%016x", 0xfeed)}
	vpc, _, _ := cloud.Resource("AWS.EC2.Vpc", place, 0)
	err := cloud.Change(world.Change{Ref: ref, Make: world.Obj("groupId", ref.Name, "groupName", "maintenance", "groupDescription", "opened for maintenance",
		"ownerId", account, "vpcId", vpc, "ipPermissions", []any{}, "ipPermissionsEgress", []any{})})
	if err != nil {
		return err
	}
	allow := func(permissions []any) func() error {
		return func() error {
			return cloud.Change(world.Change{Ref: ref, Patch: world.Obj("ipPermissions", permissions)})
		}
	}
	from := func(cidr string) []any {
		return world.Items(world.Obj("ipProtocol", "tcp", "fromPort", 22, "toPort", 22, "ipRanges", world.Items(world.Obj("cidrIp", cidr))))
	}
	t.steps = append(t.steps, allow(from("0.0.0.0/0")), allow(from("10.0.0.0/8")), allow([]any{}))
	return nil
}

// WorkAzure makes the tenant change a subscription: a security group is opened,
// narrowed and closed again. WorkAzure creates the group.
func (t *Tenant) WorkAzure(cloud *azure.Cloud, subscription string) error {
	id := fmt.Sprintf("/subscriptions/%s/resourceGroups/maintenance/providers/Microsoft.Network/networkSecurityGroups/nsg-maintenance", subscription)
	rules := func(access, from string) world.Object {
		return world.Obj("properties", world.Obj("securityRules", world.Items(world.Obj("name", "remote", "properties", world.Obj(
			"priority", 100, "direction", "Inbound", "access", access, "protocol", "Tcp", "sourceAddressPrefix", from, "sourcePortRange", "*",
			"destinationAddressPrefix", "*", "destinationPortRange", "3389")))))
	}
	if err := cloud.Change(azure.Change{ID: id, Make: append(world.Obj("location", "westeurope"), rules("Deny", "*")...)}); err != nil {
		return err
	}
	set := func(access, from string) func() error {
		return func() error {
			return t.Publisher.ChangeAzure(cloud, azure.Change{ID: id, Patch: rules(access, from)})
		}
	}
	t.steps = append(t.steps, set("Allow", "*"), set("Allow", "10.0.0.0/8"), set("Deny", "*"))
	return nil
}

// WorkGCP makes the tenant change a project: a firewall rule is opened, narrowed and
// disabled again. WorkGCP creates the rule.
func (t *Tenant) WorkGCP(cloud *gcp.Cloud, project string) error {
	link := "https://www.googleapis.com/compute/v1/projects/" + project + "/global/"
	rule := gcp.Change{Type: "GCP.Compute.Firewall", Project: project, Name: "maintenance"}
	create := rule
	create.Make = world.Obj("name", rule.Name, "selfLink", link+"firewalls/"+rule.Name, "network", link+"networks/vpc-00001", "direction", "INGRESS",
		"priority", 1000, "disabled", true, "sourceRanges", world.Items("10.0.0.0/8"),
		"allowed", world.Items(world.Obj("IPProtocol", "tcp", "ports", world.Items("22"))))
	if err := cloud.Change(create); err != nil {
		return err
	}
	set := func(disabled bool, from string) func() error {
		return func() error {
			c := rule
			c.Patch = world.Obj("disabled", disabled, "sourceRanges", world.Items(from))
			return cloud.Change(c)
		}
	}
	t.steps = append(t.steps, set(false, "0.0.0.0/0"), set(false, "10.0.0.0/8"), set(true, "10.0.0.0/8"))
	return nil
}
