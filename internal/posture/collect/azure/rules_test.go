package azure_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/sim/world"

	simazure "vigil/internal/sim/azure"
)

// A model holds the collected entities of a subscription.
type model map[posture.EntityID]*collect.Resource

func text(r *collect.Resource, name string) string {
	for _, p := range property(r, name) {
		return p.String
	}
	return ""
}

func texts(r *collect.Resource, name string) []string {
	var all []string
	for _, p := range property(r, name) {
		all = append(all, p.String)
	}
	return all
}

// hasFlag reports whether a bool property has a value; an absent one is neither true nor false.
func hasFlag(r *collect.Resource, name string, want bool) bool {
	return slices.Contains(property(r, name), posture.Flag(name, want))
}

func long(r *collect.Resource, name string) int64 {
	for _, p := range property(r, name) {
		return p.Long
	}
	return 0
}

// out returns the targets of the edges of a label.
func (m model) out(r *collect.Resource, label string, t posture.EntityType) []*collect.Resource {
	var all []*collect.Resource
	for _, e := range r.Edges {
		if other := m[e.To]; e.Label == label && other != nil && other.Type == t {
			all = append(all, other)
		}
	}
	return all
}

// in returns the sources of the edges of a label.
func (m model) in(r *collect.Resource, label string, t posture.EntityType) []*collect.Resource {
	var all []*collect.Resource
	for _, other := range m {
		if other.Type == t && slices.ContainsFunc(other.Edges, func(e posture.Edge) bool { return e.Label == label && e.To == r.ID }) {
			all = append(all, other)
		}
	}
	return all
}

// opensPort reports whether a security group allows traffic from the internet to a port, or to
// any port when port is negative.
func (m model) opensPort(r *collect.Resource, protocol string, port int64) bool {
	return slices.ContainsFunc(r.Edges, func(e posture.Edge) bool {
		if e.Label != "ALLOWS_INGRESS" || m[e.To] == nil || !hasFlag(m[e.To], "isInternet", true) {
			return false
		}
		values := map[string]posture.Property{}
		for _, p := range e.Properties {
			values[p.Name] = p
		}
		return values["protocol"].String == protocol && (port < 0 || values["fromPort"].Long <= port && port <= values["toPort"].Long)
	})
}

func containsAny(all []*collect.Resource, f func(*collect.Resource) bool) bool {
	return slices.ContainsFunc(all, f)
}

