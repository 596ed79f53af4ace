package derive

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/predicate/azure"
	"vigil/internal/posture/resource"
)

const (
	azureRoleAssignment posture.EntityType = "Azure.Authorization.RoleAssignment"
	azureRoleDefinition posture.EntityType = "Azure.Authorization.RoleDefinition"
	azureUser           posture.EntityType = "Azure.Entra.User"
	azureGroup          posture.EntityType = "Azure.Entra.Group"
	azureServicePrinc   posture.EntityType = "Azure.Entra.ServicePrincipal"
)

// azureAssignmentScope adds how wide the scope of a role assignment is.
var azureAssignmentScope = resource.Function{
	Properties: []resource.Property{
		{Name: "onSubscription", Kind: resource.Flag, Doc: "Its scope is a whole subscription or a management group."},
		{Name: "onResource", Kind: resource.Flag, Doc: "Its scope is a single resource, not a resource group, a subscription or a management group."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		scope := in.Value.String()
		b.Flag("onSubscription", azure.Wide(scope)).Flag("onResource", !azure.Wide(scope) && !azureIsResourceGroup(scope))
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("onSubscription", true).Flag("onResource", false) },
}

// azureIsResourceGroup reports whether a scope is a resource group.
func azureIsResourceGroup(scope string) bool {
	parts := strings.Split(strings.Trim(strings.ToLower(scope), "/"), "/")
	return len(parts) == 4 && parts[0] == "subscriptions" && parts[2] == "resourcegroups"
}

// azureRolePower adds what the permissions of a role definition allow.
var azureRolePower = resource.Function{
	Properties: []resource.Property{
		{Name: "allowsEverything", Kind: resource.Flag, Doc: "It may write resources of every kind.", Powerful: true},
		{Name: "isAdmin", Kind: resource.Flag, Doc: "It may write resources of every kind, or give roles away."},
		{Name: "assignableToSubscription", Kind: resource.Flag, Doc: "One of its assignable scopes is a whole subscription, a management group or the root."},
		{Name: "takesOver", Kind: resource.Texts, Values: azure.TakeoverKinds, Doc: "The kinds of workloads in which its holders can run code, and so use their managed identity: virtualMachines, scaleSets, sites, clusters or containerGroups."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		if in.Value.Get("permissions").Exists() {
			putAnswer(b, "allowsEverything", azure.WritesEverything(in.Value))
			putAnswer(b, "isAdmin", azure.Admin(in.Value))
			b.Texts("takesOver", azure.Takeovers(in.Value)...)
		} else { // a role without permissions allows nothing
			b.Flag("allowsEverything", false).Flag("isAdmin", false)
		}
		b.Flag("assignableToSubscription", slices.ContainsFunc(texts(in.Value.Get("assignableScopes")), azure.Wide))
		return nil
	},
}

// azureUsedRoles drops the hundreds of built-in roles that nobody is assigned or eligible for.
// When the assignments are unknown, it keeps all roles.
func azureUsedRoles(ctx context.Context, c resource.Caller, items []resource.Item) ([]resource.Item, error) {
	used, err := c.Once("assigned roles", func() (any, error) {
		used := map[string]bool{}
		err := c.Each(ctx, azureRoleAssignment, func(a *resource.Item) error {
			used[azureRoleOf(a.Result)] = true
			return nil
		})
		if err != nil {
			return nil, err
		}
		// azurePrincipals makes the same call. If it fails, azurePrincipals reports the error and lists
		// no eligible assignments, so that nothing refers to the roles that are missing here.
		pages, _ := c.Call(ctx, azureEligible, nil)
		for _, page := range pages {
			for _, a := range page.Get("value").Array() {
				used[azureRoleOf(a)] = true
			}
		}
		return used, nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return items, nil
	}
	var matching []resource.Item
	for _, item := range items {
		custom := strings.EqualFold(item.Get("properties.type").String(), "CustomRole")
		if custom || used.(map[string]bool)[strings.ToLower(path.Base(item.Get("id").String()))] {
			matching = append(matching, item)
		}
	}
	return matching, nil
}

// azureRoleOf returns the name of the role definition of an assignment.
func azureRoleOf(assignment gjson.Result) string {
	return strings.ToLower(path.Base(assignment.Get("properties.roleDefinitionId").String()))
}

// azureEligible is the call that lists the roles that principals are eligible to activate
// (Privileged Identity Management).
var azureEligible = resource.Request{
	Call:       "/subscriptions/$subscription/providers/Microsoft.Authorization/roleEligibilityScheduleInstances",
	Input:      resource.NewInput("api-version", "2020-10-01"),
	Permission: "Microsoft.Authorization/roleEligibilityScheduleInstances/read",
}

// azurePrincipals lists the principals that have roles. It groups the role assignments, of which
// a subscription has at most a few thousand, and the eligible assignments by principal.
func azurePrincipals(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
	var ids []string
	assignments := map[string][]string{}
	kinds := map[string]string{}
	add := func(a gjson.Result) {
		id := strings.ToLower(a.Get("properties.principalId").String())
		if assignments[id] == nil {
			ids = append(ids, id)
			kinds[id] = a.Get("properties.principalType").Raw
		}
		assignments[id] = append(assignments[id], a.Raw)
	}
	err := c.Each(ctx, azureRoleAssignment, func(a *resource.Item) error {
		add(a.Result)
		return nil
	})
	if err != nil {
		return nil, err
	}
	unread := ""
	var incomplete error // set if principals that are only eligible are missing
	pages, err := c.Call(ctx, azureEligible, nil)
	if err != nil && !errors.Is(err, collect.ErrOff) && !errors.Is(err, collect.ErrGone) {
		if collect.IsFatal(err) {
			return nil, err
		}
		unread, incomplete = "the eligible role assignments could not be read: "+err.Error(), err
	}
	for _, page := range pages {
		for _, a := range page.Get("value").Array() {
			add(a)
		}
	}
	all := make([]resource.Item, 0, len(ids))
	for _, id := range ids {
		text := `{"principalId":` + string(gjson.AppendJSONString(nil, id)) + `,"assignments":[` + strings.Join(assignments[id], ",") + `]`
		if kinds[id] != "" {
			text += `,"principalType":` + kinds[id]
		}
		if unread != "" {
			text += `,"unread":` + string(gjson.AppendJSONString(nil, unread))
		}
		all = append(all, resource.Item{Result: gjson.Parse(text + "}")})
	}
	return all, incomplete
}

// azureDirectoryTypes maps the types of principals to directory types.
var azureDirectoryTypes = map[string]posture.EntityType{"user": azureUser, "group": azureGroup, "serviceprincipal": azureServicePrinc}

// azureDefinition returns the definition of a role by its name. The result does not exist when
// the definition could not be read.
func azureDefinition(in resource.FunctionInput, name string) gjson.Result {
	if known, ok := azure.BuiltIn(name); ok {
		return known
	}
	all, err := in.Caller.Once("role definitions", func() (any, error) {
		definitions := map[string]gjson.Result{}
		err := in.Caller.Each(in.Ctx, azureRoleDefinition, func(d *resource.Item) error {
			definitions[strings.ToLower(path.Base(d.Get("id").String()))] = d.Get("properties")
			return nil
		})
		return definitions, err
	})
	if err != nil {
		return gjson.Result{}
	}
	return all.(map[string]gjson.Result)[name]
}

// azurePrincipalRoles adds the roles of a principal.
var azurePrincipalRoles = resource.Function{
	Properties: []resource.Property{
		{Name: "subscriptionRoles", Kind: resource.Texts, Doc: "Ids of the role definitions that it is assigned, or eligible for, at the scope of the subscription or above."},
		{Name: "isSubscriptionAdmin", Kind: resource.Flag, Doc: "It may write resources of every kind in the whole subscription, or give roles away there, by roles that it is assigned or eligible for.", Powerful: true},
	},
	Edges: []resource.Edge{
		{Label: "ASSIGNED", To: resource.EntityTypes{azureRoleDefinition}, Doc: "The roles that it is assigned or eligible for, with scope and onSubscription."},
		{Label: "IS", To: resource.EntityTypes{azureUser, azureGroup, azureServicePrinc}, Doc: "The directory object that it is."},
		{Label: "HAS_MEMBER", To: resource.EntityTypes{azureUser, azureServicePrinc}, Doc: "If it is a group: the users and service principals in it, directly or through other groups."},
	},
	Permissions: []string{azureGroupMembers.Permission, azureEligible.Permission},
	Reads:       []posture.EntityType{azureRoleDefinition},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var roles []string
		var assigned []azure.Assignment
		for _, a := range in.Value.Get("assignments").Array() {
			role, scope := azureRoleOf(a), a.Get("properties.scope").String()
			wide := azure.Wide(scope)
			if wide {
				roles = append(roles, role)
				assigned = append(assigned, azure.Assignment{Scope: scope, Condition: a.Get("properties.condition").String(), Definition: azureDefinition(in, role)})
			}
			b.Edge("ASSIGNED", azureRoleDefinition.ID(in.Account, posture.Global, role), posture.Text("scope", scope), posture.Flag("onSubscription", wide))
		}
		slices.SortStableFunc(b.Edges, compareEdges)
		b.Set("subscriptionRoles", roles)
		putAnswer(b, "isSubscriptionAdmin", azure.Privileged(assigned, in.Value.Get("unread").String()))
		t, ok := azureDirectoryTypes[strings.ToLower(in.Value.Get("principalType").String())]
		if ok {
			b.Edge("IS", t.ID(in.Account, posture.Global, in.Value.Get("principalId").String()))
		}
		if t == azureGroup {
			return azureAddMembers(in, b)
		}
		return nil
	},
}

// azureMemberTypes maps the Graph types of group members to directory types. A member without a
// type counts as a user.
var azureMemberTypes = map[string]posture.EntityType{"": azureUser, "#microsoft.graph.user": azureUser, "#microsoft.graph.serviceprincipal": azureServicePrinc}

// azureAddMembers adds edges to the members of a group.
func azureAddMembers(in resource.FunctionInput, b *resource.Builder) error {
	members, err := azureMembersOf(in, in.Value.Get("principalId").String())
	switch {
	case collect.IsFatal(err):
		return err
	case err != nil:
		b.Properties = append(b.Properties, posture.Unknown("HAS_MEMBER", err.Error()))
		return nil
	}
	for _, m := range members {
		if t, ok := azureMemberTypes[strings.ToLower(m.Get("@odata\\.type").String())]; ok {
			b.Edge("HAS_MEMBER", t.ID(in.Account, posture.Global, strings.ToLower(m.Get("id").String())))
		}
	}
	return nil
}
