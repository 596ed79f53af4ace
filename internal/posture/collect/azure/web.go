package azure

import (
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
)

const (
	siteType        = "Azure.Web.Site"
	functionType    = "Azure.Web.Function"
	servicePlanType = "Azure.Web.ServicePlan"
)

const webVersion = "2023-12-01"

var webKinds = []*kind{
	{
		typ: siteType, doc: "A web app or function app.",
		arm: "Microsoft.Web/sites", version: webVersion,
		rows: []row{
			text("kind", "kind", "What it is: app, functionapp, and on which system."),
			yes("isFunctionApp", "It runs functions.", functionApp),
			text("state", "properties.state", "Running or Stopped."),
			text("defaultHostName", "properties.defaultHostName", "Its name."),
			texts("hostNames", "properties.hostNames", "All of its names."),
			flag("httpsOnly", "properties.httpsOnly", "Plain HTTP is sent on to HTTPS.").or(false),
			flag("clientCertEnabled", "properties.clientCertEnabled", "Clients must show a certificate.").or(false),
			text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it is reached over the internet at all.").or("Enabled"),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{
			refs("RUNS_ON", "properties.serverFarmId", "The plan that pays for its machines.", servicePlanType),
			refs("IN_SUBNET", "properties.virtualNetworkSubnetId", "Where it reaches a network.", subnetType),
			identityLink, assignedIdentityLink,
		},
		details: []detail{{
			path: "/config/web", version: webVersion, permission: "Microsoft.Web/sites/config/read",
			rows: []row{
				text("minTlsVersion", "properties.minTlsVersion", "The oldest TLS version that it speaks.").or("1.0"),
				text("scmMinTlsVersion", "properties.scmMinTlsVersion", "The oldest TLS version that its deployment site speaks."),
				text("ftpsState", "properties.ftpsState", "Whether files are put by FTP: AllAllowed, FtpsOnly or Disabled.").or("AllAllowed"),
				flag("http20Enabled", "properties.http20Enabled", "It speaks HTTP/2.").or(false),
				flag("remoteDebuggingEnabled", "properties.remoteDebuggingEnabled", "A debugger may attach.").or(false),
				flag("alwaysOn", "properties.alwaysOn", "It is kept loaded.").or(false),
				text("linuxFxVersion", "properties.linuxFxVersion", "The runtime or container on Linux."),
				text("netFrameworkVersion", "properties.netFrameworkVersion", "The runtime on Windows."),
			},
		}},
		events: []collect.Event{{Source: "Microsoft.Web/sites/config", Names: []string{"write"}}},
	},
	{
		typ: functionType, doc: "A function of a function app.",
		arm: "Microsoft.Web/sites/functions", version: webVersion, in: siteType, of: functionApp,
		rows: []row{
			text("language", "properties.language", "What it is written in."),
			flag("isDisabled", "properties.isDisabled", "It is switched off.").or(false),
			texts("triggers", "properties.config.bindings.#.type", "What it is connected to."),
			texts("authLevels", "properties.config.bindings.#.authLevel", "Who may call it over HTTP: anonymous, function or admin."),
		},
	},
	{
		typ: servicePlanType, doc: "Machines that web apps run on.",
		arm: "Microsoft.Web/serverfarms", version: webVersion,
		rows: []row{
			text("sku", "sku.name", "Its size."),
			text("tier", "sku.tier", "Its edition."),
			number("capacity", "sku.capacity", "How many machines it has."),
			flag("zoneRedundant", "properties.zoneRedundant", "It survives the loss of a data centre.").or(false),
			text("kind", "kind", "On which system apps run."),
		},
	},
}

// functionApp reports whether a site runs functions.
func functionApp(site gjson.Result) bool {
	return strings.Contains(strings.ToLower(site.Get("kind").String()), "functionapp")
}
