package derive

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

const azureDirectoryRole posture.EntityType = "Azure.Entra.DirectoryRole"

var azureMemberEdge = resource.Edge{Label: "MEMBER_OF", To: resource.EntityTypes{azureDirectoryRole}, Doc: "The directory roles that it is assigned."}

// azureRoleMembers is the call that lists who has a directory role. The roles and
// their members are few.
var azureRoleMembers = resource.Request{
	Call: "graph:/v1.0/directoryRoles/${id}/members", Permission: "Directory.Read.All", Input: resource.NewInput("$select", "id"),
}

// azureMemberOf adds the directory roles of a user, group or service principal.
var azureMemberOf = resource.Function{
	Edges: []resource.Edge{azureMemberEdge},
	Reads: []posture.EntityType{azureDirectoryRole},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		_, err := azureAddRoles(in, b)
		return err
	},
}

// azureUserRoles is azureMemberOf for users, of whom it says whether they have any.
var azureUserRoles = resource.Function{
	Properties: []resource.Property{{Name: "isPrivileged", Kind: resource.Flag, Doc: "The user is assigned a directory role."}},
	Edges:      []resource.Edge{azureMemberEdge},
	Reads:      []posture.EntityType{azureDirectoryRole},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		roles, err := azureAddRoles(in, b)
		if err == nil {
			b.Flag("isPrivileged", roles > 0)
		}
		return err
	},
}

// azureAddRoles adds edges to the directory roles of an object and returns how many
// it has.
func azureAddRoles(in resource.FunctionInput, b *resource.Builder) (int, error) {
	all, err := in.Caller.Once("directory roles", func() (any, error) {
		roles := map[string][]posture.EntityID{}
		items, err := in.Caller.Items(in.Ctx, azureDirectoryRole)
		if err != nil {
			return nil, err
		}
		for i := range items {
			pages, err := in.Caller.Call(in.Ctx, azureRoleMembers, &items[i])
			if err != nil {
				return nil, err
			}
			role := in.Cloud.Ref(in.Vars, azureMemberEdge.To, items[i].Get("id").String())
			for _, page := range pages {
				for _, member := range page.Get("value.#.id").Array() {
					id := strings.ToLower(member.String())
					roles[id] = append(roles[id], role)
				}
			}
		}
		return roles, nil
	})
	if err != nil {
		return 0, err
	}
	roles := all.(map[string][]posture.EntityID)[strings.ToLower(in.Value.Get("id").String())]
	for _, role := range roles {
		b.Edge(azureMemberEdge.Label, role)
	}
	return len(roles), nil
}

// azureRegistration is the report on the authentication methods of all users:
// asking for each takes hours.
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
			// The report is some hours behind. Users who cannot sign in are not in it.
			b.Properties = append(b.Properties, posture.Unknown("isMfaRegistered", "the report on second factors does not have this user yet"))
		}
		return nil
	},
}

// azureEnforcesMFA adds whether a conditional access policy demands multifactor
// authentication of everybody.
var azureEnforcesMFA = resource.Function{
	Properties: []resource.Property{{Name: "enforcesMfaForAll", Kind: resource.Flag, Doc: "It is enabled and requires multifactor authentication of all users for all cloud apps."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("enforcesMfaForAll", enforcesMFA(in.Value))
		return nil
	},
}

// azureMFAForAll adds the same for the list of all policies.
var azureMFAForAll = resource.Function{
	Properties: []resource.Property{{Name: "mfaForAllUsers", Kind: resource.Flag, Doc: "A conditional access policy requires multifactor authentication of all users for all cloud apps."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("mfaForAllUsers", slices.ContainsFunc(in.Value.Get("value").Array(), enforcesMFA))
		return nil
	},
}

// enforcesMFA reports whether a conditional access policy demands multifactor
// authentication of everybody, whatever they sign in to.
func enforcesMFA(policy gjson.Result) bool {
	has := func(path, value string) bool {
		return slices.ContainsFunc(texts(policy.Get(path)), func(v string) bool { return strings.EqualFold(v, value) })
	}
	return policy.Get("state").String() == "enabled" &&
		has("conditions.users.includeUsers", "All") && has("conditions.applications.includeApplications", "All") &&
		(has("grantControls.builtInControls", "mfa") || policy.Get("grantControls.authenticationStrength.id").String() != "")
}
