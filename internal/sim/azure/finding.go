package azure

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// A ruleCheck reports whether a resource violates a rule. It decides by the description of
// the resource, and does not know which violations the simulator created on purpose.
type ruleCheck func(c *checker, o world.Object) bool

// checker checks the resources of one subscription.
type checker struct {
	*Cloud
	sub    Subscription
	admins map[string]bool // principals with full access to the subscription
	logs   map[string]bool // lower-case ids of storage accounts that store the activity log
}

// Findings returns the findings that the built-in rules must report for a
// subscription in its current state, including the changes made since the start.
func (c *Cloud) Findings(subscription string) iter.Seq[world.Finding] {
	return func(yield func(world.Finding) bool) {
		sub, ok := c.subs[subscription]
		if !ok {
			return
		}
		check := &checker{Cloud: c, sub: sub, admins: map[string]bool{}, logs: map[string]bool{}}
		check.prepare()
		for f := range check.directory() {
			if !yield(f) {
				return
			}
		}
		for _, armType := range slices.Sorted(maps.Keys(ruleChecks)) {
			k := kinds[strings.ToLower(armType)]
			for o := range check.each(armType) {
				for _, rule := range slices.Sorted(maps.Keys(ruleChecks[armType])) {
					if ruleChecks[armType][rule](check, o) && !yield(world.Finding{Rule: rule, Entity: entityOf(k.typ, o.Text("id"))}) {
						return
					}
				}
			}
		}
		if check.hasNone(contacts) && !yield(world.Finding{Rule: "azure-security-contact", Entity: check.entity("Azure.Security.SecurityContact", "default")}) {
			return
		}
	}
}

// prepare collects the facts from role assignments and diagnostic settings that the
// checks of other kinds of resources need.
func (c *checker) prepare() {
	for o := range c.each(assignments) {
		p, _ := o.Get("properties").(world.Object)
		role := p.Text("roleDefinitionId")
		role = role[strings.LastIndex(role, "/")+1:]
		if isSubscriptionScope(p.Text("scope")) && (role == builtIn[owner].id || role == builtIn[contributor].id) {
			c.admins[p.Text("principalId")] = true
		}
	}
	for o := range c.each(settings) {
		c.logs[strings.ToLower(o.Text("properties", "storageAccountId"))] = true
	}
}

// isSubscriptionScope reports whether the scope of a role is a whole subscription:
// /subscriptions/ID.
func isSubscriptionScope(scope string) bool { return strings.Count(scope, "/") == 2 }

// each visits all resources of a kind.
func (c *checker) each(armType string) iter.Seq[world.Object] {
	return func(yield func(world.Object) bool) {
		k := kinds[strings.ToLower(armType)]
		c.visit(k, func(_ address, o world.Object) bool { return yield(o) })
	}
}

// visit calls f for every resource of a kind, which may be nested in another kind, until f
// returns false. It reports whether f always returned true.
func (c *checker) visit(k *kind, f func(address, world.Object) bool) bool {
	list := func(at address) bool {
		more := true
		at.list(0, -1, func(name string, o world.Object) bool {
			at.member = at.memberOf(name) // at is now the address of o
			more = f(at, o)
			return more
		})
		return more
	}
	if k.in == "" {
		return list(address{Cloud: c.Cloud, k: k, sub: c.sub, place: world.Place{Account: c.sub.ID}})
	}
	return c.visit(kinds[strings.ToLower(k.in)], func(parent address, _ world.Object) bool { return list(parent.nested(k.arm)) })
}

func (c *checker) hasNone(armType string) bool {
	for range c.each(armType) {
		return false
	}
	return true
}

// find returns a resource by its id, or nil if there is none.
func (c *checker) find(id string) world.Object {
	t, refused := c.Cloud.find(id, c.sub.Government)
	if refused != nil {
		return nil
	}
	return t.object
}

// entity returns the id of an entity that is not in a resource group.
func (c *checker) entity(t posture.EntityType, name string) posture.EntityID {
	return t.ID(posture.AccountID(c.sub.ID), posture.Global, strings.ToLower(name))
}

// entityOf returns the entity id that Vigil gives to a resource with this ARM id.
func entityOf(t posture.EntityType, id string) posture.EntityID {
	parts := strings.Split(strings.ToLower(strings.Trim(id, "/")), "/")
	account, location, name := parts[1], posture.Global, ""
	rest := parts[2:]
	if len(rest) > 2 && rest[0] == "resourcegroups" {
		location, rest = rest[1], rest[2:] // in ids of entities, the resource group is the location
	}
	if len(rest) > 2 && rest[0] == "providers" {
		rest = rest[2:]
	}
	for i := 1; i < len(rest); i += 2 {
		name += "/" + rest[i]
	}
	// The subscription itself has no further parts: its name is its id.
	return t.ID(posture.AccountID(account), location, cmp.Or(strings.TrimPrefix(name, "/"), account))
}

// directory returns the findings about the Entra directory of the subscription's tenant.
// Vigil reports them for each subscription of the tenant.
func (c *checker) directory() iter.Seq[world.Finding] {
	return func(yield func(world.Finding) bool) {
		tenant := c.sub.Tenant
		object := func(name string, i int) world.Object { return c.directoryObject(name, collections[name], tenant, i) }
		mfaEnforced := false
		for i := range policyCount {
			p := object("identity/conditionalAccess/policies", i)
			mfaEnforced = mfaEnforced || p.Text("state") == "enabled" && slices.Contains(p.List("grantControls", "builtInControls"), any("mfa"))
		}
		tenantEntity := c.entity("Azure.Entra.Tenant", tenant)
		if !mfaEnforced && !object("policies/identitySecurityDefaultsEnforcementPolicy", 0).Flag("isEnabled") && !yield(world.Finding{Rule: "azure-entra-security-defaults", Entity: tenantEntity}) {
			return
		}
		if object("policies/authorizationPolicy", 0).Flag("defaultUserRolePermissions", "allowedToCreateApps") && !yield(world.Finding{Rule: "azure-entra-users-register-apps", Entity: tenantEntity}) {
			return
		}
		for _, u := range c.administrators() {
			report := object("reports/authenticationMethods/userRegistrationDetails", u)
			if !report.Flag("isMfaRegistered") && !yield(world.Finding{Rule: "azure-entra-privileged-mfa", Entity: c.entity("Azure.Entra.User", c.userID(tenant, u))}) {
				return
			}
		}
	}
}

// isOlder reports whether a time is more than a number of days before Today.
func (c *checker) isOlder(text string, days int) bool {
	t, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && t.Before(c.options.Today.AddDate(0, 0, -days))
}
