package azure

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	workspaceType         = "Azure.OperationalInsights.Workspace"
	activityLogAlertType  = "Azure.Monitor.ActivityLogAlert"
	diagnosticSettingType = "Azure.Monitor.DiagnosticSetting"
	actionGroupType       = "Azure.Monitor.ActionGroup"
)

const diagnosticsVersion = "2021-05-01-preview"

var monitorKinds = []*kind{
	{
		typ: workspaceType, doc: "A workspace that logs are kept and searched in.",
		arm: "Microsoft.OperationalInsights/workspaces", version: "2022-10-01",
		rows: []row{
			text("customerId", "properties.customerId", "Its id for agents."),
			number("retentionInDays", "properties.retentionInDays", "How many days logs are kept."),
			text("sku", "properties.sku.name", "Its price plan."),
			text("publicNetworkAccessForIngestion", "properties.publicNetworkAccessForIngestion", "Whether logs are taken over the internet.").or("Enabled"),
			text("publicNetworkAccessForQuery", "properties.publicNetworkAccessForQuery", "Whether logs are searched over the internet.").or("Enabled"),
		},
	},
	{
		typ: activityLogAlertType, doc: "An alert on operations in the activity log.",
		arm: "Microsoft.Insights/activityLogAlerts", version: "2020-10-01",
		rows: []row{
			flag("enabled", "properties.enabled", "It is on.").or(true),
			list("conditions", "What must hold for it to be raised, as: field = value.", func(j gjson.Result) []string {
				var all []string
				for _, c := range conditions(j) {
					all = append(all, c.Get("field").String()+" = "+c.Get("equals").String())
				}
				return all
			}),
			texts("scopes", "properties.scopes", "Whose operations it watches."),
		},
		links: []link{refs("NOTIFIES", "properties.actions.actionGroups.#.actionGroupId", "Who is told.", actionGroupType)},
	},
	{
		typ: diagnosticSettingType, doc: "Where a subscription's activity log is exported to.",
		arm: "Microsoft.Insights/diagnosticSettings", version: diagnosticsVersion, odd: "AzureResourceManager/diagnosticSettings",
		rows:  []row{list("logs", "Categories that it exports.", func(j gjson.Result) []string { return enabledLogs(j) })},
		links: []link{refs("LOGS_TO", "properties."+logTargets, "Where it exports to.", storageAccountType, workspaceType, eventHubType)},
	},
	{
		typ: actionGroupType, doc: "People and programs that alerts tell.",
		arm: "Microsoft.Insights/actionGroups", version: "2023-01-01",
		rows: []row{
			flag("enabled", "properties.enabled", "It is on.").or(true),
			text("groupShortName", "properties.groupShortName", "What it is called in messages."),
			some("hasEmailReceivers", "properties.emailReceivers", "It sends e-mail."),
			some("hasWebhookReceivers", "properties.webhookReceivers", "It calls web hooks."),
		},
	},
}

// conditions returns what an alert compares, whether all or any of it must hold.
func conditions(alert gjson.Result) []gjson.Result {
	var all []gjson.Result
	for _, c := range alert.Get("properties.condition.allOf").Array() {
		all = append(all, c.Get("anyOf").Array()...)
		if c.Get("field").String() != "" {
			all = append(all, c)
		}
	}
	return all
}

// alertedOperations returns the operations that enabled alerts of a list watch.
func alertedOperations(j gjson.Result) []string {
	var all []string
	for _, alert := range j.Get("value").Array() {
		if on := alert.Get("properties.enabled"); on.Exists() && !on.Bool() {
			continue
		}
		for _, c := range conditions(alert) {
			if strings.EqualFold(c.Get("field").String(), "operationName") {
				all = append(all, c.Get("equals").String())
			}
		}
	}
	return all
}

// logTargets is where a diagnostic setting exports to, within its properties.
const logTargets = "[storageAccountId,workspaceId,eventHubAuthorizationRuleId]"

// activityLog are the categories of a subscription's log.
var activityLog = []string{"Administrative", "Alert", "Autoscale", "Policy", "Recommendation", "ResourceHealth", "Security", "ServiceHealth"}

// exported is the detail that says what diagnostic settings export. A setting
// that exports everything exports all of the given categories.
func exported(path, doc string, all ...string) detail {
	return detail{
		path: path, version: diagnosticsVersion, permission: "Microsoft.Insights/diagnosticSettings/read",
		rows: []row{list("logs", doc, func(j gjson.Result) []string {
			logs := enabledLogs(j.Get("value").Array()...)
			if slices.Contains(logs, "allLogs") {
				logs = append(logs, all...)
			}
			return logs
		})},
		links: []link{
			refs("LOGS_TO", "value.#.properties."+logTargets, "Where logs are exported to.", storageAccountType, workspaceType, eventHubType),
		},
	}
}

// enabledLogs returns the categories, or groups of them, that settings export.
func enabledLogs(settings ...gjson.Result) []string {
	var all []string
	for _, s := range settings {
		for _, log := range s.Get("properties.logs").Array() {
			if log.Get("enabled").Bool() {
				all = append(all, strings.TrimSpace(log.Get("category").String()+log.Get("categoryGroup").String()))
			}
		}
	}
	return all
}
