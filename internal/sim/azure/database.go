package azure

import (
	"vigil/internal/sim/world"
)

const (
	sqlServers   = "Microsoft.Sql/servers"
	sqlDatabases = sqlServers + "/databases"
	sqlFirewalls = sqlServers + "/firewallRules"
	sqlInstances = "Microsoft.Sql/managedInstances"
	postgres     = "Microsoft.DBforPostgreSQL/flexibleServers"
	mysql        = "Microsoft.DBforMySQL/flexibleServers"
	cosmos       = "Microsoft.DocumentDB/databaseAccounts"
	redis        = "Microsoft.Cache/redis"
)

var databaseKinds = []*kind{
	{
		typ: "Azure.Sql.Server", arm: sqlServers, prefix: "sqlx",
		count: func(a address) int { return max(3, a.permille(15)) },
		body: func(a address) world.Object {
			p := world.Obj("version", "12.0", "state", "Ready", "fullyQualifiedDomainName", a.name()+".database.windows.net", "publicNetworkAccess", "Enabled", "minimalTlsVersion", "1.2", "administratorLogin", "sqladmin")
			if !a.violates("azure-sql-entra-admin") {
				p = p.With("administrators", world.Obj("administratorType", "ActiveDirectory", "principalType", "Group", "login", "dba", "sid", a.seed("dba").UUID(0), "tenantId", a.sub.Tenant, "azureADOnlyAuthentication", false))
			}
			return a.resource("kind", "v12.0", "properties", p, "_ipv6FirewallRules", world.Obj("value", []any{}),
				"_encryptionProtector/current", world.Obj("name", "current", "properties", world.Obj("serverKeyType", "AzureKeyVault")),
				"_auditingSettings/default", world.Obj("name", "Default", "properties", world.Obj("state", choose(a, "azure-sql-auditing", "Disabled", "Enabled"), "retentionDays", 120)))
		},
	},
	{
		typ: "Azure.Sql.Database", arm: sqlDatabases, in: sqlServers,
		names: func(address) []string { return []string{"master", "orders", "stock"} },
		body: func(a address) world.Object {
			o := world.Obj("location", a.enclosing().location(), "sku", world.Obj("name", "GP_S_Gen5"), "properties", world.Obj("status", "Online", "zoneRedundant", false, "creationDate", a.daysAgo(300)))
			if a.i == 0 { // master
				return o.With("kind", "v12.0,system")
			}
			return o.With("kind", "v12.0,user").With("_transparentDataEncryption/current", world.Obj("name", "current", "properties", world.Obj("state", choose(a, "azure-sql-tde", "Disabled", "Enabled"))))
		},
	},
	{
		typ: "Azure.Sql.FirewallRule", arm: sqlFirewalls, prefix: "rule-", in: sqlServers,
		count: func(address) int { return 2 },
		body: func(a address) world.Object {
			from, to := "203.0.113.10", "203.0.113.20"
			if a.i == 1 && a.enclosing().violates("azure-sql-firewall-any") {
				// From 0.0.0.0 to 0.0.0.0 looks open, but stands for Azure services and violates nothing.
				from, to = "0.0.0.0", world.PickOne(a.seed("end"), "0.0.0.0", "255.255.255.255")
			}
			return world.Obj("properties", world.Obj("startIpAddress", from, "endIpAddress", to))
		},
	},
	{
		typ: "Azure.Sql.ManagedInstance", arm: sqlInstances, prefix: "mix", count: one,
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("state", "Ready", "publicDataEndpointEnabled", false, "minimalTlsVersion", "1.2", "subnetId", a.anySubnet().Text("id")))
		},
	},
	{
		typ: "Azure.PostgreSQL.FlexibleServer", arm: postgres, prefix: "pgx",
		count: func(a address) int { return max(2, a.permille(10)) },
		body: func(a address) world.Object {
			return a.flexible("16").With("_configurations/require_secure_transport", value(choose(a, "azure-postgres-tls", "off", "on"))).
				With("_configurations/log_connections", value("on")).With("_configurations/log_checkpoints", value("on")).
				With("_configurations/log_disconnections", value("on")).With("_configurations/connection_throttle.enable", value("on")).
				With("_configurations/logfiles.retention_days", value("7"))
		},
	},
	{
		typ: "Azure.MySQL.FlexibleServer", arm: mysql, prefix: "myx",
		count: func(a address) int { return max(2, a.permille(10)) },
		body: func(a address) world.Object {
			secure, versions := "ON", "TLSv1.2,TLSv1.3"
			if a.violates("azure-mysql-tls") {
				if a.seed("how").Intn(2) == 0 {
					secure = "OFF"
				} else {
					versions = "TLSv1,TLSv1.1"
				}
			}
			return a.flexible("8.0.21").With("_configurations/require_secure_transport", value(secure)).With("_configurations/tls_version", value(versions)).
				With("_configurations/audit_log_enabled", value("ON")).With("_configurations/audit_log_events", value("CONNECTION,ADMIN"))
		},
	},
	{
		typ: "Azure.DocumentDB.DatabaseAccount", arm: cosmos, prefix: "cosmosx",
		count: func(a address) int { return max(2, a.permille(10)) },
		body: func(a address) world.Object {
			filtered := !a.violates("azure-cosmosdb-network")
			return a.resource("kind", "GlobalDocumentDB", "properties", world.Obj("isVirtualNetworkFilterEnabled", filtered, "ipRules", []any{}, "publicNetworkAccess", "Enabled",
				"virtualNetworkRules", world.Items(reference(a.anySubnet().Text("id"))), "disableLocalAuth", true, "minimalTlsVersion", "Tls12",
				"keyVaultKeyUri", a.peer(vaults, 0).vaultURL()+"/keys/key-00000", "backupPolicy", world.Obj("type", "Continuous")))
		},
	},
	{
		typ: "Azure.Cache.Redis", arm: redis, prefix: "redisx",
		count: func(a address) int { return max(1, a.permille(5)) },
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("redisVersion", "6.0", "enableNonSslPort", false, "minimumTlsVersion", "1.2", "publicNetworkAccess", "Enabled", "sku", world.Obj("name", "Standard")))
		},
	},
}

// flexible returns a PostgreSQL or MySQL flexible server.
func (a address) flexible(version string) world.Object {
	return a.resource("properties", world.Obj("version", version, "state", "Ready", "fullyQualifiedDomainName", a.name()+".example.azure.com",
		"network", world.Obj("publicNetworkAccess", "Enabled"), "highAvailability", world.Obj("mode", "Disabled"), "backup", world.Obj("backupRetentionDays", 7, "geoRedundantBackup", "Disabled")))
}

// value returns one setting of a server.
func value(v string) world.Object {
	return world.Obj("properties", world.Obj("value", v, "source", "user-override"))
}
