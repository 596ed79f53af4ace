package azure

const (
	eventHubType   = "Azure.EventHub.Namespace"
	serviceBusType = "Azure.ServiceBus.Namespace"
)

var messagingKinds = []*kind{
	{
		typ: eventHubType, doc: "A namespace of event hubs.",
		arm: "Microsoft.EventHub/namespaces", version: "2024-01-01",
		rows:  namespaceRows(),
		links: []link{identityLink, assignedIdentityLink},
	},
	{
		typ: serviceBusType, doc: "A namespace of queues and topics.",
		arm: "Microsoft.ServiceBus/namespaces", version: "2021-11-01",
		rows:  namespaceRows(),
		links: []link{identityLink, assignedIdentityLink},
	},
}

// namespaceRows are those that event hubs and service buses share.
func namespaceRows() []row {
	return []row{
		text("sku", "sku.name", "Its edition."),
		text("minimumTlsVersion", "properties.minimumTlsVersion", "The oldest TLS version that it speaks.").or("1.0"),
		text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it is reached over the internet at all.").or("Enabled"),
		flag("disableLocalAuth", "properties.disableLocalAuth", "Only identities of the directory are let in, no keys.").or(false),
		flag("zoneRedundant", "properties.zoneRedundant", "It survives the loss of a data centre.").or(false),
		text("encryptionKeySource", "properties.encryption.keySource", "With whose key it is encrypted; absent for Microsoft's."),
		identityTypeRow, identityPrincipalRow,
	}
}
