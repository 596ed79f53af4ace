package azure

import (
	"vigil/internal/sim/world"
)

const (
	sites      = "Microsoft.Web/sites"
	functions  = sites + "/functions"
	plans      = "Microsoft.Web/serverfarms"
	clusters   = "Microsoft.ContainerService/managedClusters"
	registries = "Microsoft.ContainerRegistry/registries"
	eventHubs  = "Microsoft.EventHub/namespaces"
	buses      = "Microsoft.ServiceBus/namespaces"
)

var appKinds = []*kind{
	{
		typ: "Azure.Web.Site", arm: sites, prefix: "appx",
		count: func(a address) int { return max(4, a.permille(40)) },
		body: func(a address) world.Object {
			kind := "app,linux"
			if a.isFunctionApp() {
				kind = "functionapp,linux"
			}
			o := a.resource("kind", kind, "properties", world.Obj("state", "Running", "enabled", true, "httpsOnly", !a.violates("azure-app-https-only"), "defaultHostName", a.name()+".azurewebsites.net",
				"hostNames", world.Items(a.name()+".azurewebsites.net"), "serverFarmId", a.ref(plans, a.i%a.countOf(plans)), "siteConfig", world.Obj("numberOfWorkers", 1)),
				"_config/authsettingsV2", world.Obj("name", "authsettingsV2", "properties", world.Obj("platform", world.Obj("enabled", true))),
				"_basicPublishingCredentialsPolicies/ftp", world.Obj("name", "ftp", "properties", world.Obj("allow", false)),
				"_basicPublishingCredentialsPolicies/scm", world.Obj("name", "scm", "properties", world.Obj("allow", false)),
				"_config/web", world.Obj("name", a.name(), "properties", world.Obj("minTlsVersion", choose(a, "azure-app-min-tls", "1.0", "1.2"), "scmMinTlsVersion", "1.2",
					"ftpsState", choose(a, "azure-app-ftp", "AllAllowed", "FtpsOnly"), "http20Enabled", true, "alwaysOn", true, "linuxFxVersion", "NODE|22-lts")))
			// App Service returns locations as display names.
			o = o.With("location", displayNames[a.location()])
			if a.violates("azure-app-managed-identity") {
				return o
			}
			return o.With("identity", a.identity())
		},
	},
	{
		typ: "Azure.Web.Function", arm: functions, prefix: "fn-", in: sites,
		count: func(a address) int {
			if !a.enclosing().isFunctionApp() {
				return 0
			}
			return 2
		},
		body: func(a address) world.Object {
			return world.Obj("properties", world.Obj("language", "node", "isDisabled", false, "config", world.Obj("bindings", world.Items(world.Obj("type", "httpTrigger", "authLevel", "function", "direction", "in")))))
		},
	},
	{
		typ: "Azure.Web.ServicePlan", arm: plans, prefix: "plan-",
		count: func(a address) int { return max(2, a.permille(8)) },
		body: func(a address) world.Object {
			return a.resource("kind", "linux", "sku", world.Obj("name", "P1v3", "tier", "PremiumV3", "capacity", 2), "properties", world.Obj("zoneRedundant", true))
		},
	},
	{
		typ: "Azure.ContainerService.ManagedCluster", arm: clusters, prefix: "aks-",
		count: func(a address) int { return max(2, a.permille(5)) },
		body: func(a address) world.Object {
			api := world.Obj("enablePrivateCluster", false, "authorizedIPRanges", world.Items("203.0.113.0/24"))
			if a.i%2 == 1 {
				api = world.Obj("enablePrivateCluster", true)
			}
			if a.violates("azure-aks-api-public") {
				api = nil
			}
			p := world.Obj("kubernetesVersion", "1.31.2", "fqdn", a.name()+".hcp.eastus.azmk8s.io", "enableRBAC", !a.violates("azure-aks-rbac"), "disableLocalAccounts", true,
				"nodeResourceGroup", "MC_"+a.group(), "networkProfile", world.Obj("networkPlugin", "azure", "networkPolicy", "azure"),
				"agentPoolProfiles", world.Items(world.Obj("name", "system", "count", 3, "vnetSubnetID", a.anySubnet().Text("id"))),
				"identityProfile", world.Obj("kubeletidentity", world.Obj("objectId", a.seed("kubelet").UUID(a.i))))
			if api != nil {
				p = p.With("apiServerAccessProfile", api)
			}
			return a.resource("identity", a.identity(), "properties", p)
		},
	},
	{
		typ: "Azure.ContainerRegistry.Registry", arm: registries, prefix: "acrx", count: one,
		body: func(a address) world.Object {
			return a.resource("sku", world.Obj("name", "Premium"), "properties", world.Obj("loginServer", a.name()+".azurecr.io", "adminUserEnabled", false, "publicNetworkAccess", "Enabled", "encryption", world.Obj("status", "disabled")))
		},
	},
	{
		typ: "Azure.ContainerInstance.ContainerGroup", arm: "Microsoft.ContainerInstance/containerGroups", prefix: "aci-", count: one,
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("osType", "Linux", "containers", world.Items(world.Obj("name", "job", "properties", world.Obj("image", "mcr.microsoft.com/azuredocs/aci-helloworld"))),
				"ipAddress", world.Obj("type", "Private", "ip", "10.0.0.9", "ports", world.Items(world.Obj("port", 80, "protocol", "TCP")))))
		},
	},
	{
		typ: "Azure.EventHub.Namespace", arm: eventHubs, prefix: "evhx", count: one,
		body: namespaceBody,
	},
	{
		typ: "Azure.ServiceBus.Namespace", arm: buses, prefix: "sbx", count: one,
		body: namespaceBody,
	},
}

// isFunctionApp reports whether a site runs functions.
func (a address) isFunctionApp() bool { return a.i%3 == 2 }

func namespaceBody(a address) world.Object {
	return a.resource("sku", world.Obj("name", "Standard"), "properties", world.Obj("minimumTlsVersion", "1.2", "publicNetworkAccess", "Enabled", "disableLocalAuth", false, "zoneRedundant", true))
}
