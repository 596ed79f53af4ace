package derive

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

const (
	azureRoleAssignment posture.EntityType = "Azure.Authorization.RoleAssignment"
	azureRoleDefinition posture.EntityType = "Azure.Authorization.RoleDefinition"
	azureUser           posture.EntityType = "Azure.Entra.User"
	azureGroup          posture.EntityType = "Azure.Entra.Group"
	azureServicePrinc   posture.EntityType = "Azure.Entra.ServicePrincipal"
)

// azureAssignmentScope adds whether a role assignment holds for a whole
// subscription.
var azureAssignmentScope = resource.Function{
	Properties: []resource.Property{{Name: "onSubscription", Kind: resource.Flag, Doc: "Its scope is a whole subscription or a management group."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("onSubscription", azureWideScope(in.Value.String()))
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("onSubscription", true) },
}

// azureWideScope reports whether a scope is a whole subscription or more.
func azureWideScope(scope string) bool {
	parts := strings.FieldsFunc(scope, func(r rune) bool { return r == '/' })
	switch {
	case len(parts) == 0:
		return true
	case strings.EqualFold(parts[0], "subscriptions"):
		return len(parts) == 2
	}
	return len(parts) == 4 && strings.EqualFold(parts[2], "managementGroups")
}

// azureRolePower adds what the permissions of a role definition come to.
var azureRolePower = resource.Function{
	Properties: []resource.Property{
		{Name: "allowsEverything", Kind: resource.Flag, Doc: "Its actions contain *, which allows every operation of the control plane.", Powerful: true},
		{Name: "assignableToSubscription", Kind: resource.Flag, Doc: "One of its assignable scopes is a whole subscription, a management group or the root."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("allowsEverything", slices.Contains(texts(in.Value.Get("permissions.#.actions")), "*"))
		b.Flag("assignableToSubscription", slices.ContainsFunc(texts(in.Value.Get("assignableScopes")), azureWideScope))
		return nil
	},
}

// azureUsedRoles leaves out those built-in roles, which are hundreds, that are not
// assigned. When the assignments are not known, all are kept.
func azureUsedRoles(ctx context.Context, c resource.Caller, items []resource.Item) ([]resource.Item, error) {
	used, err := c.Once("assigned roles", func() (any, error) {
		used := map[string]bool{}
		err := c.Each(ctx, azureRoleAssignment, func(a *resource.Item) error {
			used[azureRoleOf(a.Result)] = true
			return nil
		})
		return used, err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return items, nil
	}
	var kept []resource.Item
	for _, item := range items {
		custom := strings.EqualFold(item.Get("properties.type").String(), "CustomRole")
		if custom || used.(map[string]bool)[strings.ToLower(path.Base(item.Get("id").String()))] {
			kept = append(kept, item)
		}
	}
	return kept, nil
}

// azureRoleOf returns the name of the role definition that an assignment is of.
func azureRoleOf(assignment gjson.Result) string {
	return strings.ToLower(path.Base(assignment.Get("properties.roleDefinitionId").String()))
}

// azurePrincipals lists who has roles: the assignments, of which a subscription
// has at most some thousand, by who has them.
func azurePrincipals(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
	var ids []string
	assignments := map[string][]string{}
	kinds := map[string]string{}
	err := c.Each(ctx, azureRoleAssignment, func(a *resource.Item) error {
		id := strings.ToLower(a.Get("properties.principalId").String())
		if assignments[id] == nil {
			ids = append(ids, id)
			kinds[id] = a.Get("properties.principalType").Raw
		}
		assignments[id] = append(assignments[id], a.Raw)
		return nil
	})
	all := make([]resource.Item, 0, len(ids))
	for _, id := range ids {
		text := `{"principalId":` + string(gjson.AppendJSONString(nil, id)) + `,"assignments":[` + strings.Join(assignments[id], ",") + `]`
		if kinds[id] != "" {
			text += `,"principalType":` + kinds[id]
		}
		all = append(all, resource.Item{Result: gjson.Parse(text + "}")})
	}
	return all, err
}

// azureAdminRoles are Owner, Contributor and User Access Administrator.
var azureAdminRoles = []string{"8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "b24988ac-6180-42a0-ab88-20f7382dd24c", "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9"}

// azureDirectoryTypes are what principals are in the directory.
var azureDirectoryTypes = map[string]posture.EntityType{"user": azureUser, "group": azureGroup, "serviceprincipal": azureServicePrinc}

// azurePrincipalRoles adds the roles of a principal.
var azurePrincipalRoles = resource.Function{
	Properties: []resource.Property{
		{Name: "subscriptionRoles", Kind: resource.Texts, Doc: "Ids of the role definitions that it is assigned at the scope of the subscription or above."},
		{Name: "isSubscriptionAdmin", Kind: resource.Flag, Doc: "It is Owner, Contributor or User Access Administrator of the whole subscription.", Powerful: true},
	},
	Edges: []resource.Edge{
		{Label: "ASSIGNED", To: resource.EntityTypes{azureRoleDefinition}, Doc: "The roles that it is assigned, with scope and onSubscription."},
		{Label: "IS", To: resource.EntityTypes{azureUser, azureGroup, azureServicePrinc}, Doc: "The directory object that it is."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var roles []string
		for _, a := range in.Value.Get("assignments").Array() {
			role, scope := azureRoleOf(a), a.Get("properties.scope").String()
			wide := azureWideScope(scope)
			if wide {
				roles = append(roles, role)
			}
			b.Edge("ASSIGNED", azureRoleDefinition.ID(in.Account, posture.Global, role), posture.Text("scope", scope), posture.Flag("onSubscription", wide))
		}
		slices.SortStableFunc(b.Edges, compareEdges)
		b.Set("subscriptionRoles", roles)
		b.Flag("isSubscriptionAdmin", slices.ContainsFunc(roles, func(role string) bool { return slices.Contains(azureAdminRoles, role) }))
		if t, ok := azureDirectoryTypes[strings.ToLower(in.Value.Get("principalType").String())]; ok {
			b.Edge("IS", t.ID(in.Account, posture.Global, in.Value.Get("principalId").String()))
		}
		return nil
	},
}
