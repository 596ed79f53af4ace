package azure

import (
	"vigil/internal/sim/world"
)

const (
	storage      = "Microsoft.Storage/storageAccounts"
	blobServices = storage + "/blobServices"
	containers   = blobServices + "/containers"
	vaults       = "Microsoft.KeyVault/vaults"
	keys         = vaults + "/keys"
	secrets      = vaults + "/secrets"
)

var dataKinds = []*kind{
	{
		typ: "Azure.Storage.StorageAccount", arm: storage, prefix: "stx",
		count: func(a address) int { return max(4, a.permille(80)) },
		body:  storageBody,
	},
	{
		typ: "Azure.Storage.BlobService", arm: blobServices, in: storage,
		names: func(address) []string { return []string{"default"} },
		body: func(a address) world.Object {
			bad := a.violates("azure-storage-soft-delete")
			coin := a.seed("half").Intn(2) == 0 // chooses the form of the log setting and, if the resource violates the rule, which of the two policies is off
			return world.Obj("properties", world.Obj("isVersioningEnabled", true,
				"deleteRetentionPolicy", world.Obj("enabled", !bad || coin, "days", 14), "containerDeleteRetentionPolicy", world.Obj("enabled", !bad || !coin, "days", 14)),
				diagnosticSettings, world.Obj("value", world.Items(a.diagnosticOrAllLogs("StorageRead", coin))))
		},
	},
	{
		typ: "Azure.Storage.BlobContainer", arm: containers, prefix: "data-", in: blobServices,
		count: func(address) int { return 2 },
		body: func(a address) world.Object {
			access := "None"
			if a.i == 0 && a.enclosing().enclosing().allowsPublicBlobs() {
				access = world.PickOne(a.seed("access"), "Blob", "Container")
			}
			return world.Obj("properties", world.Obj("publicAccess", access, "leaseStatus", "Unlocked", "leaseState", "Available", "hasImmutabilityPolicy", false, "hasLegalHold", false, "lastModifiedTime", a.daysAgo(40)))
		},
	},
	{
		typ: "Azure.KeyVault.Vault", arm: vaults, prefix: "kvx",
		count: func(a address) int { return max(2, a.permille(20)) },
		body: func(a address) world.Object {
			p := world.Obj("tenantId", a.sub.Tenant, "sku", world.Obj("family", "A", "name", "standard"), "vaultUri", a.vaultURL()+"/", "enableSoftDelete", true, "softDeleteRetentionInDays", 90,
				"enableRbacAuthorization", a.i%2 == 0, "publicNetworkAccess", "Enabled", "accessPolicies", []any{})
			if !a.violates("azure-keyvault-recoverable") {
				p = p.With("enablePurgeProtection", true)
			}
			values := []any{}
			if !a.violates("azure-keyvault-logging") {
				values = world.Items(a.diagnosticOrAllLogs("AuditEvent", a.i%2 == 0))
			}
			return a.resource("properties", p, diagnosticSettings, world.Obj("value", values))
		},
	},
	{
		typ: "Azure.KeyVault.Key", arm: keys, prefix: "key-", in: vaults,
		count: func(address) int { return 2 },
		body: func(a address) world.Object {
			p := world.Obj("attributes", a.attributes("azure-keyvault-key-expiry"), "keyUri", a.enclosing().vaultURL()+":443/keys/"+a.name())
			if a.i%2 == 0 {
				p = p.With("rotationPolicy", world.Obj("lifetimeActions", world.Items(world.Obj("trigger", world.Obj("timeAfterCreate", "P90D"), "action", world.Obj("type", "rotate")))))
			}
			return world.Obj("location", a.enclosing().location(), "properties", p)
		},
	},
	{
		typ: "Azure.KeyVault.Secret", arm: secrets, prefix: "secret-", in: vaults,
		count: func(address) int { return 2 },
		body: func(a address) world.Object {
			return world.Obj("location", a.enclosing().location(), "properties", world.Obj("attributes", a.attributes("azure-keyvault-secret-expiry"), "contentType", "password", "secretUri", a.enclosing().vaultURL()+"/secrets/"+a.name()))
		},
	},
}

