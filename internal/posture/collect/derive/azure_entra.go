package derive

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/predicate/azure"
	"vigil/internal/posture/resource"
)

const azureDirectoryRole posture.EntityType = "Azure.Entra.DirectoryRole"

var azureMemberEdge = resource.Edge{Label: "MEMBER_OF", To: resource.EntityTypes{azureDirectoryRole}, Doc: "The directory roles that it is assigned."}

// azureActiveRoles is the call that lists the directory roles that have been activated in the
// tenant. A role is activated when it is first assigned, but not when a principal becomes eligible.
var azureActiveRoles = resource.Request{Call: "graph:/v1.0/directoryRoles", Permission: "Directory.Read.All"}

// azureRoleMembers is the call that lists the members of a directory role.
var azureRoleMembers = resource.Request{
	Call: "graph:/v1.0/directoryRoles/${id}/members", Permission: "Directory.Read.All", Input: resource.NewInput("$select", "id"),
}

// azureEligibleRoles is the call that lists the directory roles that principals are eligible to
// activate (Privileged Identity Management).
var azureEligibleRoles = resource.Request{
	Call: "graph:/v1.0/roleManagement/directory/roleEligibilityScheduleInstances", Permission: "RoleEligibilitySchedule.Read.Directory",
	Input: resource.NewInput("$select", "principalId,roleDefinitionId", "$expand", "principal"),
}

// azureRoleTemplates is the call that lists the templates of all built-in directory roles.
var azureRoleTemplates = resource.Request{Call: "graph:/v1.0/directoryRoleTemplates", Permission: "Directory.Read.All"}

// azureTemplateNames returns the names of the built-in directory roles by the id of their template,
// in lower case, which is also the id of the role definition.
func azureTemplateNames(ctx context.Context, c resource.Caller) (map[string]string, error) {
	all, err := c.Once("directory role templates", func() (any, error) {
		pages, err := c.Call(ctx, azureRoleTemplates, nil)
		names := map[string]string{}
		for _, page := range pages {
			for _, t := range page.Get("value").Array() {
				names[strings.ToLower(t.Get("id").String())] = t.Get("displayName").String()
			}
		}
		return names, err
	})
	return all.(map[string]string), err
}

// azureDirectoryRoles lists the activated directory roles, and the built-in roles that somebody is
// eligible for but that have not been activated. Such a role has no id of its own yet: its id is
// that of its template.
func azureDirectoryRoles(ctx context.Context, c resource.Caller, _ []resource.Item) (all []resource.Item, err error) {
	pages, err := c.Call(ctx, azureActiveRoles, nil)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{} // by template
	for _, page := range pages {
		for _, role := range page.Get("value").Array() {
			listed[strings.ToLower(role.Get("roleTemplateId").String())] = true
			all = append(all, resource.Item{Result: role})
		}
	}
	// azureReadRoles makes the same calls. If one fails, the roles of the principals are unknown.
	pages, err = c.Call(ctx, azureEligibleRoles, nil)
	if err != nil && collect.IsFatal(err) {
		return nil, err
	}
	for _, page := range pages {
		for _, e := range page.Get("value").Array() {
			template := strings.ToLower(e.Get("roleDefinitionId").String())
			if listed[template] {
				continue
			}
			listed[template] = true
			names, err := azureTemplateNames(ctx, c)
			if err != nil && collect.IsFatal(err) {
				return nil, err
			}
			name, builtIn := names[template]
			if !builtIn && !azure.PrivilegedDirectoryRole(template) {
				continue // a custom role
			}
			all = append(all, azureInactiveRole(template, name))
		}
	}
	return all, nil
}

// azureInactiveRole returns the item of a directory role that has not been activated.
func azureInactiveRole(template, name string) resource.Item {
	id := string(gjson.AppendJSONString(nil, template))
	text := `{"id":` + id + `,"roleTemplateId":` + id + `,"notActivated":true`
	if name != "" {
		text += `,"displayName":` + string(gjson.AppendJSONString(nil, name))
	}
	return resource.Item{Result: gjson.Parse(text + "}")}
}

// azureMemberOf adds the directory roles of a user, group or service principal.
var azureMemberOf = resource.Function{
	Edges:       []resource.Edge{azureMemberEdge},
	Permissions: []string{azureGroupMembers.Permission, azureEligibleRoles.Permission},
	Reads:       []posture.EntityType{azureDirectoryRole},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		_, _, err := azureAddRoles(in, b)
		return err
	},
}

