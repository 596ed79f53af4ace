package azure

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// memberEdge is added from the lists of members of directory roles, which are
// few and short.
var memberEdge = collect.Edge{Label: "MEMBER_OF", To: []entityType{directoryRoleType}, Doc: "Directory roles that it has."}

var roleEvents = []string{"Add member to role", "Remove member from role"}

var objects = []*object{
	{
		typ: userType, doc: "A user of the directory.", path: "/users",
		fields: "id,displayName,userPrincipalName,accountEnabled,userType,createdDateTime,onPremisesSyncEnabled", permission: readDirectory, takes: []string{readReports},
		rows: []row{
			text("displayName", "displayName", "What people call them."),
			text("userPrincipalName", "userPrincipalName", "What they log in with."),
			flag("accountEnabled", "accountEnabled", "They can log in.").or(true),
			text("userType", "userType", "Member or Guest."),
			flag("onPremisesSyncEnabled", "onPremisesSyncEnabled", "They come from a directory of the customer's own.").or(false),
			text("createdDateTime", "createdDateTime", "When they were added."),
		},
		moreRows: []collect.Property{
			{Name: "isMfaRegistered", Kind: posture.BoolProperty, Doc: "They have registered a second factor."},
			{Name: "isPrivileged", Kind: posture.BoolProperty, Doc: "They have a directory role."},
		},
		moreLinks: []collect.Edge{memberEdge},
		prepare:   prepareUsers,
		events:    append([]string{"Add user", "Update user", "Delete user", "User registered security info", "User deleted security info"}, roleEvents...),
	},
	{
		typ: groupType, doc: "A group of the directory.", path: "/groups",
		fields: "id,displayName,securityEnabled,mailEnabled,isAssignableToRole,visibility", permission: readDirectory,
		rows: []row{
			text("displayName", "displayName", "What people call it."),
			flag("securityEnabled", "securityEnabled", "It can be given access.").or(false),
			flag("isAssignableToRole", "isAssignableToRole", "It can have directory roles.").or(false),
			text("visibility", "visibility", "Who sees and joins it: Public or Private."),
		},
		moreLinks: []collect.Edge{memberEdge},
		prepare:   prepareMembers,
		events:    append([]string{"Add group", "Update group", "Delete group"}, roleEvents...),
	},
	{
		typ: servicePrincipalType, doc: "An application or managed identity as the directory knows it.", path: "/servicePrincipals",
		fields: "id,appId,displayName,accountEnabled,servicePrincipalType,appOwnerOrganizationId", permission: readDirectory,
		rows: []row{
			text("displayName", "displayName", "What people call it."),
			text("appId", "appId", "The application."),
			flag("accountEnabled", "accountEnabled", "It can log in.").or(true),
			text("servicePrincipalType", "servicePrincipalType", "Application, ManagedIdentity or Legacy."),
			text("appOwnerOrganizationId", "appOwnerOrganizationId", "The directory that the application belongs to."),
		},
		moreLinks: []collect.Edge{memberEdge},
		prepare:   prepareMembers,
		events:    append([]string{"Add service principal", "Update service principal", "Remove service principal"}, roleEvents...),
	},
	{
		typ: applicationType, doc: "An application that is registered in the directory.", path: "/applications",
		fields: "id,appId,displayName,signInAudience,createdDateTime,passwordCredentials,keyCredentials", permission: readDirectory,
		rows: []row{
			text("displayName", "displayName", "What people call it."),
			text("appId", "appId", "Its id."),
			text("signInAudience", "signInAudience", "Who may log in to it."),
			some("hasSecrets", "passwordCredentials", "It logs in with secrets."),
			some("hasCertificates", "keyCredentials", "It logs in with certificates."),
			texts("secretExpirations", "passwordCredentials.#.endDateTime", "When its secrets expire."),
			text("createdDateTime", "createdDateTime", "When it was added."),
		},
		events: []string{"Add application", "Update application", "Delete application"},
	},
	{
		typ: directoryRoleType, doc: "A role of the directory that somebody has or had.", path: "/directoryRoles", permission: readDirectory,
		rows: []row{
			text("displayName", "displayName", "What people call it."),
			text("roleTemplateId", "roleTemplateId", "Which role it is, in every directory."),
			yes("isPrivileged", "Its holders can give themselves any access.", func(j gjson.Result) bool { return privilegedRoles[strings.ToLower(j.Get("roleTemplateId").String())] }),
		},
		events: roleEvents,
	},
	{
		typ: conditionalAccessType, doc: "A policy about who may log in how.", path: "/identity/conditionalAccess/policies", permission: readPolicies,
		rows: []row{
			text("displayName", "displayName", "What people call it."),
			text("state", "state", "Whether it holds: enabled, disabled, or enabledForReportingButNotEnforced."),
			texts("includeUsers", "conditions.users.includeUsers", "For whom it holds."),
			texts("excludeUsers", "conditions.users.excludeUsers", "For whom it does not."),
			texts("grantControls", "grantControls.builtInControls", "What it demands."),
			yes("enforcesMfaForAll", "It is on and demands a second factor of all users for all applications.", enforcesMFA),
		},
		events: policyEvents,
	},
}

