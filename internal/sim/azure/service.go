package azure

import (
	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

const (
	frontDoors      = "Microsoft.Cdn/profiles"
	synapse         = "Microsoft.Synapse/workspaces"
	redisEnterprise = "Microsoft.Cache/redisEnterprise"
	environments    = "Microsoft.App/managedEnvironments"
	wafPolicies     = "Microsoft.Network/frontDoorWebApplicationFirewallPolicies"
	virtualWans     = "Microsoft.Network/virtualWans"
)

// serviceKinds are further services, of which a subscription has one resource each.
var serviceKinds = []*kind{
	single("Azure.AppConfiguration.ConfigurationStore", "Microsoft.AppConfiguration/configurationStores", "appcsx", func(a address) world.Object {
		return a.resource("sku", world.Obj("name", "standard"), "identity", a.identity(), "properties", world.Obj("endpoint", "https://"+a.name()+".azconfig.io", "publicNetworkAccess", "Disabled", "disableLocalAuth", true,
			"enablePurgeProtection", true, "softDeleteRetentionInDays", 7, "encryption", world.Obj("keyVaultProperties", world.Obj("keyIdentifier", a.keyURL()))))
	}),
	single("Azure.Batch.Account", "Microsoft.Batch/batchAccounts", "batchx", func(a address) world.Object {
		return a.resource("identity", a.identity(), "properties", world.Obj("accountEndpoint", a.name()+".westeurope.batch.azure.com", "poolAllocationMode", "BatchService", "publicNetworkAccess", "Disabled",
			"allowedAuthenticationModes", world.Items("AAD"), "autoStorage", world.Obj("storageAccountId", a.ref(storage, 0)), "keyVaultReference", world.Obj("id", a.ref(vaults, 0)),
			"encryption", world.Obj("keySource", "Microsoft.KeyVault", "keyVaultProperties", world.Obj("keyIdentifier", a.keyURL()))))
	}),
	single("Azure.CognitiveServices.Account", "Microsoft.CognitiveServices/accounts", "aix", func(a address) world.Object {
		return a.resource("kind", "OpenAI", "sku", world.Obj("name", "S0"), "identity", a.identity(), "properties", world.Obj("endpoint", "https://"+a.name()+".openai.azure.com/", "publicNetworkAccess", "Disabled", "disableLocalAuth", true,
			"networkAcls", world.Obj("defaultAction", "Deny", "ipRules", []any{}, "virtualNetworkRules", world.Items(world.Obj("id", a.anySubnet().Text("id")))),
			"encryption", world.Obj("keySource", "Microsoft.KeyVault", "keyVaultProperties", world.Obj("keyVaultUri", a.peer(vaults, 0).vaultURL()+"/", "keyName", "key-00000"))))
	}),
	single("Azure.Devices.IotHub", "Microsoft.Devices/IotHubs", "iotx", func(a address) world.Object {
		return a.resource("sku", world.Obj("name", "S1", "tier", "Standard", "capacity", 1), "properties", world.Obj("hostName", a.name()+".azure-devices.net", "state", "Active", "publicNetworkAccess", "Enabled",
			"disableLocalAuth", false, "minTlsVersion", "1.2", "authorizationPolicies", world.Items(world.Obj("keyName", "iothubowner", "rights", "RegistryWrite"))))
	}),
	single("Azure.EventGrid.Topic", "Microsoft.EventGrid/topics", "evgtx", func(a address) world.Object {
		return a.resource("identity", a.identity(), "properties", world.Obj("endpoint", "https://"+a.name()+".westeurope-1.eventgrid.azure.net/api/events", "inputSchema", "EventGridSchema", "publicNetworkAccess", "Enabled",
			"inboundIpRules", world.Items(world.Obj("ipMask", "203.0.113.0/24", "action", "Allow")), "disableLocalAuth", true))
	}),
	single("Azure.EventGrid.Domain", "Microsoft.EventGrid/domains", "evgdx", func(a address) world.Object {
		return a.resource("properties", world.Obj("endpoint", "https://"+a.name()+".westeurope-1.eventgrid.azure.net/api/events", "inputSchema", "CloudEventSchemaV1_0", "publicNetworkAccess", "Disabled", "disableLocalAuth", true))
	}),
	single("Azure.SignalR.SignalR", "Microsoft.SignalRService/signalR", "sigrx", func(a address) world.Object {
		return a.resource("kind", "SignalR", "sku", world.Obj("name", "Standard_S1"), "properties", world.Obj("hostName", a.name()+".service.signalr.net", "publicNetworkAccess", "Enabled", "disableLocalAuth", false,
			"networkACLs", world.Obj("defaultAction", "Deny"), "tls", world.Obj("clientCertEnabled", false)))
	}),
	single("Azure.SignalR.WebPubSub", "Microsoft.SignalRService/webPubSub", "wpsx", func(a address) world.Object {
		return a.resource("kind", "WebPubSub", "sku", world.Obj("name", "Standard_S1"), "properties", world.Obj("hostName", a.name()+".webpubsub.azure.com", "publicNetworkAccess", "Enabled", "disableLocalAuth", false,
			"networkACLs", world.Obj("defaultAction", "Deny"), "tls", world.Obj("clientCertEnabled", false)))
	}),
	single("Azure.App.ManagedEnvironment", environments, "cae-", func(a address) world.Object {
		return a.resource("properties", world.Obj("defaultDomain", a.name()+".westeurope.azurecontainerapps.io", "staticIp", "203.0.113.80", "zoneRedundant", true, "appLogsConfiguration", world.Obj("destination", "log-analytics"),
			"vnetConfiguration", world.Obj("internal", false, "infrastructureSubnetId", a.anySubnet().Text("id")), "peerAuthentication", world.Obj("mtls", world.Obj("enabled", true))))
	}),
	single("Azure.App.ContainerApp", "Microsoft.App/containerApps", "ca-", func(a address) world.Object {
		return a.resource("identity", a.identity(), "properties", world.Obj("managedEnvironmentId", a.ref(environments, 0), "runningStatus", "Running",
			"configuration", world.Obj("activeRevisionsMode", "Single", "ingress", world.Obj("external", true, "fqdn", a.name()+".example.com", "allowInsecure", false, "targetPort", 8080)),
			"template", world.Obj("containers", world.Items(world.Obj("image", "registry.example.com/shop:1", "env", world.Items(world.Obj("name", "MODE", "value", "simulated-app-secret")))))))
	}),
	single("Azure.Logic.Workflow", "Microsoft.Logic/workflows", "logic-", func(a address) world.Object {
		return a.resource("identity", a.identity(), "properties", world.Obj("state", "Enabled", "createdTime", "2025-03-04T05:06:07Z", "changedTime", "2025-06-07T08:09:10Z",
			"accessControl", world.Obj("triggers", world.Obj("allowedCallerIpAddresses", world.Items(world.Obj("addressRange", "203.0.113.0/24"))))))
	}),
	single("Azure.DataFactory.Factory", "Microsoft.DataFactory/factories", "adfx", func(a address) world.Object {
		return a.resource("identity", a.identity(), "properties", world.Obj("createTime", "2025-03-04T05:06:07Z", "publicNetworkAccess", "Disabled", "repoConfiguration", world.Obj("type", "FactoryGitHubConfiguration", "repositoryName", "pipelines"),
			"encryption", world.Obj("vaultBaseUrl", a.peer(vaults, 0).vaultURL(), "keyName", "key-00000")))
	}),
	single("Azure.Synapse.Workspace", synapse, "synx", func(a address) world.Object {
		return a.resource("identity", a.identity(), "properties", world.Obj("publicNetworkAccess", "Enabled", "azureADOnlyAuthentication", true, "managedVirtualNetwork", "default", "trustedServiceBypassEnabled", false,
			"managedVirtualNetworkSettings", world.Obj("preventDataExfiltration", true), "defaultDataLakeStorage", world.Obj("resourceId", a.ref(storage, 0)),
			"encryption", world.Obj("cmk", world.Obj("key", world.Obj("name", "default", "keyVaultUrl", a.keyURL())))))
	}),
	nested("Azure.Synapse.FirewallRule", synapse+"/firewallRules", "rule-", synapse, func(address) world.Object {
		return world.Obj("properties", world.Obj("startIpAddress", "203.0.113.10", "endIpAddress", "203.0.113.20"))
	}),
	single("Azure.MachineLearning.Workspace", "Microsoft.MachineLearningServices/workspaces", "mlw-", func(a address) world.Object {
		return a.resource("kind", "Default", "identity", a.identity(), "properties", world.Obj("publicNetworkAccess", "Disabled", "hbiWorkspace", true, "managedNetwork", world.Obj("isolationMode", "AllowOnlyApprovedOutbound"),
			"storageAccount", a.ref(storage, 0), "keyVault", a.ref(vaults, 0), "encryption", world.Obj("status", "Enabled", "keyVaultProperties", world.Obj("keyIdentifier", a.keyURL()))))
	}),
	single("Azure.DataProtection.BackupVault", "Microsoft.DataProtection/backupVaults", "bvault-", func(a address) world.Object {
		return a.resource("identity", a.identity(), "properties", world.Obj("storageSettings", world.Items(world.Obj("datastoreType", "VaultStore", "type", "GeoRedundant")), "isVaultProtectedByResourceGuard", true,
			"securitySettings", world.Obj("softDeleteSettings", world.Obj("state", "AlwaysOn", "retentionDurationInDays", 14), "immutabilitySettings", world.Obj("state", "Locked"),
				"encryptionSettings", world.Obj("state", "Enabled", "keyVaultProperties", world.Obj("keyUri", a.keyURL())))))
	}),
	single("Azure.Kusto.Cluster", "Microsoft.Kusto/clusters", "adxx", func(a address) world.Object {
		return a.resource("sku", world.Obj("name", "Standard_E8ads_v5", "tier", "Standard", "capacity", 2), "properties", world.Obj("state", "Running", "uri", "https://"+a.name()+".westeurope.kusto.windows.net", "publicNetworkAccess", "Disabled",
			"enableDiskEncryption", true, "enableDoubleEncryption", true, "trustedExternalTenants", []any{}, "keyVaultProperties", world.Obj("keyVaultUri", a.peer(vaults, 0).vaultURL(), "keyName", "key-00000")))
	}),
	single("Azure.Purview.Account", "Microsoft.Purview/accounts", "pviewx", func(a address) world.Object {
		return a.resource("properties", world.Obj("publicNetworkAccess", "Disabled", "createdAt", "2025-03-04T05:06:07Z", "endpoints", world.Obj("catalog", "https://"+a.name()+".purview.azure.com/catalog")))
	}),
	single("Azure.DesktopVirtualization.HostPool", "Microsoft.DesktopVirtualization/hostPools", "vdpool-", func(a address) world.Object {
		return a.resource("properties", world.Obj("hostPoolType", "Pooled", "loadBalancerType", "BreadthFirst", "maxSessionLimit", 10, "publicNetworkAccess", "Disabled", "startVMOnConnect", true, "customRdpProperty", "redirectclipboard:i:0;"))
	}),
	single("Azure.Cdn.Profile", frontDoors, "afd-", func(a address) world.Object {
		return a.resource("kind", "frontdoor", "sku", world.Obj("name", "Premium_AzureFrontDoor"), "properties", world.Obj("resourceState", "Active", "frontDoorId", "99999999-0000-0000-0000-000000000001"),
			diagnosticSettings, world.Obj("value", world.Items(a.diagnostic("FrontDoorAccessLog"))))
	}),
	nested("Azure.Cdn.CustomDomain", frontDoors+"/customDomains", "domain-", frontDoors, func(a address) world.Object {
		return world.Obj("properties", world.Obj("hostName", a.name()+".example.com", "domainValidationState", "Approved", "tlsSettings", world.Obj("certificateType", "ManagedCertificate", "minimumTlsVersion", "TLS12")))
	}),
	nested("Azure.Cdn.SecurityPolicy", frontDoors+"/securityPolicies", "waf-", frontDoors, func(a address) world.Object {
		return world.Obj("properties", world.Obj("deploymentStatus", "Succeeded", "parameters", world.Obj("type", "WebApplicationFirewall", "wafPolicy", world.Obj("id", a.ref(wafPolicies, 0)), "associations", []any{})))
	}),
	single("Azure.Network.FrontDoorFirewallPolicy", wafPolicies, "fdfp", func(a address) world.Object {
		return a.resource("sku", world.Obj("name", "Premium_AzureFrontDoor"), "properties", world.Obj("policySettings", world.Obj("enabledState", "Enabled", "mode", "Prevention", "requestBodyCheck", "Enabled"),
			"managedRules", world.Obj("managedRuleSets", world.Items(world.Obj("ruleSetType", "Microsoft_DefaultRuleSet", "ruleSetVersion", "2.1"))), "securityPolicyLinks", world.Items(world.Obj("id", a.ref(frontDoors, 0)+"/securityPolicies/waf-00000"))))
	}),
	single("Azure.Network.WebApplicationFirewallPolicy", "Microsoft.Network/ApplicationGatewayWebApplicationFirewallPolicies", "waf-", func(a address) world.Object {
		return a.resource("properties", world.Obj("policySettings", world.Obj("state", "Enabled", "mode", "Prevention", "requestBodyCheck", true),
			"managedRules", world.Obj("managedRuleSets", world.Items(world.Obj("ruleSetType", "OWASP", "ruleSetVersion", "3.2"))), "applicationGateways", world.Items(world.Obj("id", a.ref("Microsoft.Network/applicationGateways", 0)))))
	}),
	single("Azure.Network.FirewallPolicy", "Microsoft.Network/firewallPolicies", "afwp-", func(a address) world.Object {
		return a.resource("properties", world.Obj("sku", world.Obj("tier", "Premium"), "threatIntelMode", "Deny", "intrusionDetection", world.Obj("mode", "Deny"), "dnsSettings", world.Obj("enableProxy", true),
			"firewalls", world.Items(world.Obj("id", a.ref("Microsoft.Network/azureFirewalls", 0)))))
	}),
	single("Azure.Network.VirtualWan", virtualWans, "vwan-", func(a address) world.Object {
		return a.resource("properties", world.Obj("type", "Standard", "disableVpnEncryption", false, "allowBranchToBranchTraffic", true))
	}),
	single("Azure.Network.VirtualHub", "Microsoft.Network/virtualHubs", "vhub-", func(a address) world.Object {
		return a.resource("properties", world.Obj("sku", "Standard", "addressPrefix", "10.200.0.0/23", "routingState", "Provisioned", "virtualWan", world.Obj("id", a.ref(virtualWans, 0)),
			"azureFirewall", world.Obj("id", a.ref("Microsoft.Network/azureFirewalls", 0))))
	}),
	single("Azure.Network.PrivateLinkService", "Microsoft.Network/privateLinkServices", "pls-", func(a address) world.Object {
		return a.resource("properties", world.Obj("alias", a.name()+".99999999.westeurope.azure.privatelinkservice", "visibility", world.Obj("subscriptions", world.Items(a.sub.ID)), "autoApproval", world.Obj("subscriptions", world.Items(a.sub.ID)),
			"ipConfigurations", world.Items(world.Obj("properties", world.Obj("subnet", world.Obj("id", a.anySubnet().Text("id")))))))
	}),
	single("Azure.Network.ExpressRouteCircuit", "Microsoft.Network/expressRouteCircuits", "erc-", func(a address) world.Object {
		return a.resource("sku", world.Obj("name", "Standard_MeteredData", "tier", "Standard", "family", "MeteredData"), "properties", world.Obj("circuitProvisioningState", "Enabled", "serviceProviderProvisioningState", "Provisioned", "serviceKey", "simulated-circuit-secret",
			"serviceProviderProperties", world.Obj("serviceProviderName", "Equinix", "peeringLocation", "Amsterdam", "bandwidthInMbps", 1000)))
	}),
	single("Azure.Network.DdosProtectionPlan", "Microsoft.Network/ddosProtectionPlans", "ddos-", func(a address) world.Object {
		return a.resource("properties", world.Obj("resourceGuid", "99999999-0000-0000-0000-000000000002", "virtualNetworks", world.Items(world.Obj("id", a.ref("Microsoft.Network/virtualNetworks", 0)))))
	}),
	single("Azure.Network.IpGroup", "Microsoft.Network/ipGroups", "ipg-", func(a address) world.Object {
		return a.resource("properties", world.Obj("ipAddresses", world.Items("203.0.113.0/24"), "firewallPolicies", world.Items(world.Obj("id", a.ref("Microsoft.Network/firewallPolicies", 0)))))
	}),
	single("Azure.Compute.Gallery", "Microsoft.Compute/galleries", "gal", func(a address) world.Object {
		return a.resource("properties", world.Obj("identifier", world.Obj("uniqueName", a.sub.ID+"-"+a.name()), "sharingProfile", world.Obj("permissions", "Private"), "softDeletePolicy", world.Obj("isSoftDeleteEnabled", true)))
	}),
	single("Azure.KeyVault.ManagedHsm", "Microsoft.KeyVault/managedHSMs", "hsmx", func(a address) world.Object {
		return a.resource("sku", world.Obj("family", "B", "name", "Standard_B1"), "properties", world.Obj("hsmUri", "https://"+a.name()+".managedhsm.azure.net/", "enablePurgeProtection", true, "softDeleteRetentionInDays", 90,
			"publicNetworkAccess", "Disabled", "networkAcls", world.Obj("defaultAction", "Deny", "bypass", "None")))
	}),
	single("Azure.Cache.RedisEnterprise", redisEnterprise, "amrx", func(a address) world.Object {
		return a.resource("sku", world.Obj("name", "Enterprise_E10", "capacity", 2), "properties", world.Obj("hostName", a.name()+".westeurope.redisenterprise.cache.azure.net", "redisVersion", "7.4", "minimumTlsVersion", "1.2", "resourceState", "Running"))
	}),
	nested("Azure.Cache.RedisEnterpriseDatabase", redisEnterprise+"/databases", "db-", redisEnterprise, func(address) world.Object {
		return world.Obj("properties", world.Obj("clientProtocol", "Encrypted", "clusteringPolicy", "OSSCluster", "port", 10000, "persistence", world.Obj("aofEnabled", true)))
	}),
	single("Azure.Web.StaticSite", "Microsoft.Web/staticSites", "stapp-", func(a address) world.Object {
		return a.resource("sku", world.Obj("name", "Standard"), "properties", world.Obj("defaultHostname", a.name()+".azurestaticapps.net", "publicNetworkAccess", "Enabled", "stagingEnvironmentPolicy", "Enabled", "branch", "main", "provider", "GitHub",
			"repositoryUrl", "https://github.com/example/site", "customDomains", world.Items("www.example.com")))
	}),
}

// single returns a kind of which a subscription has one resource.
func single(typ posture.EntityType, arm, prefix string, body func(a address) world.Object) *kind {
	return &kind{typ: typ, arm: arm, prefix: prefix, count: one, body: body}
}

// nested returns a kind of which every resource of another kind has one.
func nested(typ posture.EntityType, arm, prefix, in string, body func(a address) world.Object) *kind {
	return &kind{typ: typ, arm: arm, prefix: prefix, in: in, count: one, body: body}
}

// keyURL returns the URL of a key in the first key vault.
func (a address) keyURL() string { return a.peer(vaults, 0).vaultURL() + "/keys/key-00000" }