// vaultURL returns the URL of a vault.
func (a address) vaultURL() string {
	if a.sub.Government {
		return "https://" + a.name() + ".vault.usgovcloudapi.net"
	}
	return "https://" + a.name() + ".vault.azure.net"
}

// attributes returns the attributes of a key or secret.
func (a address) attributes(rule string) world.Object {
	o := world.Obj("enabled", true, "created", a.options.Today.AddDate(0, -6, 0).Unix(), "recoveryLevel", "Recoverable+Purgeable")
	if a.violates(rule) {
		return o
	}
	return o.With("exp", a.options.Today.AddDate(0, 6, 0).Unix())
}

// diagnosticSettings is the field with the answer of a call for the diagnostic settings of a
// resource. Its underscore is explained at detail.
const diagnosticSettings = "_providers/" + settings

// diagnostic returns a diagnostic setting with one category of logs.
func (a address) diagnostic(category string) world.Object {
	return a.diagnosticOf(world.Obj("category", category, "enabled", true))
}

// diagnosticOrAllLogs returns a diagnostic setting with one category of logs, or if all is
// set, with the group of all categories.
func (a address) diagnosticOrAllLogs(category string, all bool) world.Object {
	if all {
		return a.diagnosticOf(world.Obj("categoryGroup", "allLogs", "enabled", true))
	}
	return a.diagnostic(category)
}

// diagnosticOf returns a diagnostic setting with the given logs.
func (a address) diagnosticOf(log world.Object) world.Object {
	return world.Obj("id", a.id()+"/providers/"+settings+"/export", "name", "export",
		"properties", world.Obj("storageAccountId", a.ref(storage, 1), "workspaceId", a.ref(workspaces, 0), "logs", world.Items(log)))
}

// allowsPublicBlobs reports whether a storage account allows public blobs. The first
// account stores the activity log, about which there is a rule of its own.
func (a address) allowsPublicBlobs() bool {
	if a.i == 0 {
		return a.violates("azure-monitor-log-storage-public")
	}
	return a.violates("azure-storage-public-blob")
}

func storageBody(a address) world.Object {
	encryption := world.Obj("keySource", "Microsoft.Keyvault", "keyvaultproperties", world.Obj("keyname", "key-00001", "keyvaulturi", a.peer(vaults, a.i%a.countOf(vaults)).vaultURL()))
	if a.violates("azure-storage-cmk") {
		encryption = world.Obj("keySource", "Microsoft.Storage")
	}
	p := world.Obj("provisioningState", "Succeeded",
		"supportsHttpsTrafficOnly", !a.violates("azure-storage-https-only"), "allowBlobPublicAccess", a.allowsPublicBlobs(),
		"minimumTlsVersion", choose(a, "azure-storage-min-tls", "TLS1_0", "TLS1_2"),
		"networkAcls", world.Obj("bypass", "AzureServices", "defaultAction", choose(a, "azure-storage-default-deny", "Allow", "Deny"), "ipRules", []any{}, "virtualNetworkRules", world.Items(world.Obj("id", a.anySubnet().Text("id"), "action", "Allow"))),
		"publicNetworkAccess", "Enabled", "encryption", encryption,
		"keyCreationTime", world.Obj("key1", a.daysAgo(choose(a, "azure-storage-key-rotation", 200, 20)), "key2", a.daysAgo(30)),
	)
	logged := world.Obj("value", world.Items(a.diagnosticOrAllLogs("StorageRead", a.i%2 == 0)))
	return a.resource("kind", "StorageV2", "sku", world.Obj("name", "Standard_GRS", "tier", "Standard"), "properties", p,
		"_queueServices/default/providers/"+settings, logged, "_tableServices/default/providers/"+settings, logged)
}