// judgements decide which entities violate each rule. They use only properties and edges
// that the schema declares. Some check a fact in two ways, because both must be collected.
var judgements = map[string]struct {
	resourceType posture.EntityType
	violated     func(m model, r *collect.Resource) bool
}{
	"azure-entra-security-defaults": {"Azure.Entra.Tenant", func(_ model, r *collect.Resource) bool {
		return hasFlag(r, "securityDefaultsEnabled", false) && hasFlag(r, "mfaForAllUsers", false)
	}},
	"azure-entra-privileged-mfa": {"Azure.Entra.User", func(m model, r *collect.Resource) bool {
		return hasFlag(r, "isMfaRegistered", false) && containsAny(m.out(r, "MEMBER_OF", "Azure.Entra.DirectoryRole"), func(role *collect.Resource) bool { return hasFlag(role, "isPrivileged", true) })
	}},
	"azure-entra-users-register-apps": {"Azure.Entra.Tenant", func(_ model, r *collect.Resource) bool { return hasFlag(r, "allowedToCreateApps", true) }},
	"azure-iam-custom-owner-role": {"Azure.Authorization.RoleDefinition", func(_ model, r *collect.Resource) bool {
		// The root or a whole subscription; the scopes of resource groups have more parts.
		wide := slices.ContainsFunc(texts(r, "assignableScopes"), func(s string) bool { return s == "/" || strings.Count(s, "/") == 2 })
		return text(r, "roleType") == "CustomRole" && slices.Contains(texts(r, "actions"), "*") && wide && hasFlag(r, "assignableToSubscription", true) && hasFlag(r, "allowsEverything", true)
	}},
	"azure-defender-servers":   {"Azure.Security.Pricing", planOff("VirtualMachines")},
	"azure-defender-storage":   {"Azure.Security.Pricing", planOff("StorageAccounts")},
	"azure-defender-sql":       {"Azure.Security.Pricing", planOff("SqlServers")},
	"azure-defender-keyvault":  {"Azure.Security.Pricing", planOff("KeyVaults")},
	"azure-security-contact":   {"Azure.Security.SecurityContact", func(_ model, r *collect.Resource) bool { return len(texts(r, "emails")) == 0 }},
	"azure-storage-https-only": {"Azure.Storage.StorageAccount", func(_ model, r *collect.Resource) bool { return hasFlag(r, "supportsHttpsTrafficOnly", false) }},
	"azure-storage-public-blob": {"Azure.Storage.StorageAccount", func(m model, r *collect.Resource) bool {
		return hasFlag(r, "allowBlobPublicAccess", true) && containsAny(m.out(r, "HAS", "Azure.Storage.BlobContainer"), func(c *collect.Resource) bool { return text(c, "publicAccess") != "None" })
	}},
	"azure-storage-default-deny": {"Azure.Storage.StorageAccount", func(_ model, r *collect.Resource) bool {
		return text(r, "networkAclsDefaultAction") == "Allow" && text(r, "publicNetworkAccess") != "Disabled" && hasFlag(r, "openToInternet", true)
	}},
	"azure-storage-min-tls": {"Azure.Storage.StorageAccount", func(_ model, r *collect.Resource) bool { return text(r, "minimumTlsVersion") < "TLS1_2" }},
	"azure-storage-soft-delete": {"Azure.Storage.BlobService", func(_ model, r *collect.Resource) bool {
		return hasFlag(r, "deleteRetentionEnabled", false) || hasFlag(r, "containerDeleteRetentionEnabled", false)
	}},
	"azure-storage-cmk": {"Azure.Storage.StorageAccount", func(m model, r *collect.Resource) bool {
		return text(r, "encryptionKeySource") != "Microsoft.Keyvault" && len(m.out(r, "ENCRYPTED_BY", "Azure.KeyVault.Key")) == 0
	}},
	"azure-storage-key-rotation": {"Azure.Storage.StorageAccount", func(_ model, r *collect.Resource) bool {
		limit := today.AddDate(0, 0, -90).Format(time.RFC3339)
		return text(r, "keyCreationTime1") < limit || text(r, "keyCreationTime2") < limit
	}},
	"azure-sql-firewall-any": {"Azure.Sql.Server", func(m model, r *collect.Resource) bool {
		return containsAny(m.out(r, "HAS", "Azure.Sql.FirewallRule"), func(f *collect.Resource) bool {
			return text(f, "startIpAddress") == "0.0.0.0" && text(f, "endIpAddress") == "255.255.255.255"
		})
	}},
	"azure-sql-auditing": {"Azure.Sql.Server", func(_ model, r *collect.Resource) bool { return text(r, "auditingState") != "Enabled" }},
	"azure-sql-tde": {"Azure.Sql.Database", func(m model, r *collect.Resource) bool {
		return hasFlag(r, "isSystem", false) && text(r, "tdeState") != "Enabled" && len(m.in(r, "HAS", "Azure.Sql.Server")) == 1
	}},
	"azure-sql-entra-admin": {"Azure.Sql.Server", func(_ model, r *collect.Resource) bool { return text(r, "administrators") == "" }},
	"azure-postgres-tls":    {"Azure.PostgreSQL.FlexibleServer", func(_ model, r *collect.Resource) bool { return hasFlag(r, "requireSecureTransport", false) }},
	"azure-mysql-tls": {"Azure.MySQL.FlexibleServer", func(_ model, r *collect.Resource) bool {
		return hasFlag(r, "requireSecureTransport", false) || !strings.Contains(text(r, "tlsVersion"), "TLSv1.2")
	}},
	"azure-cosmosdb-network": {"Azure.DocumentDB.DatabaseAccount", func(_ model, r *collect.Resource) bool {
		return hasFlag(r, "isVirtualNetworkFilterEnabled", false) && len(texts(r, "ipRules")) == 0 && text(r, "publicNetworkAccess") != "Disabled" && hasFlag(r, "openToInternet", true)
	}},
	"azure-monitor-activity-log": {"Azure.Subscription.Subscription", func(_ model, r *collect.Resource) bool {
		logs := texts(r, "logs")
		return !slices.Contains(logs, "Administrative") || !slices.Contains(logs, "Alert") || !slices.Contains(logs, "Policy") || !slices.Contains(logs, "Security")
	}},
	"azure-monitor-log-storage-public": {"Azure.Storage.StorageAccount", func(m model, r *collect.Resource) bool {
		return hasFlag(r, "allowBlobPublicAccess", true) && len(m.in(r, "LOGS_TO", "Azure.Subscription.Subscription")) > 0
	}},
	"azure-monitor-nsg-alert": {"Azure.Subscription.Subscription", func(m model, r *collect.Resource) bool {
		const operation = "Microsoft.Network/networkSecurityGroups/write"
		alert := containsAny(m.out(r, "HAS", "Azure.Monitor.ActivityLogAlert"), func(a *collect.Resource) bool {
			return hasFlag(a, "enabled", true) && slices.Contains(texts(a, "conditions"), "operationName = "+operation)
		})
		return !alert && !slices.Contains(texts(r, "alertedOperations"), strings.ToLower(operation))
	}},
	"azure-nsg-rdp-open": {"Azure.Network.NetworkSecurityGroup", func(m model, r *collect.Resource) bool { return m.opensPort(r, "tcp", 3389) }},
	"azure-nsg-ssh-open": {"Azure.Network.NetworkSecurityGroup", func(m model, r *collect.Resource) bool { return m.opensPort(r, "tcp", 22) }},
	"azure-nsg-udp-open": {"Azure.Network.NetworkSecurityGroup", func(m model, r *collect.Resource) bool {
		return m.opensPort(r, "udp", -1) && len(texts(r, "internetUdpPorts")) > 0
	}},
	"azure-network-watcher": {"Azure.Subscription.Location", func(m model, r *collect.Resource) bool {
		return long(r, "virtualNetworkCount") > 0 && long(r, "networkWatcherCount") == 0 && len(m.in(r, "LOCATED_IN", "Azure.Network.VirtualNetwork")) > 0
	}},
	"azure-nsg-flow-log-retention": {"Azure.Network.FlowLog", func(m model, r *collect.Resource) bool {
		days := long(r, "retentionDays") // 0 keeps the log for ever
		return (hasFlag(r, "enabled", false) || days >= 1 && days <= 89) && len(m.out(r, "TARGETS", "Azure.Network.NetworkSecurityGroup")) == 1
	}},
	"azure-vm-managed-disks": {"Azure.Compute.VirtualMachine", func(_ model, r *collect.Resource) bool { return hasFlag(r, "osDiskManagedDisk", false) }},
	"azure-disk-unattached-cmk": {"Azure.Compute.Disk", func(_ model, r *collect.Resource) bool {
		return text(r, "diskState") == "Unattached" && text(r, "encryptionType") == "EncryptionAtRestWithPlatformKey"
	}},
	"azure-vm-exposed-privileged": {"Azure.Compute.VirtualMachine", isExposedAdmin},
	"azure-keyvault-recoverable": {"Azure.KeyVault.Vault", func(_ model, r *collect.Resource) bool {
		return hasFlag(r, "enablePurgeProtection", false) || hasFlag(r, "enableSoftDelete", false)
	}},
	"azure-keyvault-key-expiry":    {"Azure.KeyVault.Key", neverExpires},
	"azure-keyvault-secret-expiry": {"Azure.KeyVault.Secret", neverExpires},
	"azure-keyvault-logging": {"Azure.KeyVault.Vault", func(_ model, r *collect.Resource) bool {
		return !slices.Contains(texts(r, "logs"), "AuditEvent") && !slices.Contains(texts(r, "logs"), "allLogs")
	}},
	"azure-app-https-only":       {"Azure.Web.Site", func(_ model, r *collect.Resource) bool { return hasFlag(r, "httpsOnly", false) }},
	"azure-app-min-tls":          {"Azure.Web.Site", func(_ model, r *collect.Resource) bool { return text(r, "minTlsVersion") < "1.2" }},
	"azure-app-ftp":              {"Azure.Web.Site", func(_ model, r *collect.Resource) bool { return text(r, "ftpsState") == "AllAllowed" }},
	"azure-app-managed-identity": {"Azure.Web.Site", func(_ model, r *collect.Resource) bool { return text(r, "identityType") == "None" }},
	"azure-aks-rbac":             {"Azure.ContainerService.ManagedCluster", func(_ model, r *collect.Resource) bool { return hasFlag(r, "enableRBAC", false) }},
	"azure-aks-api-public": {"Azure.ContainerService.ManagedCluster", func(_ model, r *collect.Resource) bool {
		return hasFlag(r, "enablePrivateCluster", false) && len(texts(r, "authorizedIPRanges")) == 0
	}},
}

