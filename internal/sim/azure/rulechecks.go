package azure

import (
	"slices"
	"strconv"
	"strings"

	"vigil/internal/sim/world"
)

// ruleChecks has the check of each rule, by type in Resource Manager and by id of the rule. The checks are written
// from the rules' conditions, independently of the product.
var ruleChecks map[string]map[string]ruleCheck

func init() { // in init because checks refer to kinds
	ruleChecks = map[string]map[string]ruleCheck{
		definitions: {"azure-iam-custom-owner-role": func(_ *checker, o world.Object) bool {
			wide := slices.ContainsFunc(o.List("properties", "assignableScopes"), func(s any) bool { return s == "/" || isSubscriptionScope(s.(string)) })
			all := slices.ContainsFunc(o.Objects("properties", "permissions"), func(p world.Object) bool { return slices.Contains(p.List("actions"), any("*")) })
			return o.Text("properties", "type") == "CustomRole" && wide && all
		}},
		pricings: {
			"azure-defender-servers":  plan("VirtualMachines"),
			"azure-defender-storage":  plan("StorageAccounts"),
			"azure-defender-sql":      plan("SqlServers"),
			"azure-defender-keyvault": plan("KeyVaults"),
		},
		contacts: {"azure-security-contact": func(_ *checker, o world.Object) bool { return o.Text("properties", "emails") == "" }},
		storage: {
			"azure-storage-https-only":         isFalse("properties", "supportsHttpsTrafficOnly"),
			"azure-storage-public-blob":        publicBlobs,
			"azure-storage-default-deny":       openStorage,
			"azure-storage-min-tls":            isNot([]string{"TLS1_2", "TLS1_3"}, "properties", "minimumTlsVersion"),
			"azure-storage-cmk":                isNot([]string{"Microsoft.Keyvault"}, "properties", "encryption", "keySource"),
			"azure-storage-key-rotation":       oldKeys,
			"azure-monitor-log-storage-public": publicLogs,
		},
		blobServices: {"azure-storage-soft-delete": func(_ *checker, o world.Object) bool {
			return !o.Flag("properties", "deleteRetentionPolicy", "enabled") || !o.Flag("properties", "containerDeleteRetentionPolicy", "enabled")
		}},
		sqlServers: {
			"azure-sql-firewall-any": anyAddress,
			"azure-sql-auditing":     isNot([]string{"Enabled"}, "_auditingSettings/default", "properties", "state"),
			"azure-sql-entra-admin":  func(_ *checker, o world.Object) bool { return o.Get("properties", "administrators") == nil },
		},
		sqlDatabases: {"azure-sql-tde": func(_ *checker, o world.Object) bool {
			return o.Text("name") != "master" && o.Text("_transparentDataEncryption/current", "properties", "state") != "Enabled"
		}},
		postgres: {"azure-postgres-tls": func(_ *checker, o world.Object) bool { return settingOf(o, "require_secure_transport") == "off" }},
		mysql: {"azure-mysql-tls": func(_ *checker, o world.Object) bool {
			return settingOf(o, "require_secure_transport") == "off" || !strings.Contains(settingOf(o, "tls_version"), "tlsv1.2")
		}},
		cosmos: {"azure-cosmosdb-network": func(_ *checker, o world.Object) bool {
			return !o.Flag("properties", "isVirtualNetworkFilterEnabled") && len(o.List("properties", "ipRules")) == 0 && o.Text("properties", "publicNetworkAccess") != "Disabled"
		}},
		subscriptions: {"azure-monitor-activity-log": unexported, "azure-monitor-nsg-alert": unwatched},
		nsgs: {
			"azure-nsg-rdp-open": func(_ *checker, o world.Object) bool { return reaches(o, "tcp", 3389) },
			"azure-nsg-ssh-open": func(_ *checker, o world.Object) bool { return reaches(o, "tcp", 22) },
			"azure-nsg-udp-open": func(_ *checker, o world.Object) bool { return reachesAny([]world.Object{o}, "udp") },
		},
		subscriptions + "/locations": {"azure-network-watcher": unwatchedLocation},
		flowLogs: {"azure-nsg-flow-log-retention": func(_ *checker, o world.Object) bool {
			days := o.Number("properties", "retentionPolicy", "days") // 0 keeps the log for ever
			return !o.Flag("properties", "enabled") || o.Flag("properties", "retentionPolicy", "enabled") && days >= 1 && days <= 89
		}},
		machines: {
			"azure-vm-managed-disks": func(_ *checker, o world.Object) bool {
				return o.Get("properties", "storageProfile", "osDisk", "managedDisk") == nil
			},
			"azure-vm-exposed-privileged": exposedAdmin,
		},
		disks: {"azure-disk-unattached-cmk": func(_ *checker, o world.Object) bool {
			return o.Text("properties", "diskState") == "Unattached" && o.Text("properties", "encryption", "type") == "EncryptionAtRestWithPlatformKey"
		}},
		vaults: {
			"azure-keyvault-recoverable": func(_ *checker, o world.Object) bool {
				return !o.Flag("properties", "enablePurgeProtection") || !o.Flag("properties", "enableSoftDelete")
			},
			"azure-keyvault-logging": unlogged,
		},
		keys:    {"azure-keyvault-key-expiry": hasNoExpiry},
		secrets: {"azure-keyvault-secret-expiry": hasNoExpiry},
		sites: {
			"azure-app-https-only": isFalse("properties", "httpsOnly"),
			"azure-app-min-tls": func(_ *checker, o world.Object) bool {
				return o.Text("_config/web", "properties", "minTlsVersion") < "1.2"
			},
			"azure-app-ftp": func(_ *checker, o world.Object) bool {
				return o.Text("_config/web", "properties", "ftpsState") == "AllAllowed"
			},
			"azure-app-managed-identity": func(_ *checker, o world.Object) bool { return o.Get("identity") == nil },
		},
		clusters: {
			"azure-aks-rbac": isFalse("properties", "enableRBAC"),
			"azure-aks-api-public": func(_ *checker, o world.Object) bool {
				return !o.Flag("properties", "apiServerAccessProfile", "enablePrivateCluster") && len(o.List("properties", "apiServerAccessProfile", "authorizedIPRanges")) == 0
			},
		},
	}
}

