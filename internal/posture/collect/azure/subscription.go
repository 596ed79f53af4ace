package azure

import (
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
)

const (
	subscriptionType  = "Azure.Subscription.Subscription"
	locationType      = "Azure.Subscription.Location"
	resourceGroupType = "Azure.Resources.ResourceGroup"
	lockType          = "Azure.Resources.Lock"
)

const (
	subscriptionVersion  = "2022-12-01"
	resourceGroupVersion = "2021-04-01"
)

var subscriptionKinds = []*kind{
	{
		typ: subscriptionType, doc: "An Azure subscription.",
		arm: "Microsoft.Resources/subscriptions", version: subscriptionVersion,
		rows: []row{
			text("displayName", "displayName", "What people call it."),
			text("state", "state", "Whether it can be used: Enabled, Warned, PastDue, Disabled."),
			text("tenantId", "tenantId", "The directory that it trusts."),
			text("quotaId", "subscriptionPolicies.quotaId", "The kind of contract."),
		},
		details: []detail{
			exported("/providers/Microsoft.Insights/diagnosticSettings", "Categories of the activity log that some diagnostic setting exports.", activityLog...),
			{
				path: "/providers/Microsoft.Insights/activityLogAlerts", version: "2020-10-01", permission: "Microsoft.Insights/activityLogAlerts/read",
				rows: []row{
					list("alertedOperations", "Operations for which an enabled activity log alert watches.", alertedOperations),
				},
				links: []link{refs("HAS", "value.#.id", "Its activity log alerts.", activityLogAlertType)},
			},
		},
		events: []collect.Event{
			{Source: "Microsoft.Insights/diagnosticSettings", Names: []string{"write", "delete"}},
			{Source: "Microsoft.Insights/activityLogAlerts", Names: []string{"write", "delete"}},
		},
	},
	{
		typ: resourceGroupType, doc: "A group of resources that are looked after together.",
		arm: "Microsoft.Resources/subscriptions/resourceGroups", version: resourceGroupVersion, path: "/resourcegroups",
		rows: []row{
			text("provisioningState", "properties.provisioningState", "Whether the last change succeeded."),
			text("managedBy", "managedBy", "The resource that looks after the group, if any."),
		},
	},
	{
		typ: lockType, doc: "A lock that keeps resources from being changed or deleted.",
		arm: "Microsoft.Authorization/locks", version: "2020-05-01",
		rows: []row{
			text("level", "properties.level", "CanNotDelete or ReadOnly."),
			text("notes", "properties.notes", "Why it is locked."),
		},
		links: []link{
			found("LOCKS", "What it locks.", func(j gjson.Result) []string {
				scope, _, _ := cutLast(j.Get("id").String(), "/providers/")
				return []string{scope}
			}, storageAccountType, vaultType, virtualMachineType, virtualNetworkType, resourceGroupType, subscriptionType),
		},
	},
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
