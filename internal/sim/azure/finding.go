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

// A ruleCheck reports whether a resource violates a rule, from its description
// alone.
type ruleCheck func(v *checker, o world.Object) bool

// checker checks the resources of one subscription.
type checker struct {
	*Cloud
	sub    Subscription
	admins map[string]bool // principals with full access to the subscription
	logs   map[string]bool // lower-case ids of storage accounts that store the activity log
}

// Findings returns the findings that the built-in rules must report for a
// subscription, including changes.
func (c *Cloud) Findings(subscription string) iter.Seq[world.Finding] {
	return func(yield func(world.Finding) bool) {
		sub, ok := c.subs[subscription]
		if !ok {
			return
		}
		v := &checker{Cloud: c, sub: sub, admins: map[string]bool{}, logs: map[string]bool{}}
		v.prepare()
		for f := range v.directory() {
			if !yield(f) {
				return
			}
		}
		for _, arm := range slices.Sorted(maps.Keys(ruleChecks)) {
			k := kinds[strings.ToLower(arm)]
			for o := range v.each(arm) {
				for _, rule := range slices.Sorted(maps.Keys(ruleChecks[arm])) {
					if ruleChecks[arm][rule](v, o) && !yield(world.Finding{Rule: rule, Entity: entityOf(k.typ, o.Text("id"))}) {
						return
					}
				}
			}
		}
		if v.hasNone(contacts) && !yield(world.Finding{Rule: "azure-security-contact", Entity: v.entity("Azure.Security.SecurityContact", "default")}) {
			return
		}
	}
}

// prepare collects the data that checks of other kinds need.
func (c *checker) prepare() {
	for o := range c.each(assignments) {
		p, _ := o.Get("properties").(world.Object)
		role := p.Text("roleDefinitionId")
		role = role[strings.LastIndex(role, "/")+1:]
		if strings.Count(p.Text("scope"), "/") == 2 && (role == builtIn[owner].id || role == builtIn[contributor].id) {
			c.admins[p.Text("principalId")] = true
		}
	}
	for o := range c.each(settings) {
		c.logs[strings.ToLower(o.Text("properties", "storageAccountId"))] = true
	}
}

// each visits all resources of a kind.
func (c *checker) each(arm string) iter.Seq[world.Object] {
	return func(yield func(world.Object) bool) {
		k := kinds[strings.ToLower(arm)]
		c.visit(k, func(_ address, o world.Object) bool { return yield(o) })
	}
}

// visit visits all resources of a kind, including those nested in others.
func (c *checker) visit(k *kind, f func(address, world.Object) bool) bool {
	list := func(in address) bool {
		going := true
		in.list(0, -1, func(name string, o world.Object) bool {
			in.i, _ = in.index(name)
			going = f(in, o)
			return going
		})
		return going
	}
	if k.in == "" {
		return list(address{Cloud: c.Cloud, k: k, sub: c.sub, place: world.Place{Account: c.sub.ID}})
	}
	return c.visit(kinds[strings.ToLower(k.in)], func(parent address, _ world.Object) bool { return list(parent.nested(k.arm)) })
}

func (c *checker) hasNone(arm string) bool {
	for range c.each(arm) {
		return false
	}
	return true
}

// find returns a resource by its id.
func (c *checker) find(id string) world.Object {
	t, no := c.Cloud.find(id, c.sub.Government)
	if no != nil {
		return nil
	}
	return t.object
}

// entity returns the id of an entity without a group.
func (c *checker) entity(t posture.EntityType, name string) posture.EntityID {
	return t.ID(posture.AccountID(c.sub.ID), posture.Global, strings.ToLower(name))
}

// entityOf returns the product's entity id of a resource.
func entityOf(t posture.EntityType, id string) posture.EntityID {
	parts := strings.Split(strings.ToLower(strings.Trim(id, "/")), "/")
	account, location, name := parts[1], posture.Global, ""
	rest := parts[2:]
	if len(rest) > 2 && rest[0] == "resourcegroups" {
		location, rest = rest[1], rest[2:]
	}
	if len(rest) > 2 && rest[0] == "providers" {
		rest = rest[2:]
	}
	for i := 1; i < len(rest); i += 2 {
		name += "/" + rest[i]
	}
	return t.ID(posture.AccountID(account), location, cmp.Or(strings.TrimPrefix(name, "/"), account))
}

// directory returns the findings about the directory, as each subscription
// reports them.
func (c *checker) directory() iter.Seq[world.Finding] {
	return func(yield func(world.Finding) bool) {
		tenant := c.sub.Tenant
		object := func(name string, i int) world.Object { return c.directoryObject(name, collections[name], tenant, i) }
		enforced := slices.ContainsFunc([]int{0, 1}, func(i int) bool {
			p := object("identity/conditionalAccess/policies", i)
			return p.Text("state") == "enabled" && slices.Contains(p.List("grantControls", "builtInControls"), any("mfa"))
		})
		tenantEntity := c.entity("Azure.Entra.Tenant", tenant)
		if !enforced && !object("policies/identitySecurityDefaultsEnforcementPolicy", 0).Flag("isEnabled") && !yield(world.Finding{Rule: "azure-entra-security-defaults", Entity: tenantEntity}) {
			return
		}
		if object("policies/authorizationPolicy", 0).Flag("defaultUserRolePermissions", "allowedToCreateApps") && !yield(world.Finding{Rule: "azure-entra-users-register-apps", Entity: tenantEntity}) {
			return
		}
		for role := range roles[:privileged] {
			for _, u := range c.holders(role) {
				report := object("reports/authenticationMethods/userRegistrationDetails", u)
				if !report.Flag("isMfaRegistered") && !yield(world.Finding{Rule: "azure-entra-privileged-mfa", Entity: c.entity("Azure.Entra.User", c.userID(tenant, u))}) {
					return
				}
			}
		}
	}
}

// isOlder reports whether a time is more than a number of days before Today.
func (c *checker) isOlder(text string, days int) bool {
	t, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && t.Before(c.options.Today.AddDate(0, 0, -days))
}
