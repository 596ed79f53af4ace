package azure

import (
	"vigil/internal/sim/world"
)

// Types that other kinds refer to.
const (
	subscriptions = "Microsoft.Resources/subscriptions"
	groups        = subscriptions + "/resourceGroups"
	deployments   = "providers/Microsoft.Resources/deployments" // sub-path of a resource group
)

var basicKinds = []*kind{
	{
		typ: "Azure.Subscription.Subscription", arm: subscriptions, where: inSubscription,
		names: func(a address) []string { return []string{a.sub.ID} },
		body: func(a address) world.Object {
			return a.sub.description()
		},
	},
	{
		typ: "Azure.Subscription.Location", arm: subscriptions + "/locations", where: inSubscription,
		names: func(a address) []string { return a.locations() },
		body: func(a address) world.Object {
			return world.Obj("displayName", displayNames[a.name()], "regionalDisplayName", displayNames[a.name()], "metadata", world.Obj("regionType", "Physical", "regionCategory", "Recommended"))
		},
	},
	{
		typ: "Azure.Resources.ResourceGroup", arm: groups, where: inSubscription,
		names: func(a address) []string {
			names := make([]string, a.groups(), a.groups()+1)
			for i := range names {
				names[i] = groupName(i)
			}
			return append(names, "NetworkWatcherRG")
		},
		body: func(a address) world.Object {
			outputs := world.Obj("endpoint", world.Obj("type", "String", "value", "https://"+a.name()+".example.com"))
			if a.i%5 == 1 { // a credential in clear text, for the rule about outputs of deployments
				outputs = append(outputs, world.Obj("adminPassword", world.Obj("type", "String", "value", "simulated-Passw0rd"))...)
			}
			return world.Obj("location", a.location(), "tags", a.tags(), "properties", world.Obj("provisioningState", "Succeeded"),
				"_"+deployments, world.Obj("value", world.Items(world.Obj("name", "main", "properties", world.Obj("provisioningState", "Succeeded", "outputs", outputs)))))
		},
	},
	{
		typ: "Azure.Resources.Lock", arm: "Microsoft.Authorization/locks", where: inSubscription,
		names: func(address) []string { return []string{"keep"} },
		body: func(a address) world.Object {
			return world.Obj("properties", world.Obj("level", "CanNotDelete", "notes", "Shared with other teams."))
		},
	},
}

// description returns Resource Manager's description of a subscription.
func (s Subscription) description() world.Object {
	return world.Obj("id", "/subscriptions/"+s.ID, "authorizationSource", "RoleBased", "subscriptionId", s.ID, "tenantId", s.Tenant,
		"displayName", s.Name, "state", "Enabled", "subscriptionPolicies", world.Obj("locationPlacementId", "Public_2014-09-01", "quotaId", "EnterpriseAgreement_2014-09-01", "spendingLimit", "Off"))
}

// tags returns the resource's tags.
func (a address) tags() world.Object {
	if a.seed("tags").Intn(10) == 0 {
		return nil
	}
	return world.Obj("env", world.PickOne(a.seed("env"), "prod", "stage", "dev"), "owner", world.PickOne(a.seed("owner"), "payments", "platform", "data"))
}

// resource returns a description with location and tags.
func (a address) resource(more ...any) world.Object {
	o := world.Obj("location", a.location())
	if tags := a.tags(); tags != nil {
		o = o.With("tags", tags)
	}
	return append(o, world.Obj(more...)...)
}

// reference returns a reference to another resource.
func reference(id string) world.Object { return world.Obj("id", id) }

// choose returns violating when the resource must violate a rule, else compliant.
func choose[T any](a address, rule string, violating, compliant T) T {
	if a.violates(rule) {
		return violating
	}
	return compliant
}

// daysAgo returns a time in Azure's format.
func (a address) daysAgo(days int) string {
	return a.options.Today.AddDate(0, 0, -days).Format("2006-01-02T15:04:05.0000000Z")
}

// identity returns the resource's managed identity.
func (a address) identity() world.Object {
	return world.Obj("type", "SystemAssigned", "principalId", a.principal(), "tenantId", a.sub.Tenant)
}

// principal returns the object id of the resource's managed identity.
func (a address) principal() string {
	return a.options.Seed.With(a.sub.ID).With(a.k.arm).With("principal").UUID(a.i)
}