// isFalse returns a check that is violated when a flag is not true.
func isFalse(path ...string) ruleCheck {
	return func(_ *checker, o world.Object) bool { return !o.Flag(path...) }
}

// isNot returns a check that is violated when a value is not among the allowed ones.
func isNot(allowed []string, path ...string) ruleCheck {
	return func(_ *checker, o world.Object) bool { return !slices.Contains(allowed, o.Text(path...)) }
}

// plan returns a check that is violated when a plan of Defender is off.
func plan(name string) ruleCheck {
	return func(_ *checker, o world.Object) bool {
		return o.Text("name") == name && o.Text("properties", "pricingTier") != "Standard"
	}
}

// settingOf returns a setting of a database server in lower case.
func settingOf(o world.Object, name string) string {
	return strings.ToLower(o.Text("_configurations/"+name, "properties", "value"))
}

// partsOf returns the resources in the list at a path below the resource with an id.
func (c *checker) partsOf(id, path string) []world.Object {
	t, refused := c.Cloud.find(id+path, c.sub.Government)
	if refused != nil {
		return nil
	}
	var all []world.Object
	t.in.list(0, -1, func(_ string, o world.Object) bool {
		all = append(all, o)
		return true
	})
	return all
}

func publicBlobs(v *checker, o world.Object) bool {
	public := slices.ContainsFunc(v.partsOf(o.Text("id"), "/blobServices/default/containers"), func(c world.Object) bool { return c.Text("properties", "publicAccess") != "None" })
	return o.Flag("properties", "allowBlobPublicAccess") && public
}

func openStorage(_ *checker, o world.Object) bool {
	return o.Text("properties", "networkAcls", "defaultAction") == "Allow" && o.Text("properties", "publicNetworkAccess") != "Disabled"
}

func oldKeys(v *checker, o world.Object) bool {
	return v.isOlder(o.Text("properties", "keyCreationTime", "key1"), 90) || v.isOlder(o.Text("properties", "keyCreationTime", "key2"), 90)
}

func publicLogs(v *checker, o world.Object) bool {
	return o.Flag("properties", "allowBlobPublicAccess") && v.logs[strings.ToLower(o.Text("id"))]
}

func anyAddress(v *checker, o world.Object) bool {
	return slices.ContainsFunc(v.partsOf(o.Text("id"), "/firewallRules"), func(r world.Object) bool {
		return r.Text("properties", "startIpAddress") == "0.0.0.0" && r.Text("properties", "endIpAddress") != "0.0.0.0" // 0.0.0.0 to 0.0.0.0 stands for Azure services
	})
}

// unexported is violated by a subscription without a setting that exports all
// categories.
func unexported(v *checker, _ world.Object) bool {
	for s := range v.each(settings) {
		var enabled []string
		for _, log := range s.Objects("properties", "logs") {
			if log.Flag("enabled") {
				enabled = append(enabled, log.Text("category"))
			}
		}
		if slices.Contains(enabled, "Administrative") && slices.Contains(enabled, "Alert") && slices.Contains(enabled, "Policy") && slices.Contains(enabled, "Security") {
			return false
		}
	}
	return true
}

// unwatched is violated by a subscription without an alert on security groups.
func unwatched(v *checker, _ world.Object) bool {
	for alert := range v.each(alerts) {
		matches := slices.ContainsFunc(alert.Objects("properties", "condition", "allOf"), func(c world.Object) bool {
			return c.Text("equals") == "Microsoft.Network/networkSecurityGroups/write"
		})
		if matches && alert.Flag("properties", "enabled") {
			return false
		}
	}
	return true
}

