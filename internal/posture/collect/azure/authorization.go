package azure

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

const (
	roleAssignmentType = "Azure.Authorization.RoleAssignment"
	roleDefinitionType = "Azure.Authorization.RoleDefinition"
)

const authorizationVersion = "2022-04-01"

var authorizationKinds = []*kind{
	{
		typ: assignedIdentityType, doc: "An identity that resources act under.",
		arm: "Microsoft.ManagedIdentity/userAssignedIdentities", version: "2023-01-31",
		rows: []row{
			text("principalId", "properties.principalId", "Its object id in the directory."),
			text("clientId", "properties.clientId", "Its application id in the directory."),
		},
		links: []link{principals("IS", "The principal that roles are assigned to.", func(j gjson.Result) []string { return flat(j.Get("properties.principalId")) })},
	},
	{
		typ: roleAssignmentType, doc: "A role that a principal has somewhere.",
		arm: "Microsoft.Authorization/roleAssignments", version: authorizationVersion,
		rows: []row{
			text("principalId", "properties.principalId", "Who has the role."),
			text("principalType", "properties.principalType", "User, Group or ServicePrincipal."),
			text("scope", "properties.scope", "For what it holds."),
			yes("onSubscription", "It holds for the whole subscription, or for more.", wide),
			text("condition", "properties.condition", "When it holds; absent for always."),
		},
		links: []link{
			refs("USES", "properties.roleDefinitionId", "The role.", roleDefinitionType),
			principals("ASSIGNED_TO", "Who has it.", func(j gjson.Result) []string { return flat(j.Get("properties.principalId")) }),
		},
	},
	{
		typ: roleDefinitionType, doc: "A role: what its holders may do. Azure's own are listed where somebody has them.",
		arm: "Microsoft.Authorization/roleDefinitions", version: authorizationVersion,
		takes: []string{"Microsoft.Authorization/roleAssignments/read"},
		rows: []row{
			text("roleName", "properties.roleName", "What people call it."),
			text("roleType", "properties.type", "BuiltInRole or CustomRole."),
			texts("actions", "properties.permissions.#.actions", "What it allows."),
			texts("notActions", "properties.permissions.#.notActions", "What of that it does not allow."),
			texts("dataActions", "properties.permissions.#.dataActions", "What it allows to do with data."),
			texts("assignableScopes", "properties.assignableScopes", "Where it can be assigned."),
			yes("allowsEverything", "It allows every action.", func(j gjson.Result) bool {
				return slices.Contains(flat(j.Get("properties.permissions.#.actions")), "*")
			}),
			yes("assignableToSubscription", "It can be assigned for a whole subscription or everything.", func(j gjson.Result) bool {
				return slices.ContainsFunc(flat(j.Get("properties.assignableScopes")), wideScope)
			}),
		},
	},
}

// wide reports whether an assignment holds for the whole subscription.
func wide(j gjson.Result) bool { return wideScope(j.Get("properties.scope").String()) }

// wideScope reports whether a scope is a whole subscription or more.
func wideScope(scope string) bool {
	parts := strings.FieldsFunc(scope, func(r rune) bool { return r == '/' })
	switch {
	case len(parts) == 0:
		return true
	case strings.EqualFold(parts[0], "subscriptions"):
		return len(parts) == 2
	}
	return len(parts) == 4 && strings.EqualFold(parts[2], "managementGroups")
}

// roleDefinitions leaves out those of Azure's own roles, which are hundreds, that
// nobody has.
func roleDefinitions() collector {
	k := kindOf(roleDefinitionType)
	c := k.collector()
	c.List = func(ctx context.Context, s *session, emit collect.Emit) error {
		used := map[string]bool{}
		err := kindOf(roleAssignmentType).inTurn(ctx, s, func(it item) error {
			used[roleOf(it.Result)] = true
			return nil
		})
		if collect.Over(err) {
			return err
		}
		all := err != nil // when it is not known who has which
		return k.each(ctx, s, func(ctx context.Context, it item) error {
			custom := strings.EqualFold(it.Get("properties.type").String(), "CustomRole")
			if all || custom || used[strings.ToLower(path.Base(it.id))] {
				return k.emit(ctx, s, it, emit)
			}
			return nil
		})
	}
	return c
}