// privilegedRoles are the templates of roles whose holders can take over the
// directory.
var privilegedRoles = map[string]bool{
	"62e90394-69f5-4237-9190-012177145e10": true, // Global Administrator
	"e8611ab8-c189-46e8-94e1-60213ab1f814": true, // Privileged Role Administrator
	"7be44c8a-adaf-4e2a-84d6-ab2649e08a13": true, // Privileged Authentication Administrator
	"194ae4cb-b126-40b2-bd5b-6091b380977d": true, // Security Administrator
	"b1be1c3e-b65d-4f19-8427-f6fa0d97feb9": true, // Conditional Access Administrator
	"9b895d92-2cd3-44c7-9d02-a6ac2d5ea5c3": true, // Application Administrator
	"158c047a-c907-4556-b7ef-446551a6b5f7": true, // Cloud Application Administrator
	"fe930be7-5e62-47db-91af-98c3a49a38b1": true, // User Administrator
	"29232cdf-9323-42fd-ade2-1d097af3e4de": true, // Exchange Administrator
	"f28a1f50-f6e7-4571-818b-6a12f2af6b6c": true, // SharePoint Administrator
	"c4e39bd9-1100-46d3-8c65-fb160da0071f": true, // Authentication Administrator
	"8ac3fc64-6eca-42ea-9e69-59f4c7b60eb2": true, // Hybrid Identity Administrator
	"b0f54661-2d74-4c50-afa3-1ec803f12efe": true, // Billing Administrator
	"729827e3-9c14-49f7-bb1b-9608f156bbb8": true, // Helpdesk Administrator
}

// members returns the directory roles of everybody who has one. What is known of
// a role is small, and so is the number of its holders.
func (s *session) members(ctx context.Context) (map[string][]posture.EntityID, error) {
	roles := map[string][]posture.EntityID{}
	err := s.pages(ctx, s.graph+"/directoryRoles", readDirectory, true, func(page gjson.Result) error {
		for _, role := range page.Get("value").Array() {
			id := role.Get("id").String()
			err := s.pages(ctx, s.graph+"/directoryRoles/"+id+"/members?$select=id", readDirectory, true, func(page gjson.Result) error {
				for _, m := range page.Get("value.#.id").Array() {
					member := strings.ToLower(m.String())
					roles[member] = append(roles[member], s.global(directoryRoleType, id))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return roles, err
}

func prepareMembers(ctx context.Context, s *session) (func(gjson.Result, *resource), error) {
	roles, err := s.members(ctx)
	return func(j gjson.Result, r *resource) {
		for _, role := range roles[strings.ToLower(j.Get("id").String())] {
			r.Edge(memberEdge.Label, role)
		}
	}, err
}

// prepareUsers also reads who has a second factor, from the report that has all
// users: asking for each takes hours.
func prepareUsers(ctx context.Context, s *session) (func(gjson.Result, *resource), error) {
	roles, err := s.members(ctx)
	if err != nil {
		return nil, err
	}
	registered := map[string]bool{}
	reportErr := s.pages(ctx, s.graph+"/reports/authenticationMethods/userRegistrationDetails", readReports, false, func(page gjson.Result) error {
		for _, j := range page.Get("value").Array() {
			registered[strings.ToLower(j.Get("id").String())] = j.Get("isMfaRegistered").Bool()
		}
		return nil
	})
	if collect.Over(reportErr) {
		return nil, reportErr
	}
	return func(j gjson.Result, r *resource) {
		id := strings.ToLower(j.Get("id").String())
		for _, role := range roles[id] {
			r.Edge(memberEdge.Label, role)
		}
		r.Flag("isPrivileged", len(roles[id]) > 0)
		switch has, ok := registered[id]; {
		case reportErr != nil:
			r.Unread(reportErr, "isMfaRegistered")
		case ok:
			r.Flag("isMfaRegistered", has)
		case !j.Get("accountEnabled").Exists() || j.Get("accountEnabled").Bool():
			// The report is some hours behind. Users who cannot log in are not in it.
			r.Properties = append(r.Properties, posture.Unknown("isMfaRegistered", "the report on second factors does not have this user yet"))
		}
	}, nil
}
