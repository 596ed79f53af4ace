package azure

import (
	"strings"

	"github.com/tidwall/gjson"
)

const (
	pricingType          = "Azure.Security.Pricing"
	securityContactType  = "Azure.Security.SecurityContact"
	policyAssignmentType = "Azure.Authorization.PolicyAssignment"
)

var securityKinds = []*kind{
	{
		typ: pricingType, doc: "Whether a plan of Microsoft Defender for Cloud is on.",
		arm: "Microsoft.Security/pricings", version: "2024-01-01",
		rows: []row{
			text("name", "name", "The plan: VirtualMachines, StorageAccounts, SqlServers, KeyVaults."),
			text("pricingTier", "properties.pricingTier", "Standard when it is on, else Free.").or("Free"),
			text("subPlan", "properties.subPlan", "Its edition."),
		},
	},
	{
		typ: policyAssignmentType, doc: "An Azure Policy that holds for the subscription or a part of it.",
		arm: "Microsoft.Authorization/policyAssignments", version: "2023-04-01",
		rows: []row{
			text("displayName", "properties.displayName", "What people call it."),
			text("enforcementMode", "properties.enforcementMode", "Default when it is enforced, DoNotEnforce when it only reports.").or("Default"),
			text("policyDefinitionId", "properties.policyDefinitionId", "The policy or initiative."),
			text("scope", "properties.scope", "For what it holds."),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{identityLink},
	},
	{
		typ: securityContactType, doc: "Who is told about security alerts. Where there is none, one named default stands for that.",
		arm: "Microsoft.Security/securityContacts", version: "2023-12-01-preview", none: "default", odd: "Microsoft.Security/securityContact",
		rows: []row{
			list("emails", "Their addresses; absent when nobody is told.", func(j gjson.Result) []string {
				return strings.FieldsFunc(j.Get("properties.[emails,email]|0").String(), func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
			}),
			yes("hasPhone", "A phone number is given.", func(j gjson.Result) bool { return j.Get("properties.phone").String() != "" }),
			texts("notifiedRoles", "properties.notificationsByRole.roles", "Roles whose holders are told."),
		},
	},
}
