package azure

import (
	"slices"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

type directoryRole struct{ template, name string }

// roles are the assigned directory roles.
var roles = []directoryRole{
	{"62e90394-69f5-4237-9190-012177145e10", "Global Administrator"},
	{"194ae4cb-b126-40b2-bd5b-6091b380977d", "Security Administrator"},
	{"88d8e3e3-8f55-4a1e-953a-9b9898b8876b", "Directory Readers"},
}

// inactiveRole is a role with full access that has not been activated: a user is eligible for it,
// and nobody is assigned it.
var inactiveRole = directoryRole{"e8611ab8-c189-46e8-94e1-60213ab1f814", "Privileged Role Administrator"}

func (c *Cloud) roleID(tenant string, i int) string {
	return c.options.Seed.With(tenant).With("directory role").UUID(i)
}

// privilegedRoles is the number of roles with full access, which are the first ones.
const privilegedRoles = 2

// policyCount is the number of Conditional Access policies.
const policyCount = 2

// members returns the numbers of the users who have a role.
func (c *Cloud) members(role int) []int {
	var all []int
	for u := range min(12, c.options.Users) {
		if u%(len(roles)+1) == role {
			all = append(all, u)
		}
	}
	return all
}

// One group has a directory role, and one user is eligible for another:
// administrators who are not direct members of a role.
const (
	groupRole    = 1 // index in roles of the role that the group has
	roleGroup    = 0 // number of the group
	eligibleRole = 0 // index in roles of the role that a user is eligible for
)

func (c *Cloud) groupID(tenant string, i int) string {
	return c.options.Seed.With(tenant).With("group").UUID(i)
}

// groupMembers returns the numbers of the users in the group that has a role.
func (c *Cloud) groupMembers() []int { return c.someUsers(3) }

// eligibleUsers returns the numbers of the users who are eligible for the role roles[eligibleRole].
func (c *Cloud) eligibleUsers() []int { return c.someUsers(7) }

// eligibleForInactiveRole returns the numbers of the users who are eligible for inactiveRole.
func (c *Cloud) eligibleForInactiveRole() []int { return c.someUsers(10) }

func (c *Cloud) someUsers(numbers ...int) (all []int) {
	for _, u := range numbers {
		if u < c.options.Users {
			all = append(all, u)
		}
	}
	return all
}

// administrators returns the numbers of the users who have a role with full access, or are
// eligible for one. A user can be in the list several times.
func (c *Cloud) administrators() []int {
	all := c.eligibleForInactiveRole()
	for role := range privilegedRoles {
		all = append(all, c.holders(role)...)
	}
	return all
}

// holders returns the numbers of all users who have an assigned role or are eligible for
// it.
func (c *Cloud) holders(role int) []int {
	all := c.members(role)
	if role == groupRole {
		all = append(all, c.groupMembers()...)
	}
	if role == eligibleRole {
		all = append(all, c.eligibleUsers()...)
	}
	return all
}

// lacksRegistration reports whether a user has no second factor.
func (c *Cloud) lacksRegistration(tenant string, user int) bool {
	const rule = "azure-entra-privileged-mfa"
	return c.options.Seed.With(tenant).With(rule).Nth(user).Share(c.options.Shares.Of(rule))
}

// directoryViolates reports whether the directory must violate a rule.
func (c *Cloud) directoryViolates(tenant, rule string) bool {
	return c.options.Seed.With(tenant).With(rule).Share(c.options.Shares.Of(rule))
}

// directoryObject returns the i-th object of a collection, including changes.
func (c *Cloud) directoryObject(name string, s collection, tenant string, i int) world.Object {
	// Get needs only this object, so Index returns its number for every name.
	k := &world.Kind{
		Type:  posture.EntityType("graph/" + name),
		Count: func(world.Place) int { return i + 1 },
		Name:  func(_ world.Place, i int) string { return s.make(c, tenant, i).Text("id") },
		Index: func(world.Place, string) (int, bool) { return i, true },
		Make:  func(_ world.Place, i int) world.Object { return s.make(c, tenant, i) },
	}
	o, _ := c.Get(k, world.Place{Account: tenant}, k.Name(world.Place{}, i))
	return o
}

func constantCount(n int) func(*Cloud) int { return func(*Cloud) int { return n } }

func users(c *Cloud) int { return c.options.Users }

// collections are the directory lists by path.
var collections = map[string]collection{
	"organization": {count: constantCount(1), make: func(_ *Cloud, tenant string, _ int) world.Object {
		return world.Obj("id", tenant, "displayName", "Contoso", "verifiedDomains", world.Items(world.Obj("name", "contoso.example", "isDefault", true)))
	}},
	"users": {count: users, make: func(c *Cloud, tenant string, i int) world.Object {
		name := world.PickOne(c.options.Seed.With("first").Nth(i), "Ana", "Ben", "Cleo", "Dev", "Eve", "Finn") + " " + number(i)
		return world.Obj("id", c.userID(tenant, i), "displayName", name, "userPrincipalName", "user"+number(i)+"@contoso.example", "accountEnabled", true, "userType", "Member", "createdDateTime", "2024-01-01T00:00:00Z")
	}},
	"groups": {count: constantCount(5), make: func(c *Cloud, tenant string, i int) world.Object {
		return world.Obj("id", c.groupID(tenant, i), "displayName", "Group "+number(i), "securityEnabled", true, "visibility", "Private")
	}},
	"servicePrincipals": {count: constantCount(6), make: func(c *Cloud, tenant string, i int) world.Object {
		seed := c.options.Seed.With(tenant).With("service principal")
		return world.Obj("id", seed.UUID(i), "appId", seed.With("app").UUID(i), "displayName", "App "+number(i), "accountEnabled", true, "servicePrincipalType", "Application", "appOwnerOrganizationId", tenant)
	}},
	"applications/federatedIdentityCredentials": {count: constantCount(1), make: func(*Cloud, string, int) world.Object {
		return world.Obj("id", "f0000000-0000-0000-0000-000000000001", "name", "github", "issuer", "https://token.actions.githubusercontent.com",
			"subject", "repo:acme/site:environment:prod", "audiences", world.Items("api://AzureADTokenExchange"))
	}},
	"applications": {count: constantCount(4), make: func(c *Cloud, tenant string, i int) world.Object {
		seed := c.options.Seed.With(tenant).With("application object")
		return world.Obj("id", seed.UUID(i), "appId", c.options.Seed.With(tenant).With("service principal").With("app").UUID(i), "displayName", "App "+number(i), "signInAudience", "AzureADMyOrg",
			"passwordCredentials", world.Items(world.Obj("keyId", seed.With("key").UUID(i), "endDateTime", "2027-01-01T00:00:00Z")), "keyCredentials", []any{})
	}},
	"directoryRoles": {count: constantCount(len(roles)), make: func(c *Cloud, tenant string, i int) world.Object {
		return world.Obj("id", c.roleID(tenant, i), "displayName", roles[i].name, "roleTemplateId", roles[i].template)
	}},
	// Members are answered by answerMembers and answerGroupMembers.
	"directoryRoles/members":   {},
	"groups/transitiveMembers": {},
	"directoryRoleTemplates": {noQueryOptions: true, count: constantCount(len(roles) + 1), make: func(_ *Cloud, _ string, i int) world.Object {
		r := append(slices.Clone(roles), inactiveRole)[i]
		return world.Obj("id", r.template, "displayName", r.name)
	}},
	"roleManagement/directory/roleEligibilityScheduleInstances": {
		count: func(c *Cloud) int { return len(c.eligibleUsers()) + len(c.eligibleForInactiveRole()) },
		make: func(c *Cloud, tenant string, i int) world.Object {
			user, role := append(c.eligibleUsers(), c.eligibleForInactiveRole()...)[i], inactiveRole
			if i < len(c.eligibleUsers()) {
				role = roles[eligibleRole]
			}
			return world.Obj("id", c.options.Seed.With(tenant).With("eligible").UUID(i), "principalId", c.userID(tenant, user), "roleDefinitionId", role.template)
		},
	},
	"identity/conditionalAccess/policies": {count: constantCount(policyCount), make: func(c *Cloud, tenant string, i int) world.Object {
		state := "enabled"
		if i == 0 && c.directoryViolates(tenant, "azure-entra-security-defaults") {
			state = "enabledForReportingButNotEnforced"
		}
		name, users, control := "Require MFA for all users", "All", "mfa"
		if i == 1 {
			name, users, control = "Block legacy authentication", "All", "block"
		}
		return world.Obj("id", c.options.Seed.With(tenant).With("policy").UUID(i), "displayName", name, "state", state, "conditions", world.Obj(
			"users", world.Obj("includeUsers", world.Items(users), "excludeUsers", []any{}), "applications", world.Obj("includeApplications", world.Items("All"))),
			"grantControls", world.Obj("operator", "OR", "builtInControls", world.Items(control)))
	}},
	"identity/conditionalAccess/namedLocations": {count: constantCount(1), make: func(c *Cloud, tenant string, i int) world.Object {
		return world.Obj("@odata.type", "#microsoft.graph.ipNamedLocation", "id", c.options.Seed.With(tenant).With("location").UUID(i), "displayName", "Offices", "isTrusted", true,
			"ipRanges", world.Items(world.Obj("@odata.type", "#microsoft.graph.iPv4CidrRange", "cidrAddress", "203.0.113.0/24")))
	}},
	"policies/identitySecurityDefaultsEnforcementPolicy": {single: true, count: constantCount(1), make: func(_ *Cloud, _ string, _ int) world.Object {
		return world.Obj("id", "00000000-0000-0000-0000-000000000005", "displayName", "Security Defaults", "isEnabled", false)
	}},
	"policies/authorizationPolicy": {single: true, count: constantCount(1), make: func(c *Cloud, tenant string, _ int) world.Object {
		return world.Obj("id", "authorizationPolicy", "allowInvitesFrom", "adminsAndGuestInviters", "defaultUserRolePermissions",
			world.Obj("allowedToCreateApps", c.directoryViolates(tenant, "azure-entra-users-register-apps"), "allowedToCreateTenants", false))
	}},
	"groupSettings": {count: constantCount(1), make: func(c *Cloud, tenant string, i int) world.Object {
		return world.Obj("id", c.options.Seed.With(tenant).With("setting").UUID(i), "displayName", "Password Rule Settings", "templateId", "5cf42378-d67d-4f36-ba46-e8b86229381d", "values", world.Items(
			world.Obj("name", "LockoutThreshold", "value", "10"), world.Obj("name", "LockoutDurationInSeconds", "value", "60"), world.Obj("name", "EnableBannedPasswordCheck", "value", "True")))
	}},
	"reports/authenticationMethods/userRegistrationDetails": {noQueryOptions: true, count: users, make: func(c *Cloud, tenant string, i int) world.Object {
		return world.Obj("id", c.userID(tenant, i), "userPrincipalName", "user"+number(i)+"@contoso.example", "isMfaRegistered", !c.lacksRegistration(tenant, i))
	}},
}
