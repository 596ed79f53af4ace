package azure

import (
	"strings"

	"vigil/internal/sim/world"
)

const (
	workspaces = "Microsoft.OperationalInsights/workspaces"
	alerts     = "Microsoft.Insights/activityLogAlerts"
	settings   = "Microsoft.Insights/diagnosticSettings"
	actions    = "Microsoft.Insights/actionGroups"
	pricings   = "Microsoft.Security/pricings"
	contacts   = "Microsoft.Security/securityContacts"
)

// defenderRules maps the plans of Defender to their rules.
var defenderRules = map[string]string{
	"VirtualMachines": "azure-defender-servers", "StorageAccounts": "azure-defender-storage", "SqlServers": "azure-defender-sql", "KeyVaults": "azure-defender-keyvault",
}

var monitoringKinds = []*kind{
	{
		typ: "Azure.OperationalInsights.Workspace", arm: workspaces, prefix: "log-", count: one,
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("customerId", a.seed("customer").UUID(0), "retentionInDays", 90, "sku", world.Obj("name", "PerGB2018")))
		},
	},
	{
		typ: "Azure.Monitor.ActivityLogAlert", arm: alerts, prefix: "alert-",
		count: func(address) int { return 2 },
		body: func(a address) world.Object {
			operation, enabled := "Microsoft.Network/networkSecurityGroups/write", true
			if a.i == 1 {
				operation = "Microsoft.Security/policies/write"
			} else if a.violates("azure-monitor-nsg-alert") {
				enabled = false
			}
			condition := func(field, equals string) world.Object { return world.Obj("field", field, "equals", equals) }
			return world.Obj("location", "Global", "properties", world.Obj("enabled", enabled, "scopes", world.Items("/subscriptions/"+a.sub.ID),
				"condition", world.Obj("allOf", world.Items(condition("category", "Administrative"), condition("operationName", operation))),
				"actions", world.Obj("actionGroups", world.Items(world.Obj("actionGroupId", a.ref(actions, 0))))))
		},
	},
	{
		typ: "Azure.Monitor.DiagnosticSetting", arm: settings, where: inSubscription,
		names: func(address) []string { return []string{"export"} },
		body: func(a address) world.Object {
			categories := []string{"Administrative", "Security", "Alert", "Policy"}
			if a.violates("azure-monitor-activity-log") {
				categories = categories[:1]
			}
			// In responses of Monitor, the id has no leading slash and another namespace than in requests.
			return world.Obj("id", "subscriptions/"+a.sub.ID+"/providers/AzureResourceManager/diagnosticSettings/"+a.name(), "properties", world.Obj("storageAccountId", a.ref(storage, 0), "workspaceId", a.ref(workspaces, 0),
				"logs", world.Each(len(categories), func(i int) world.Object { return world.Obj("category", categories[i], "enabled", true) })))
		},
	},
	{
		typ: "Azure.Monitor.ActionGroup", arm: actions, prefix: "ag-", count: one,
		body: func(a address) world.Object {
			return world.Obj("location", "Global", "properties", world.Obj("enabled", true, "groupShortName", "ops", "emailReceivers", world.Items(world.Obj("name", "ops", "emailAddress", "ops@example.com")), "webhookReceivers", []any{}))
		},
	},
	{
		typ: "Azure.Security.Pricing", arm: pricings, where: inSubscription,
		names: func(address) []string {
			return []string{"VirtualMachines", "StorageAccounts", "SqlServers", "KeyVaults", "AppServices", "Containers", "Arm"}
		},
		body: func(a address) world.Object {
			return world.Obj("properties", world.Obj("pricingTier", choose(a, defenderRules[a.name()], "Free", "Standard")))
		},
	},
	{
		typ: "Azure.Security.SecurityContact", arm: contacts, where: inSubscription,
		names: func(a address) []string {
			if a.violates("azure-security-contact") {
				return nil
			}
			return []string{"default"}
		},
		body: func(a address) world.Object {
			// Responses of Defender spell the type securityContact; requests spell it securityContacts.
			return world.Obj("id", strings.Replace(a.id(), "/securityContacts/", "/securityContact/", 1), "type", "Microsoft.Security/securityContact", "properties", world.Obj("emails", "security@example.com;soc@example.com", "isEnabled", true, "notificationsByRole", world.Obj("state", "On", "roles", world.Items("Owner"))))
		},
	},
}