func planOff(name string) func(model, *collect.Resource) bool {
	return func(_ model, r *collect.Resource) bool {
		return text(r, "name") == name && text(r, "pricingTier") != "Standard"
	}
}

func neverExpires(_ model, r *collect.Resource) bool {
	return hasFlag(r, "enabled", true) && len(property(r, "exp")) == 0
}

func isExposedAdmin(m model, r *collect.Resource) bool {
	admin := containsAny(m.out(r, "HAS_IDENTITY", "Azure.Authorization.Principal"), func(p *collect.Resource) bool {
		return hasFlag(p, "isSubscriptionAdmin", true) && containsAny(m.out(p, "ASSIGNED", "Azure.Authorization.RoleDefinition"), func(d *collect.Resource) bool {
			return text(d, "roleName") == "Owner" || text(d, "roleName") == "Contributor"
		})
	})
	return admin && containsAny(m.out(r, "HAS", "Azure.Network.NetworkInterface"), func(nic *collect.Resource) bool {
		guards := m.in(nic, "GUARDS", "Azure.Network.NetworkSecurityGroup")
		for _, subnet := range m.out(nic, "IN_SUBNET", "Azure.Network.Subnet") {
			guards = append(guards, m.in(subnet, "GUARDS", "Azure.Network.NetworkSecurityGroup")...)
		}
		return containsAny(m.out(nic, "HAS_IP", "Azure.Network.PublicIPAddress"), func(ip *collect.Resource) bool { return text(ip, "ipAddress") != "" }) &&
			slices.ContainsFunc([]int64{22, 53, 443, 3389}, func(port int64) bool { // ports that the simulation opens
				return m.openThrough(guards, "tcp", port) || m.openThrough(guards, "udp", port)
			})
	})
}