// azureUserRoles is azureMemberOf for users, with whether they have any role.
var azureUserRoles = resource.Function{
	Properties:  []resource.Property{{Name: "isPrivileged", Kind: resource.Flag, Doc: "The user is assigned a directory role or eligible for one, in person or through a group."}},
	Edges:       []resource.Edge{azureMemberEdge},
	Permissions: []string{azureGroupMembers.Permission, azureEligibleRoles.Permission},
	Reads:       []posture.EntityType{azureDirectoryRole},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		roles, unread, err := azureAddRoles(in, b)
		switch {
		case err != nil:
			return err
		case roles == 0 && unread != "":
			b.Properties = append(b.Properties, posture.Unknown("isPrivileged", unread))
		default:
			b.Flag("isPrivileged", roles > 0)
		}
		return nil
	},
}

// azurePrivilegedRole adds whether the members of a directory role can take over the
// directory.
var azurePrivilegedRole = resource.Function{
	Properties: []resource.Property{{Name: "isPrivileged", Kind: resource.Flag, Doc: "Its holders can take over the directory."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("isPrivileged", azure.PrivilegedDirectoryRole(in.Value.String()))
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("isPrivileged", false) },
}

// azureRoleHolders are the directory roles by the id of the object that has them.
type azureRoleHolders struct {
	roles      map[string][]posture.EntityID
	privileged map[posture.EntityID]bool
	unread     string // describes what could not be read
}

// azureAddRoles adds edges to the directory roles of an object: those it is assigned or
// eligible for, directly or through groups. It returns their number, and what could not be
// read.
func azureAddRoles(in resource.FunctionInput, b *resource.Builder) (int, string, error) {
	all, err := in.Caller.Once("directory roles", func() (any, error) { return azureReadRoles(in) })
	if err != nil {
		return 0, "", err
	}
	holders := all.(*azureRoleHolders)
	roles := holders.roles[strings.ToLower(in.Value.Get("id").String())]
	for _, role := range roles {
		b.Edge(azureMemberEdge.Label, role)
	}
	// An object with a privileged role is privileged whatever its other roles are.
	if holders.unread != "" && !slices.ContainsFunc(roles, func(role posture.EntityID) bool { return holders.privileged[role] }) {
		b.Properties = append(b.Properties, posture.Unknown(azureMemberEdge.Label, holders.unread))
	}
	return len(roles), holders.unread, nil
}

func azureReadRoles(in resource.FunctionInput) (*azureRoleHolders, error) {
	holders := &azureRoleHolders{roles: map[string][]posture.EntityID{}, privileged: map[posture.EntityID]bool{}}
	items, err := in.Caller.Items(in.Ctx, azureDirectoryRole)
	if err != nil {
		return nil, err
	}
	var fatal error
	noteUnread := func(what string, err error) {
		if collect.IsFatal(err) {
			fatal = err
		}
		if holders.unread == "" {
			holders.unread = what + " could not be read: " + err.Error()
		}
	}
	add := func(id string, role posture.EntityID) {
		id = strings.ToLower(id)
		if !slices.Contains(holders.roles[id], role) {
			holders.roles[id] = append(holders.roles[id], role)
		}
	}
	addWithMembers := func(id, kind string, role posture.EntityID) { // the role of a group is also that of its members
		add(id, role)
		if !strings.EqualFold(kind, "#microsoft.graph.group") {
			return
		}
		members, err := azureMembersOf(in, id)
		if err != nil {
			noteUnread("the members of group "+id, err)
		}
		for _, m := range members {
			add(m.Get("id").String(), role)
		}
	}
	templates := map[string]posture.EntityID{} // roles by the id of their template
	for i := range items {
		role := in.Cloud.Ref(in.Vars, azureMemberEdge.To, items[i].Get("id").String())
		template := items[i].Get("roleTemplateId").String()
		templates[strings.ToLower(template)] = role
		holders.privileged[role] = azure.PrivilegedDirectoryRole(template)
		if items[i].Get("notActivated").Bool() {
			continue // nobody is assigned the role
		}
		pages, err := in.Caller.Call(in.Ctx, azureRoleMembers, &items[i])
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			for _, member := range page.Get("value").Array() {
				addWithMembers(member.Get("id").String(), member.Get("@odata\\.type").String(), role)
			}
		}
	}
	pages, err := in.Caller.Call(in.Ctx, azureEligibleRoles, nil)
	if err != nil && !errors.Is(err, collect.ErrOff) && !errors.Is(err, collect.ErrGone) {
		noteUnread("the eligible role assignments", err)
	}
	for _, page := range pages {
		for _, e := range page.Get("value").Array() {
			template := strings.ToLower(e.Get("roleDefinitionId").String())
			if role, ok := templates[template]; ok {
				addWithMembers(e.Get("principalId").String(), e.Get("principal.@odata\\.type").String(), role)
				continue
			}
			switch names, err := azureTemplateNames(in.Ctx, in.Caller); {
			case err != nil: // it may be a built-in role
				noteUnread("the templates of directory roles", err)
			case names[template] != "": // azureDirectoryRoles could not read the eligible assignments
				noteUnread("the directory role "+names[template], collect.ErrGone)
			}
		}
	}
	return holders, fatal
}