// roleOf returns the name of the role that an assignment is of.
func roleOf(assignment gjson.Result) string {
	return strings.ToLower(path.Base(assignment.Get("properties.roleDefinitionId").String()))
}

// principalsOf are those who have roles.
var principalsOf = collector{
	Declaration: collect.Declaration{
		Type: principalType, Scope: collect.PerAccount, Service: armService, Doc: "Somebody or something that has a role in the subscription.",
		Permissions: []string{"Microsoft.Authorization/roleAssignments/read"},
		Properties: []collect.Property{
			{Name: "principalId", Kind: posture.StringProperty, Doc: "Its object id in the directory."},
			{Name: "principalType", Kind: posture.StringProperty, Doc: "User, Group or ServicePrincipal."},
			{Name: "subscriptionRoles", Kind: posture.StringProperty, List: true, Doc: "Ids of roles that it has for the whole subscription, or for more."},
			{Name: "isSubscriptionAdmin", Kind: posture.BoolProperty, Doc: "It is Owner, Contributor or User Access Administrator of the whole subscription."},
		},
		Edges: []collect.Edge{
			{Label: "ASSIGNED", To: []entityType{roleDefinitionType}, Doc: "Roles that it has, with scope and onSubscription."},
			{Label: "IS", To: []entityType{userType, groupType, servicePrincipalType}, Doc: "Who it is in the directory."},
		},
		Events: []collect.Event{{Source: "Microsoft.Authorization/roleAssignments", Names: []string{"write", "delete"}}},
	},
	List: listPrincipals,
	// An assignment that is gone does not say whose it was: all are looked at.
	Get: func(ctx context.Context, s *session, _ string, emit collect.Emit) error {
		return listPrincipals(ctx, s, emit)
	},
}

// adminRoles are Owner, Contributor and User Access Administrator.
var adminRoles = []string{"8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "b24988ac-6180-42a0-ab88-20f7382dd24c", "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9"}

// directoryTypes are what principals are in the directory.
var directoryTypes = map[string]entityType{"user": userType, "group": groupType, "serviceprincipal": servicePrincipalType}

// listPrincipals gathers assignments by who has them. A subscription has at most
// some thousand.
func listPrincipals(ctx context.Context, s *session, emit collect.Emit) error {
	byPrincipal := map[string][]gjson.Result{}
	err := kindOf(roleAssignmentType).inTurn(ctx, s, func(it item) error {
		id := strings.ToLower(it.Get("properties.principalId").String())
		byPrincipal[id] = append(byPrincipal[id], it.Result)
		return nil
	})
	for id, assignments := range byPrincipal {
		if err := emit(s.principal(id, assignments)); err != nil {
			return err
		}
	}
	return err
}

func (s *session) principal(id string, assignments []gjson.Result) *resource {
	r := collect.NewResource(principalType, s.account, posture.Global, id)
	r.XID = id
	kind := assignments[0].Get("properties.principalType").String()
	r.Text("principalId", id).Text("principalType", kind)
	var roles []string
	for _, a := range assignments {
		role, scope := roleOf(a), a.Get("properties.scope").String()
		if wide(a) {
			roles = append(roles, role)
		}
		r.Edge("ASSIGNED", s.global(roleDefinitionType, role), posture.Text("scope", scope), posture.Flag("onSubscription", wide(a)))
	}
	slices.SortFunc(r.Edges, func(a, b posture.Edge) int {
		return strings.Compare(string(a.To)+a.Properties[0].String, string(b.To)+b.Properties[0].String)
	})
	slices.Sort(roles)
	roles = slices.Compact(roles)
	r.Texts("subscriptionRoles", roles...)
	r.Flag("isSubscriptionAdmin", slices.ContainsFunc(roles, func(role string) bool { return slices.Contains(adminRoles, role) }))
	if t, ok := directoryTypes[strings.ToLower(kind)]; ok {
		r.Edge("IS", s.global(t, id))
	}
	return r
}
