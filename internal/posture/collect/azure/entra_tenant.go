package azure

import (
	"context"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

var policyEvents = []string{
	"Update security defaults", "Update policy", "Update authorization policy",
	"Add conditional access policy", "Update conditional access policy", "Delete conditional access policy",
}

// tenant is the directory itself. It is always there; what cannot be read of it
// is unknown.
var tenant = collector{
	Declaration: collect.Declaration{
		Type: tenantType, Scope: collect.PerAccount, Service: graphService, Doc: "The directory that the subscription trusts.",
		Permissions: []string{readDirectory, readPolicies},
		Properties: []collect.Property{
			{Name: "displayName", Kind: posture.StringProperty, Doc: "What people call it."},
			{Name: "domains", Kind: posture.StringProperty, List: true, Doc: "Its verified domains."},
			{Name: "securityDefaultsEnabled", Kind: posture.BoolProperty, Doc: "Microsoft's security defaults are on."},
			{Name: "allowedToCreateApps", Kind: posture.BoolProperty, Doc: "Every user may register applications."},
			{Name: "allowedToCreateTenants", Kind: posture.BoolProperty, Doc: "Every user may make directories."},
			{Name: "allowInvitesFrom", Kind: posture.StringProperty, Doc: "Who may invite guests."},
			{Name: "conditionalAccessPolicies", Kind: posture.StringProperty, List: true, Doc: "Names of the conditional access policies that are on."},
			{Name: "mfaForAllUsers", Kind: posture.BoolProperty, Doc: "Some conditional access policy demands a second factor of all users."},
		},
		Events: []collect.Event{{Source: entraAudit, Names: policyEvents}},
	},
	List: readTenant,
	Get: func(ctx context.Context, s *session, _ string, emit collect.Emit) error {
		return readTenant(ctx, s, emit)
	},
}

func readTenant(ctx context.Context, s *session, emit collect.Emit) error {
	r := collect.NewResource(tenantType, s.account, posture.Global, s.tenant)
	r.XID = s.tenant
	for _, read := range []struct {
		path, permission string
		rows             []row
	}{
		{"/organization", readDirectory, []row{
			text("displayName", "value.0.displayName", ""),
			texts("domains", "value.0.verifiedDomains.#.name", ""),
		}},
		{"/policies/identitySecurityDefaultsEnforcementPolicy", readPolicies, []row{
			flag("securityDefaultsEnabled", "isEnabled", "").or(false),
		}},
		{"/policies/authorizationPolicy", readPolicies, []row{
			flag("allowedToCreateApps", "defaultUserRolePermissions.allowedToCreateApps", "").or(true),
			flag("allowedToCreateTenants", "defaultUserRolePermissions.allowedToCreateTenants", "").or(true),
			text("allowInvitesFrom", "allowInvitesFrom", ""),
		}},
		{"/identity/conditionalAccess/policies", readPolicies, []row{
			list("conditionalAccessPolicies", "", func(j gjson.Result) []string { return flat(j.Get(`value.#(state=="enabled")#.displayName`)) }),
			yes("mfaForAllUsers", "", func(j gjson.Result) bool { return slices.ContainsFunc(j.Get("value").Array(), enforcesMFA) }),
		}},
	} {
		names := make([]string, len(read.rows))
		for i, row := range read.rows {
			names[i] = row.Name
		}
		err := collect.Detail(r, func() error {
			j, err := s.get(ctx, s.graph+read.path, read.permission)
			if err == nil {
				for _, row := range read.rows {
					row.put(r, j)
				}
			}
			return err
		}, names...)
		if err != nil {
			return err
		}
	}
	for _, p := range r.Properties {
		if p.Name == "displayName" && p.Type == posture.StringProperty {
			r.Name = p.String
		}
	}
	return emit(r)
}

// enforcesMFA reports whether a conditional access policy demands a second factor
// of everybody, whatever they log in to.
func enforcesMFA(policy gjson.Result) bool {
	has := func(path, value string) bool {
		return slices.ContainsFunc(flat(policy.Get(path)), func(v string) bool { return strings.EqualFold(v, value) })
	}
	return policy.Get("state").String() == "enabled" &&
		has("conditions.users.includeUsers", "All") && has("conditions.applications.includeApplications", "All") &&
		(has("grantControls.builtInControls", "mfa") || policy.Get("grantControls.authenticationStrength.id").String() != "")
}