// azureRegistration is the report on the authentication methods of all users. A call per user
// would take hours.
var azureRegistration = resource.Request{Call: "graph:/v1.0/reports/authenticationMethods/userRegistrationDetails", Permission: "AuditLog.Read.All"}

// azureMFARegistration adds whether a user has registered for multifactor
// authentication.
var azureMFARegistration = resource.Function{
	Properties:  []resource.Property{{Name: "isMfaRegistered", Kind: resource.Flag, Doc: "The user has registered a strong authentication method for multifactor authentication."}},
	Permissions: []string{azureRegistration.Permission},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		all, err := in.Caller.Once("registration details", func() (any, error) {
			registered := map[string]bool{}
			pages, err := in.Caller.Call(in.Ctx, azureRegistration, nil)
			for _, page := range pages {
				for _, user := range page.Get("value").Array() {
					registered[strings.ToLower(user.Get("id").String())] = user.Get("isMfaRegistered").Bool()
				}
			}
			return registered, err
		})
		if err != nil {
			return err
		}
		registered, known := all.(map[string]bool)[strings.ToLower(in.Value.Get("id").String())]
		switch enabled := in.Value.Get("accountEnabled"); {
		case known:
			b.Flag("isMfaRegistered", registered)
		case !enabled.Exists() || enabled.Bool():
			// The report is some hours old. It does not contain users who cannot sign in.
			b.Properties = append(b.Properties, posture.Unknown("isMfaRegistered", "the report on authentication methods does not contain this user yet"))
		}
		return nil
	},
}

// azureEnforcesMFA adds whether a conditional access policy requires multifactor authentication
// of all users, or of its users at every sign-in.
var azureEnforcesMFA = resource.Function{
	Properties: []resource.Property{
		{Name: "enforcesMfaForAll", Kind: resource.Flag, Doc: "It is enabled and requires multifactor authentication of all users for all cloud apps, emergency accounts aside."},
		{Name: "requiresMfa", Kind: resource.Flag, Doc: "It grants access only after multifactor authentication; no other control is accepted instead."},
		{Name: "everySignIn", Kind: resource.Flag, Doc: "It applies to every sign-in of its users to its applications, not only to risky ones or those from certain devices, platforms or places."},
	},
	Permissions: []string{azureGroupMembers.Permission},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		putAnswer(b, "enforcesMfaForAll", azure.EnforcesMFA(in.Value, azureCountMembers(in)))
		putAnswer(b, "requiresMfa", azure.RequiresMFA(in.Value))
		putAnswer(b, "everySignIn", azure.EverySignIn(in.Value))
		return nil
	},
}

// azureMFAForAll adds whether all policies together require multifactor authentication of all
// users.
var azureMFAForAll = resource.Function{
	Properties:  []resource.Property{{Name: "mfaForAllUsers", Kind: resource.Flag, Doc: "Conditional access policies require multifactor authentication of all users for all cloud apps, emergency accounts aside."}},
	Permissions: []string{azureGroupMembers.Permission},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		putAnswer(b, "mfaForAllUsers", azure.MFAForAll(in.Value.Get("value"), azureCountMembers(in)))
		return nil
	},
}

// azureGroupMembers is the call that lists the direct and transitive members of a group.
var azureGroupMembers = resource.Request{
	Call: "graph:/v1.0/groups/${id}/transitiveMembers", Permission: "Directory.Read.All", Input: resource.NewInput("$select", "id", "$top", "999"),
}

// azureMembersOf returns the direct and transitive members of a group. It makes one call per
// group.
func azureMembersOf(in resource.FunctionInput, group string) ([]gjson.Result, error) {
	all, err := in.Caller.Once("members of "+strings.ToLower(group), func() (any, error) {
		item := resource.Item{Result: gjson.Parse(`{"id":` + string(gjson.AppendJSONString(nil, group)) + `}`)}
		pages, err := in.Caller.Call(in.Ctx, azureGroupMembers, &item)
		var members []gjson.Result
		for _, page := range pages {
			members = append(members, page.Get("value").Array()...)
		}
		return members, err
	})
	if err != nil {
		return nil, err
	}
	return all.([]gjson.Result), nil
}

// azureCountMembers returns a function that counts the users in groups.
func azureCountMembers(in resource.FunctionInput) azure.Members {
	return func(group string) (int, bool) {
		members, err := azureMembersOf(in, group)
		people := 0
		for _, m := range members {
			if kind := m.Get("@odata\\.type").String(); kind == "" || strings.EqualFold(kind, "#microsoft.graph.user") {
				people++
			}
		}
		return people, err == nil
	}
}