func unwatchedLocation(v *checker, o world.Object) bool {
	exists := func(arm string) bool {
		for other := range v.each(arm) {
			if other.Text("location") == o.Text("name") {
				return true
			}
		}
		return false
	}
	return exists(vnets) && !exists(watchers)
}

func unlogged(_ *checker, o world.Object) bool {
	return !slices.ContainsFunc(o.Objects(diagnosticSettings, "value"), func(s world.Object) bool {
		return slices.ContainsFunc(s.Objects("properties", "logs"), func(log world.Object) bool {
			return log.Flag("enabled") && (log.Text("category") == "AuditEvent" || log.Text("categoryGroup") == "allLogs")
		})
	})
}

func hasNoExpiry(_ *checker, o world.Object) bool {
	return o.Flag("properties", "attributes", "enabled") && o.Get("properties", "attributes", "exp") == nil
}

// exposedAdmin is violated by a machine that is reachable from the internet and
// has full access.
func exposedAdmin(v *checker, o world.Object) bool {
	if !v.admins[o.Text("identity", "principalId")] {
		return false
	}
	for _, n := range o.Objects("properties", "networkProfile", "networkInterfaces") {
		nic := v.find(n.Text("id"))
		for _, config := range nic.Objects("properties", "ipConfigurations") {
			subnet := v.find(config.Text("properties", "subnet", "id"))
			// Traffic passes the security groups of subnet and interface, where they have
			// one.
			var groups []world.Object
			for _, id := range []string{nic.Text("properties", "networkSecurityGroup", "id"), subnet.Text("properties", "networkSecurityGroup", "id")} {
				if group := v.find(id); group != nil {
					groups = append(groups, group)
				}
			}
			address := v.find(config.Text("properties", "publicIPAddress", "id"))
			if (reachesAny(groups, "tcp") || reachesAny(groups, "udp")) && (address.Text("properties", "ipAddress") != "" || v.isBalanced(nic.Text("id"))) {
				return true
			}
		}
	}
	return false
}

// isBalanced reports whether a load balancer with a public address has a network
// interface as a target.
func (c *checker) isBalanced(nic string) bool {
	for balancer := range c.each(loadBalancers) {
		isTarget := slices.ContainsFunc(balancer.Objects("properties", "backendAddressPools"), func(pool world.Object) bool {
			return slices.ContainsFunc(pool.Objects("properties", "backendIPConfigurations"), func(config world.Object) bool {
				return strings.HasPrefix(strings.ToLower(config.Text("id")), strings.ToLower(nic)+"/")
			})
		})
		public := slices.ContainsFunc(balancer.Objects("properties", "frontendIPConfigurations"), func(f world.Object) bool {
			return c.find(f.Text("properties", "publicIPAddress", "id")).Text("properties", "ipAddress") != ""
		})
		if isTarget && public {
			return true
		}
	}
	return false
}

// reaches reports whether everybody can connect to a port: the first matching
// rule decides.
func reaches(group world.Object, protocol string, port int) bool {
	rules := slices.Clone(group.Objects("properties", "securityRules"))
	slices.SortFunc(rules, func(a, b world.Object) int {
		return int(a.Number("properties", "priority") - b.Number("properties", "priority"))
	})
	for _, r := range rules {
		p, _ := r.Get("properties").(world.Object)
		source := p.Text("sourceAddressPrefix")
		if p.Text("direction") != "Inbound" || source != "*" && source != "0.0.0.0/0" && source != "Internet" {
			continue
		}
		if proto := strings.ToLower(p.Text("protocol")); proto != "*" && proto != protocol {
			continue
		}
		from, to := portsOf(p.Text("destinationPortRange"))
		if port >= from && port <= to {
			return p.Text("access") == "Allow"
		}
	}
	return false
}

// reachesAny reports whether everybody can connect to some port through all groups. It tries
// only the first port of each rule.
func reachesAny(groups []world.Object, protocol string) bool {
	return slices.ContainsFunc(groups, func(group world.Object) bool {
		return slices.ContainsFunc(group.Objects("properties", "securityRules"), func(r world.Object) bool {
			from, _ := portsOf(r.Text("properties", "destinationPortRange"))
			return !slices.ContainsFunc(groups, func(g world.Object) bool { return !reaches(g, protocol, from) })
		})
	})
}

func portsOf(text string) (from, to int) {
	if text == "*" {
		return 0, 65535
	}
	first, last, ranged := strings.Cut(text, "-")
	from, _ = strconv.Atoi(first)
	to = from
	if ranged {
		to, _ = strconv.Atoi(last)
	}
	return from, to
}
