package azure

import (
	"vigil/internal/sim/world"
)

const (
	identities  = "Microsoft.ManagedIdentity/userAssignedIdentities"
	assignments = "Microsoft.Authorization/roleAssignments"
	definitions = "Microsoft.Authorization/roleDefinitions"
)

// builtIn are some of Azure's built-in roles.
var builtIn = []struct{ id, name, action string }{
	{"8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "Owner", "*"},
	{"b24988ac-6180-42a0-ab88-20f7382dd24c", "Contributor", "*"},
	{"acdd72a7-3385-48ef-bd42-f606fba81ae7", "Reader", "*/read"},
	{"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9", "User Access Administrator", "Microsoft.Authorization/*"},
	{"ba92f5b4-2d11-453d-a403-e96b0029c9fe", "Storage Blob Data Contributor", "Microsoft.Storage/storageAccounts/blobServices/containers/read"},
	{"21090545-7ca7-4776-b22c-e363652d74d2", "Key Vault Reader", "Microsoft.KeyVault/vaults/read"},
}

// Indexes of roles in builtIn.
const (
	owner = iota
	contributor
	reader
)

// customRoles is the number of custom roles of a subscription.
const customRoles = 3

// userAssignments is the number of role assignments to users. The role
// assignments with higher numbers are to virtual machines.
const userAssignments = 4

var accessKinds = []*kind{
	{
		typ: "Azure.ManagedIdentity.UserAssignedIdentity", arm: identities, prefix: "id-",
		count: func(a address) int { return max(2, a.permille(10)) },
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("tenantId", a.sub.Tenant, "principalId", a.principal(), "clientId", a.clientID()))
		},
	},
	{
		typ: "Azure.ManagedIdentity.FederatedCredential", arm: identities + "/federatedIdentityCredentials", prefix: "github-", in: identities,
		count: func(address) int { return 1 },
		body: func(a address) world.Object {
			subject := "repo:acme/site:environment:prod"
			if a.enclosing().i%4 == 1 { // violates azure-identity-federation-pull-request
				subject = "repo:acme/site:pull_request"
			}
			return world.Obj("properties", world.Obj("issuer", "https://token.actions.githubusercontent.com", "subject", subject, "audiences", world.Items("api://AzureADTokenExchange")))
		},
	},
	{
		typ: "Azure.Authorization.RoleAssignment", arm: assignments, where: inSubscription,
		names: func(a address) []string {
			names := make([]string, userAssignments+a.machinesWithRole())
			for i := range names {
				names[i] = a.options.Seed.With(a.sub.ID).With("assignment").UUID(i)
			}
			return names
		},
		body: func(a address) world.Object {
			subscription := "/subscriptions/" + a.sub.ID
			role, scope := reader, subscription
			if a.i == 0 {
				role = owner
			}
			principal, principalType := a.assignedUserID(a.i), "User"
			if machine := a.i - userAssignments; machine >= 0 {
				vm := a.peer(machines, machine)
				principal, principalType, scope = vm.principal(), "ServicePrincipal", subscription+"/resourceGroups/"+vm.group()
				if vm.isExposed() {
					role, scope = world.PickOne(vm.seed("role"), owner, contributor), subscription
				}
			}
			return world.Obj("properties", world.Obj("roleDefinitionId", subscription+"/providers/"+definitions+"/"+builtIn[role].id,
				"principalId", principal, "principalType", principalType, "scope", scope, "createdOn", a.daysAgo(100)))
		},
	},
	{
		typ: "Azure.Authorization.RoleDefinition", arm: definitions, where: inSubscription,
		names: func(a address) []string {
			names := make([]string, len(builtIn)+customRoles)
			for i := range names {
				if i < len(builtIn) {
					names[i] = builtIn[i].id
				} else {
					names[i] = a.options.Seed.With(a.sub.ID).With("role").UUID(i)
				}
			}
			return names
		},
		body: func(a address) world.Object {
			var name, roleType, action, scope string
			if a.i < len(builtIn) {
				name, roleType, scope = builtIn[a.i].name, "BuiltInRole", "/"
				action = builtIn[a.i].action
			} else {
				name, roleType, scope = "Operator "+number(a.i), "CustomRole", "/subscriptions/"+a.sub.ID
				action = choose(a, "azure-iam-custom-owner-role", "*", "Microsoft.Compute/*/read")
			}
			return world.Obj("properties", world.Obj("roleName", name, "type", roleType, "assignableScopes", world.Items(scope),
				"permissions", world.Items(world.Obj("actions", world.Items(action), "notActions", []any{}, "dataActions", []any{}))))
		},
	},
	{
		typ: "Azure.Authorization.PolicyAssignment", arm: "Microsoft.Authorization/policyAssignments", where: inSubscription,
		names: func(address) []string { return []string{"securitycenterbuiltin"} },
		body: func(a address) world.Object {
			return world.Obj("properties", world.Obj("displayName", "ASC Default", "enforcementMode", "Default", "scope", "/subscriptions/"+a.sub.ID,
				"policyDefinitionId", "/providers/Microsoft.Authorization/policySetDefinitions/1f3afdf9-d0c9-4c3d-847f-89da613e70a8"))
		},
	},
}

// clientID returns the application id of a managed identity.
func (a address) clientID() string { return a.options.Seed.With(a.sub.ID).With("client").UUID(a.i) }

// assignedUserID returns the object id of the user who has the i-th role assignment.
func (a address) assignedUserID(i int) string { return a.userID(a.sub.Tenant, i%a.options.Users) }

func (c *Cloud) userID(tenant string, i int) string {
	return c.options.Seed.With(tenant).With("user").UUID(i)
}
