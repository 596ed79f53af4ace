package azure

import "github.com/tidwall/gjson"

const (
	managedClusterType = "Azure.ContainerService.ManagedCluster"
	registryType       = "Azure.ContainerRegistry.Registry"
	containerGroupType = "Azure.ContainerInstance.ContainerGroup"
)

var containerKinds = []*kind{
	{
		typ: managedClusterType, doc: "A Kubernetes cluster.",
		arm: "Microsoft.ContainerService/managedClusters", version: "2024-05-01",
		rows: []row{
			text("kubernetesVersion", "properties.kubernetesVersion", "Its version."),
			text("fqdn", "properties.fqdn", "Where its API answers."),
			flag("enableRBAC", "properties.enableRBAC", "Roles say who may do what in it.").or(false),
			flag("disableLocalAccounts", "properties.disableLocalAccounts", "Only identities of the directory log in.").or(false),
			flag("aadManaged", "properties.aadProfile.managed", "Identities of the directory log in.").or(false),
			flag("enableAzureRBAC", "properties.aadProfile.enableAzureRBAC", "Azure's own roles hold in it.").or(false),
			flag("enablePrivateCluster", "properties.apiServerAccessProfile.enablePrivateCluster", "Its API answers in a virtual network alone.").or(false),
			texts("authorizedIPRanges", "properties.apiServerAccessProfile.authorizedIPRanges", "Addresses that its API answers."),
			text("networkPlugin", "properties.networkProfile.networkPlugin", "How pods get addresses."),
			text("networkPolicy", "properties.networkProfile.networkPolicy", "What keeps pods apart.").or("none"),
			flag("azurePolicyEnabled", "properties.addonProfiles.azurepolicy.enabled", "Azure Policy watches what runs in it.").or(false),
			flag("oidcIssuerEnabled", "properties.oidcIssuerProfile.enabled", "Pods can have identities of the directory.").or(false),
			text("nodeResourceGroup", "properties.nodeResourceGroup", "Where its machines are."),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{
			refs("IN_SUBNET", "properties.agentPoolProfiles.#.vnetSubnetID", "Where its machines are.", subnetType),
			refs("LOGS_TO", "properties.addonProfiles.omsagent.config.logAnalyticsWorkspaceResourceID", "Where its logs are kept.", workspaceType),
			refs("ENCRYPTED_BY", "properties.diskEncryptionSetID", "Where its disks' key comes from.", diskEncryptionSetType),
			principals("HAS_IDENTITY", "Under whose names it and its machines act.", func(j gjson.Result) []string {
				return append(identityPrincipals(j), flat(j.Get("properties.identityProfile.kubeletidentity.objectId"))...)
			}),
			assignedIdentityLink,
		},
	},
	{
		typ: registryType, doc: "A registry of container images.",
		arm: "Microsoft.ContainerRegistry/registries", version: "2023-07-01",
		rows: []row{
			text("loginServer", "properties.loginServer", "Its name."),
			text("sku", "sku.name", "Its edition."),
			flag("adminUserEnabled", "properties.adminUserEnabled", "A shared password opens it.").or(false),
			flag("anonymousPullEnabled", "properties.anonymousPullEnabled", "Anybody may fetch images.").or(false),
			text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it is reached over the internet at all.").or("Enabled"),
			text("networkRuleSetDefaultAction", "properties.networkRuleSet.defaultAction", "What happens to calls from networks that no rule names.").or("Allow"),
			equals("customerManagedKey", "properties.encryption.status", "enabled", "It is encrypted with the customer's own key.").or(false),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{identityLink, assignedIdentityLink},
	},
	{
		typ: containerGroupType, doc: "Containers that run together, without a cluster.",
		arm: "Microsoft.ContainerInstance/containerGroups", version: "2023-05-01",
		rows: []row{
			text("osType", "properties.osType", "Linux or Windows."),
			texts("images", "properties.containers.#.properties.image", "What runs."),
			text("ipAddress", "properties.ipAddress.ip", "Its address."),
			equals("isPublic", "properties.ipAddress.type", "Public", "It is reached from the internet.").or(false),
			texts("ports", "properties.ipAddress.ports.#.port", "Ports that answer."),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{refs("IN_SUBNET", "properties.subnetIds.#.id", "Where it is.", subnetType), identityLink, assignedIdentityLink},
	},
}