// openThrough reports whether there are security groups and all of them allow traffic from the
// internet to a port.
func (m model) openThrough(groups []*collect.Resource, protocol string, port int64) bool {
	return len(groups) > 0 && !containsAny(groups, func(g *collect.Resource) bool { return !m.opensPort(g, protocol, port) })
}

// TestRulesFindExpectedFlaws collects simulations with different shares of
// flaws and expects to find exactly those flaws in the entities.
func TestRulesFindExpectedFlaws(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]simazure.Options{
		"half":       {Size: 200, Shares: half, Page: 9, Seed: 3},
		"none":       {Size: 60, Shares: world.Shares{}},
		"all":        {Size: 60, Shares: world.Shares{Default: 1}},
		"government": {Size: 100, Shares: world.Shares{Default: 0.3}, Government: 1, Seed: 11},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, o)
			got := findings(listAll(t, r.open(t, r.access(0))))
			want := map[world.Finding]bool{}
			for f := range r.Findings(r.Subscriptions()[0].ID) {
				want[f] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-world +read):\n%s", diff)
			}
			if len(want) == 0 && name != "none" {
				t.Error("the simulation has no flaws")
			}
		})
	}
}

func findings(m model) map[world.Finding]bool {
	got := map[world.Finding]bool{}
	for rule, j := range judgements {
		for id, r := range m {
			if r.Type == j.resourceType && j.violated(m, r) {
				got[world.Finding{Rule: rule, Entity: id}] = true
			}
		}
	}
	return got
}
