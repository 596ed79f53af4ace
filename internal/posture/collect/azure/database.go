package azure

import (
	"context"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
)

const (
	postgresType = "Azure.PostgreSQL.FlexibleServer"
	mysqlType    = "Azure.MySQL.FlexibleServer"
	cosmosType   = "Azure.DocumentDB.DatabaseAccount"
	redisType    = "Azure.Cache.Redis"
)

const (
	postgresVersion = "2022-12-01"
	mysqlVersion    = "2021-05-01"
)

var databaseKinds = []*kind{
	{
		typ: postgresType, doc: "A PostgreSQL server.",
		arm: "Microsoft.DBforPostgreSQL/flexibleServers", version: postgresVersion,
		rows: append(flexibleServerRows(),
			text("activeDirectoryAuth", "properties.authConfig.activeDirectoryAuth", "Whether identities of the directory log in.").or("Disabled"),
			text("passwordAuth", "properties.authConfig.passwordAuth", "Whether passwords log in.").or("Enabled"),
		),
		links: []link{refs("IN_SUBNET", "properties.network.delegatedSubnetResourceId", "Where it is.", subnetType), assignedIdentityLink},
		details: []detail{
			setting("Microsoft.DBforPostgreSQL", postgresVersion, "require_secure_transport", equals("requireSecureTransport", "properties.value", "on", "Connections must be encrypted.")),
			setting("Microsoft.DBforPostgreSQL", postgresVersion, "log_connections", equals("logConnections", "properties.value", "on", "Connections are logged.")),
		},
		events: []collect.Event{{Source: "Microsoft.DBforPostgreSQL/flexibleServers/configurations", Names: []string{"write"}}},
	},
	{
		typ: mysqlType, doc: "A MySQL server.",
		arm: "Microsoft.DBforMySQL/flexibleServers", version: mysqlVersion,
		rows:  flexibleServerRows(),
		links: []link{refs("IN_SUBNET", "properties.network.delegatedSubnetResourceId", "Where it is.", subnetType), assignedIdentityLink},
		details: []detail{
			setting("Microsoft.DBforMySQL", mysqlVersion, "require_secure_transport", equals("requireSecureTransport", "properties.value", "on", "Connections must be encrypted.")),
			setting("Microsoft.DBforMySQL", mysqlVersion, "tls_version", text("tlsVersion", "properties.value", "The TLS versions that it speaks, with commas.")),
		},
		events: []collect.Event{{Source: "Microsoft.DBforMySQL/flexibleServers/configurations", Names: []string{"write"}}},
	},
	{
		typ: cosmosType, doc: "A Cosmos database account.",
		arm: "Microsoft.DocumentDB/databaseAccounts", version: "2024-05-15",
		rows: []row{
			text("kind", "kind", "The kind of database."),
			flag("isVirtualNetworkFilterEnabled", "properties.isVirtualNetworkFilterEnabled", "Only the subnets it names are let in.").or(false),
			texts("ipRules", "properties.ipRules.#.ipAddressOrRange", "Addresses that are let in. 0.0.0.0 stands for all of Azure."),
			text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it is reached over the internet at all.").or("Enabled"),
			flag("disableLocalAuth", "properties.disableLocalAuth", "Only identities of the directory are let in, no keys.").or(false),
			text("minimalTlsVersion", "properties.minimalTlsVersion", "The oldest TLS version that it speaks."),
			text("backupPolicy", "properties.backupPolicy.type", "Periodic or Continuous."),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{
			refs("ALLOWS", "properties.virtualNetworkRules.#.id", "Subnets that are let in.", subnetType),
			identityLink, assignedIdentityLink,
		},
		moreLinks: []collect.Edge{keyEdge},
		takes:     []string{"Microsoft.KeyVault/vaults/read"},
		also: func(ctx context.Context, s *session, j gjson.Result, r *resource) error {
			return s.encrypted(ctx, r, j.Get("properties.keyVaultKeyUri").String())
		},
	},
	{
		typ: redisType, doc: "A Redis cache.",
		arm: "Microsoft.Cache/redis", version: "2023-08-01",
		rows: []row{
			text("redisVersion", "properties.redisVersion", "Its version."),
			flag("enableNonSslPort", "properties.enableNonSslPort", "It takes connections that are not encrypted.").or(false),
			text("minimumTlsVersion", "properties.minimumTlsVersion", "The oldest TLS version that it speaks.").or("1.0"),
			text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it is reached over the internet at all.").or("Enabled"),
			text("sku", "properties.sku.name", "Its edition."),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{refs("IN_SUBNET", "properties.subnetId", "Where it is.", subnetType), identityLink, assignedIdentityLink},
	},
}

// flexibleServerRows are those that PostgreSQL and MySQL servers share.
func flexibleServerRows() []row {
	return []row{
		text("version", "properties.version", "Its version."),
		text("state", "properties.state", "Whether it can be used."),
		text("fullyQualifiedDomainName", "properties.fullyQualifiedDomainName", "Its name."),
		text("publicNetworkAccess", "properties.network.publicNetworkAccess", "Whether it is reached over the internet at all.").or("Enabled"),
		text("highAvailability", "properties.highAvailability.mode", "Whether a standby takes over.").or("Disabled"),
		number("backupRetentionDays", "properties.backup.backupRetentionDays", "How many days backups are kept."),
		text("geoRedundantBackup", "properties.backup.geoRedundantBackup", "Whether backups are kept in another region too.").or("Disabled"),
		identityTypeRow,
	}
}

// setting is the detail of one setting of a server.
func setting(provider, version, name string, rows ...row) detail {
	return detail{path: "/configurations/" + name, version: version, permission: provider + "/flexibleServers/configurations/read", rows: rows}
}
