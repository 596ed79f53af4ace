package azure

import (
	"strings"

	"vigil/internal/sim/world"
)

const (
	recoveryVaults = "Microsoft.RecoveryServices/vaults"
	backupPolicies = recoveryVaults + "/backupPolicies"
)

// platformKinds are services of which a subscription has only a few resources. A field
// whose name begins with an underscore is the result of a call for that sub-path of the
// resource; see detail.
var platformKinds = []*kind{
	{
		typ: "Azure.Search.Service", arm: "Microsoft.Search/searchServices", prefix: "searchx", count: one,
		body: func(a address) world.Object {
			return a.resource("sku", world.Obj("name", "standard"), "identity", a.identity(), "properties", world.Obj("publicNetworkAccess", "disabled", "disableLocalAuth", true,
				"networkRuleSet", world.Obj("ipRules", []any{}), "encryptionWithCmk", world.Obj("enforcement", "Enabled")))
		},
	},
	{
		typ: "Azure.ApiManagement.Service", arm: "Microsoft.ApiManagement/service", prefix: "apimx", count: one,
		body: func(a address) world.Object {
			return a.resource("sku", world.Obj("name", "Developer", "capacity", 1), "properties", world.Obj("gatewayUrl", "https://"+a.name()+".azure-api.net", "publicNetworkAccess", "Enabled",
				"virtualNetworkType", "External", "virtualNetworkConfiguration", world.Obj("subnetResourceId", a.anySubnet().Text("id"))),
				diagnosticSettings, world.Obj("value", world.Items(a.diagnostic("GatewayLogs"))))
		},
	},
	{
		typ: "Azure.Monitor.ApplicationInsights", arm: "Microsoft.Insights/components", prefix: "appi-", count: one,
		body: func(a address) world.Object {
			return a.resource("kind", "web", "properties", world.Obj("Application_Type", "web", "RetentionInDays", 90, "WorkspaceResourceId", a.ref(workspaces, 0),
				"publicNetworkAccessForIngestion", "Enabled", "publicNetworkAccessForQuery", "Enabled"))
		},
	},
	{
		typ: "Azure.Databricks.Workspace", arm: "Microsoft.Databricks/workspaces", prefix: "dbw-", count: one,
		body: func(a address) world.Object {
			return a.resource("sku", world.Obj("name", "premium"), "properties", world.Obj("workspaceUrl", a.name()+".azuredatabricks.net", "publicNetworkAccess", "Disabled", "requiredNsgRules", "NoAzureDatabricksRules",
				"parameters", world.Obj("enableNoPublicIp", world.Obj("type", "Bool", "value", true)),
				"encryption", world.Obj("entities", world.Obj("managedDisk", world.Obj("keySource", "Microsoft.Keyvault",
					"keyVaultProperties", world.Obj("keyVaultUri", a.peer(vaults, 0).vaultURL()+"/", "keyName", "key-00000"))))))
		},
	},
	{
		typ: "Azure.RecoveryServices.Vault", arm: recoveryVaults, prefix: "rsv-", count: one,
		body: func(a address) world.Object {
			item := a.backupItem()
			itemPath := strings.TrimPrefix(item.Text("id"), a.id()+"/")
			return a.resource("sku", world.Obj("name", "RS0", "tier", "Standard"), "properties", world.Obj("publicNetworkAccess", "Enabled",
				"securitySettings", world.Obj("softDeleteSettings", world.Obj("softDeleteState", "Enabled"), "immutabilitySettings", world.Obj("state", "Unlocked")),
				"redundancySettings", world.Obj("standardTierStorageRedundancy", "GeoRedundant", "crossRegionRestore", "Enabled")),
				"_backupProtectedItems", world.Obj("value", world.Items(item)), "_"+itemPath, item)
		},
	},
	{
		typ: "Azure.RecoveryServices.BackupPolicy", arm: backupPolicies, prefix: "policy-", in: recoveryVaults, count: one,
		body: func(address) world.Object {
			return world.Obj("properties", world.Obj("backupManagementType", "AzureIaasVM", "policyType", "V2", "instantRpRetentionRangeInDays", 2, "protectedItemsCount", 1,
				"retentionPolicy", world.Obj("retentionPolicyType", "LongTermRetentionPolicy", "dailySchedule", world.Obj("retentionDuration", world.Obj("count", 30, "durationType", "Days")))))
		},
	},
	{
		typ: "Azure.Storage.FileService", arm: storage + "/fileServices", in: storage,
		names: func(address) []string { return []string{"default"} },
		body: func(address) world.Object {
			return world.Obj("properties", world.Obj("shareDeleteRetentionPolicy", world.Obj("enabled", true, "days", 7),
				"protocolSettings", world.Obj("smb", world.Obj("versions", "SMB3.1.1;", "channelEncryption", "AES-256-GCM;", "multichannel", world.Obj("enabled", false)))))
		},
	},
	{
		typ: "Azure.PostgreSQL.FirewallRule", arm: postgres + "/firewallRules", prefix: "rule-", in: postgres, count: one,
		body: func(address) world.Object {
			return world.Obj("properties", world.Obj("startIpAddress", "203.0.113.10", "endIpAddress", "203.0.113.20"))
		},
	},
	{
		typ: "Azure.MySQL.FirewallRule", arm: mysql + "/firewallRules", prefix: "rule-", in: mysql, count: one,
		body: func(address) world.Object {
			return world.Obj("properties", world.Obj("startIpAddress", "203.0.113.10", "endIpAddress", "203.0.113.20"))
		},
	},
	{
		typ: "Azure.Security.Setting", arm: "Microsoft.Security/settings", where: inSubscription,
		names: func(address) []string { return []string{"MCAS", "WDATP"} },
		body: func(address) world.Object {
			return world.Obj("kind", "DataExportSettings", "properties", world.Obj("enabled", true))
		},
	},
	{
		typ: "Azure.Security.AutoProvisioningSetting", arm: "Microsoft.Security/autoProvisioningSettings", where: inSubscription,
		names: func(address) []string { return []string{"default"} },
		body:  func(address) world.Object { return world.Obj("properties", world.Obj("autoProvision", "On")) },
	},
	{
		typ: "Azure.Security.Assessment", arm: "Microsoft.Security/assessments", prefix: "assessment-", where: inSubscription, count: one,
		body: func(a address) world.Object {
			return world.Obj("properties", world.Obj("displayName", "System updates should be installed on your machines", "status", world.Obj("code", "Healthy"),
				"resourceDetails", world.Obj("Source", "Azure", "Id", "/subscriptions/"+a.sub.ID)))
		},
	},
}

// backupItem returns the protected item of a Recovery Services vault: the first
// machine.
func (a address) backupItem() world.Object {
	machine := a.ref("Microsoft.Compute/virtualMachines", 0)
	return world.Obj("id", a.id()+"/backupFabrics/Azure/protectionContainers/iaasvm-0/protectedItems/vm-0", "name", "vm-0",
		"properties", world.Obj("workloadType", "VM", "backupManagementType", "AzureIaasVM", "protectionState", "Protected", "lastBackupStatus", "Completed",
			"lastRecoveryPoint", a.daysAgo(1), "sourceResourceId", machine, "policyId", a.id()+"/backupPolicies/policy-00000"))
}
