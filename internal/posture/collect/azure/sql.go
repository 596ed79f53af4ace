package azure

import (
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
)

const (
	sqlServerType          = "Azure.Sql.Server"
	sqlDatabaseType        = "Azure.Sql.Database"
	sqlFirewallRuleType    = "Azure.Sql.FirewallRule"
	sqlManagedInstanceType = "Azure.Sql.ManagedInstance"
)

const sqlVersion = "2021-11-01"

var sqlKinds = []*kind{
	{
		typ: sqlServerType, doc: "A logical SQL server, which holds databases.",
		arm: "Microsoft.Sql/servers", version: sqlVersion, query: "?$expand=administrators/activedirectory",
		takes: []string{"Microsoft.Sql/servers/administrators/read"},
		rows: []row{
			text("version", "properties.version", "Its version."),
			text("fullyQualifiedDomainName", "properties.fullyQualifiedDomainName", "Its name."),
			text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it is reached over the internet at all.").or("Enabled"),
			text("minimalTlsVersion", "properties.minimalTlsVersion", "The oldest TLS version that it speaks.").or("None"),
			text("administratorLogin", "properties.administratorLogin", "The name of its own administrator."),
			text("administrators", "properties.administrators.login", "The administrator from the directory; absent when there is none."),
			flag("azureADOnlyAuthentication", "properties.administrators.azureADOnlyAuthentication", "Only identities of the directory log in.").or(false),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{identityLink, assignedIdentityLink},
		has:   []entityType{sqlDatabaseType, sqlFirewallRuleType},
		details: []detail{{
			path: "/auditingSettings/default", version: sqlVersion, permission: "Microsoft.Sql/servers/auditingSettings/read",
			rows: []row{
				text("auditingState", "properties.state", "Whether what is done in it is logged: Enabled or Disabled.").or("Disabled"),
				number("retentionDays", "properties.retentionDays", "How many days the log is kept; 0 for ever.").or(int64(0)),
			},
		}},
		events: []collect.Event{
			{Source: "Microsoft.Sql/servers/firewallRules", Names: []string{"write", "delete"}},
			{Source: "Microsoft.Sql/servers/auditingSettings", Names: []string{"write"}},
			{Source: "Microsoft.Sql/servers/administrators", Names: []string{"write", "delete"}},
		},
	},
	{
		typ: sqlDatabaseType, doc: "A SQL database.",
		arm: "Microsoft.Sql/servers/databases", version: sqlVersion, in: sqlServerType,
		rows: []row{
			text("status", "properties.status", "Whether it can be used."),
			text("sku", "sku.name", "How much it can do."),
			flag("zoneRedundant", "properties.zoneRedundant", "It survives the loss of a data centre.").or(false),
			yes("isSystem", "It belongs to the server itself.", systemDatabase),
			text("creationDate", "properties.creationDate", "When it was made."),
		},
		details: []detail{{
			path: "/transparentDataEncryption/current", version: sqlVersion, permission: "Microsoft.Sql/servers/databases/transparentDataEncryption/read",
			when: func(j gjson.Result) bool { return !systemDatabase(j) },
			rows: []row{text("tdeState", "properties.state", "Whether its files are encrypted: Enabled or Disabled. System databases have none.").or("Disabled")},
		}},
		events: []collect.Event{{Source: "Microsoft.Sql/servers/databases/transparentDataEncryption", Names: []string{"write"}}},
	},
	{
		typ: sqlFirewallRuleType, doc: "Addresses that a SQL server lets in.",
		arm: "Microsoft.Sql/servers/firewallRules", version: sqlVersion, in: sqlServerType,
		rows: []row{
			text("startIpAddress", "properties.startIpAddress", "The first address. 0.0.0.0 to 0.0.0.0 stands for all of Azure."),
			text("endIpAddress", "properties.endIpAddress", "The last address."),
		},
	},
	{
		typ: sqlManagedInstanceType, doc: "A SQL server in a virtual network.",
		arm: "Microsoft.Sql/managedInstances", version: sqlVersion,
		rows: []row{
			flag("publicDataEndpointEnabled", "properties.publicDataEndpointEnabled", "It is reached over the internet.").or(false),
			text("minimalTlsVersion", "properties.minimalTlsVersion", "The oldest TLS version that it speaks.").or("None"),
			text("state", "properties.state", "Whether it can be used."),
			text("administrators", "properties.administrators.login", "The administrator from the directory; absent when there is none."),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{refs("IN_SUBNET", "properties.subnetId", "Where it is.", subnetType), identityLink, assignedIdentityLink},
	},
}

// systemDatabase reports whether a database belongs to the server itself.
func systemDatabase(j gjson.Result) bool {
	return strings.EqualFold(j.Get("name").String(), "master") || strings.Contains(j.Get("kind").String(), "system")
}
