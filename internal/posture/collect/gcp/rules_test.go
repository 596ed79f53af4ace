package gcp_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/collecttest"
	simgcp "vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
)

// A model holds the collected entities of a project.
type model map[posture.EntityID]posture.Entity

func values(e posture.Entity, name string) []posture.Property {
	var all []posture.Property
	for _, p := range e.Properties {
		if p.Name == name {
			all = append(all, p)
		}
	}
	return all
}

func text(e posture.Entity, name string) string {
	p, _ := property(e, name)
	return p.String
}

func texts(e posture.Entity, name string) []string {
	var all []string
	for _, p := range values(e, name) {
		all = append(all, p.String)
	}
	return all
}

// hasFlag reports whether a bool property has a value; an absent one is neither true nor false.
func hasFlag(e posture.Entity, name string, want bool) bool {
	return slices.Contains(values(e, name), posture.Flag(name, want))
}

// out returns the targets of the edges of a label.
func (m model) out(e posture.Entity, label string, t posture.EntityType) []posture.Entity {
	var all []posture.Entity
	for _, edge := range e.Edges {
		if other, ok := m[edge.To]; ok && edge.Label == label && other.Type == t {
			all = append(all, other)
		}
	}
	return all
}

// in returns the sources of the edges of a label.
func (m model) in(e posture.Entity, label string, t posture.EntityType) []posture.Entity {
	var all []posture.Entity
	for _, other := range m {
		if other.Type == t && slices.ContainsFunc(other.Edges, func(edge posture.Edge) bool { return edge.Label == label && edge.To == e.ID }) {
			all = append(all, other)
		}
	}
	return all
}

// opensPorts reports whether a firewall rule allows everybody to reach a range of ports.
func (m model) opensPorts(e posture.Entity, from, to int64, protocols ...string) bool {
	return hasFlag(e, "disabled", false) && text(e, "direction") == "INGRESS" && slices.ContainsFunc(e.Edges, func(edge posture.Edge) bool {
		properties := map[string]posture.Property{}
		for _, p := range edge.Properties {
			properties[p.Name] = p
		}
		source := m[edge.To]
		return edge.Label == "ALLOWS_INGRESS" && hasFlag(source, "anybody", true) && slices.Contains(protocols, properties["protocol"].String) &&
			properties["fromPort"].Long <= from && to <= properties["toPort"].Long
	})
}

// isAdmin reports whether a service account has a role that controls the project,
// granted on the project or inherited.
func (m model) isAdmin(e posture.Entity) bool {
	return containsAny(m.out(e, "BOUND_TO", "GCP.IAM.Role"), func(r posture.Entity) bool { return hasFlag(r, "privileged", true) }) ||
		slices.Contains(texts(e, "inheritedBindings"), "roles/owner")
}

func containsAny(all []posture.Entity, f func(posture.Entity) bool) bool {
	return slices.ContainsFunc(all, f)
}

// impersonation matches bindings that let people act as every service account of a project.
var impersonation = regexp.MustCompile(`^roles/iam\.serviceAccount(User|TokenCreator) (user|group|domain):`)

var ninetyDaysAgo = today.AddDate(0, 0, -90).Format(time.RFC3339)

// defaultAccountSuffix ends the email of the default service account of Compute Engine.
const defaultAccountSuffix = "-compute@developer.gserviceaccount.com"

// judgements decide which entities violate each rule. They use only properties
// and edges that the schema declares. Many of them check the values that Google returns
// and also the property that Vigil derives from these values.
var judgements = map[string]struct {
	resourceType posture.EntityType
	violated     func(m model, e posture.Entity) bool
}{
	"gcp-iam-sa-admin-role": {"GCP.IAM.ServiceAccount", func(m model, e posture.Entity) bool {
		return hasFlag(e, "userManaged", true) && m.isAdmin(e) && hasFlag(e, "privileged", true)
	}},
	"gcp-iam-sa-user-keys": {"GCP.IAM.ServiceAccountKey", func(m model, e posture.Entity) bool {
		return text(e, "keyType") == "USER_MANAGED" && len(m.in(e, "HAS", "GCP.IAM.ServiceAccount")) == 1
	}},
	"gcp-iam-sa-key-age-90": {"GCP.IAM.ServiceAccountKey", func(_ model, e posture.Entity) bool {
		return text(e, "keyType") == "USER_MANAGED" && text(e, "validAfterTime") < ninetyDaysAgo
	}},
	"gcp-iam-impersonation-project-level": {"GCP.CloudResourceManager.Project", func(_ model, e posture.Entity) bool {
		return slices.ContainsFunc(texts(e, "bindings"), func(b string) bool {
			return impersonation.MatchString(b)
		})
	}},
	"gcp-iam-sa-separation": {"GCP.CloudResourceManager.Project", func(m model, e posture.Entity) bool {
		return containsAny(m.out(e, "GRANTS", "GCP.IAM.Principal"), func(p posture.Entity) bool {
			roles := texts(p, "bindings")
			return slices.Contains(roles, "roles/iam.serviceAccountAdmin") && slices.Contains(roles, "roles/iam.serviceAccountUser")
		})
	}},
	"gcp-kms-key-public": {"GCP.KMS.CryptoKey", func(_ model, e posture.Entity) bool {
		return hasFlag(e, "allUsers", true) || hasFlag(e, "allAuthenticatedUsers", true)
	}},
	"gcp-kms-rotation-90": {"GCP.KMS.CryptoKey", func(_ model, e posture.Entity) bool {
		days, ok := property(e, "rotationPeriodDays")
		return text(e, "purpose") == "ENCRYPT_DECRYPT" && (!ok || days.Long > 90)
	}},
	"gcp-apikey-api-restrictions": {"GCP.APIKeys.Key", func(_ model, e posture.Entity) bool { return !slices.Contains(texts(e, "restrictions"), "apiTargets") }},
	"gcp-apikey-age-90":           {"GCP.APIKeys.Key", func(_ model, e posture.Entity) bool { return text(e, "createTime") < ninetyDaysAgo }},
	"gcp-audit-log-config": {"GCP.CloudResourceManager.Project", func(_ model, e posture.Entity) bool {
		logs := texts(e, "auditConfigs")
		all := slices.Contains(logs, "allServices ADMIN_READ") && slices.Contains(logs, "allServices DATA_READ") && slices.Contains(logs, "allServices DATA_WRITE")
		return (!all || len(texts(e, "auditExemptedMembers")) > 0) && hasFlag(e, "auditsAllServices", false)
	}},
	"gcp-logging-sink-all": {"GCP.CloudResourceManager.Project", func(m model, e posture.Entity) bool {
		all := containsAny(m.out(e, "HAS", "GCP.Logging.Sink"), func(s posture.Entity) bool { return text(s, "filter") == "" && text(s, "destination") != "" })
		return !all && hasFlag(e, "exportsAllLogs", false)
	}},
	"gcp-log-bucket-retention-lock": {"GCP.Storage.Bucket", func(m model, e posture.Entity) bool {
		return hasFlag(e, "retentionPolicyIsLocked", false) && len(m.in(e, "WRITES_TO", "GCP.Logging.Sink")) > 0
	}},
	"gcp-alert-ownership-change": {"GCP.CloudResourceManager.Project", func(m model, e posture.Entity) bool {
		watched := containsAny(m.out(e, "HAS", "GCP.Logging.Metric"), func(l posture.Entity) bool {
			return strings.Contains(text(l, "filter"), "ProjectOwnership") && len(m.out(l, "WATCHED_BY", "GCP.Monitoring.AlertPolicy")) > 0 && hasFlag(l, "watched", true)
		})
		return !watched && hasFlag(e, "watchesOwnership", false)
	}},
	"gcp-dns-logging": {"GCP.Compute.Network", func(m model, e posture.Entity) bool {
		logged := containsAny(m.in(e, "APPLIES_TO", "GCP.DNS.Policy"), func(p posture.Entity) bool { return hasFlag(p, "enableLogging", true) })
		return !logged && hasFlag(e, "dnsLogging", false)
	}},
	"gcp-default-network": {"GCP.Compute.Network", func(_ model, e posture.Entity) bool { return text(e, "name") == "default" }},
	"gcp-dnssec": {"GCP.DNS.ManagedZone", func(_ model, e posture.Entity) bool {
		return text(e, "visibility") == "public" && text(e, "dnssecState") != "on"
	}},
	"gcp-fw-ssh-open": {"GCP.Compute.Firewall", func(m model, e posture.Entity) bool {
		return m.opensPorts(e, 22, 22, "tcp", "all") && hasFlag(e, "opensSsh", true)
	}},
	"gcp-fw-rdp-open": {"GCP.Compute.Firewall", func(m model, e posture.Entity) bool {
		return m.opensPorts(e, 3389, 3389, "tcp", "all") && hasFlag(e, "opensRdp", true)
	}},
	"gcp-fw-all-open": {"GCP.Compute.Firewall", func(m model, e posture.Entity) bool {
		return m.opensPorts(e, 1, 65535, "tcp", "udp", "all") && slices.Contains(texts(e, "sourceRanges"), "0.0.0.0/0") && len(m.out(e, "GUARDS", "GCP.Compute.Network")) == 1
	}},
	"gcp-subnet-flow-logs": {"GCP.Compute.Subnetwork", func(m model, e posture.Entity) bool {
		return text(e, "purpose") == "PRIVATE" && hasFlag(e, "logConfigEnable", false) && len(m.out(e, "IN", "GCP.Compute.Network")) == 1
	}},
	"gcp-vm-default-sa": {"GCP.Compute.Instance", func(m model, e posture.Entity) bool {
		return hasFlag(e, "gkeNode", false) && hasFlag(e, "usesDefaultServiceAccount", true) && strings.HasSuffix(text(e, "serviceAccounts"), defaultAccountSuffix) && len(m.out(e, "RUNS_AS", "GCP.IAM.ServiceAccount")) == 1
	}},
	"gcp-vm-default-sa-full-scope": {"GCP.Compute.Instance", func(_ model, e posture.Entity) bool {
		return hasFlag(e, "usesDefaultServiceAccount", true) && hasFlag(e, "fullApiAccess", true) && hasFlag(e, "gkeNode", false)
	}},
	"gcp-vm-public-ip": {"GCP.Compute.Instance", func(m model, e posture.Entity) bool {
		return hasFlag(e, "gkeNode", false) && len(texts(e, "natIP")) > 0 && len(m.out(e, "HAS_IP", "GCP.Compute.PublicIp")) == 1
	}},
	"gcp-vm-project-ssh-keys": {"GCP.Compute.Instance", func(m model, e posture.Entity) bool {
		onInProject := containsAny(m.out(e, "SETTINGS_OF", "GCP.Compute.Project"), func(p posture.Entity) bool { return hasFlag(p, "osLogin", true) })
		offInInstance := hasFlag(e, "osLogin", false)
		if hasFlag(e, "osLogin", true) || onInProject && !offInInstance {
			return false
		}
		return hasFlag(e, "gkeNode", false) && !slices.Contains(texts(e, "metadata"), "block-project-ssh-keys=true") && hasFlag(e, "blockProjectSshKeys", false)
	}},
	"gcp-project-oslogin": {"GCP.Compute.Project", func(m model, e posture.Entity) bool {
		overridden := containsAny(m.in(e, "SETTINGS_OF", "GCP.Compute.Instance"), func(i posture.Entity) bool { return hasFlag(i, "osLogin", false) && hasFlag(i, "gkeNode", false) })
		return overridden || !slices.Contains(texts(e, "commonInstanceMetadata"), "enable-oslogin=TRUE") && hasFlag(e, "osLogin", false)
	}},
	"gcp-vm-serial-port": {"GCP.Compute.Instance", func(_ model, e posture.Entity) bool {
		return hasFlag(e, "serialPortEnable", true) && slices.ContainsFunc(texts(e, "metadata"), func(s string) bool { return strings.HasPrefix(s, "serial-port-enable=") })
	}},
	"gcp-vm-ip-forward": {"GCP.Compute.Instance", func(_ model, e posture.Entity) bool {
		return hasFlag(e, "canIpForward", true) && hasFlag(e, "gkeNode", false)
	}},
	"gcp-vm-shielded": {"GCP.Compute.Instance", func(_ model, e posture.Entity) bool {
		return hasFlag(e, "enableVtpm", false) || hasFlag(e, "enableIntegrityMonitoring", false)
	}},
	"gcp-vm-exposed-privileged": {"GCP.Compute.Instance", isExposedAdmin},
	"gcp-storage-public": {"GCP.Storage.Bucket", func(_ model, e posture.Entity) bool {
		return (hasFlag(e, "allUsers", true) || hasFlag(e, "allAuthenticatedUsers", true) || hasFlag(e, "publicAcl", true)) && text(e, "publicAccessPrevention") != "enforced" && hasFlag(e, "public", true)
	}},
	"gcp-storage-uniform-access": {"GCP.Storage.Bucket", func(_ model, e posture.Entity) bool { return hasFlag(e, "uniformBucketLevelAccess", false) }},
	"gcp-sql-authorized-any": {"GCP.SQL.Instance", func(_ model, e posture.Entity) bool {
		return slices.Contains(texts(e, "authorizedNetworks"), "0.0.0.0/0") && hasFlag(e, "openToInternet", true)
	}},
	"gcp-sql-ssl": {"GCP.SQL.Instance", func(_ model, e posture.Entity) bool {
		return !slices.Contains([]string{"ENCRYPTED_ONLY", "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"}, text(e, "sslMode")) && hasFlag(e, "requireSsl", false)
	}},
	"gcp-sql-public-ip": {"GCP.SQL.Instance", func(_ model, e posture.Entity) bool {
		return hasFlag(e, "ipv4Enabled", true) && slices.ContainsFunc(texts(e, "ipAddresses"), func(s string) bool { return strings.HasPrefix(s, "PRIMARY ") })
	}},
	"gcp-sql-backup": {"GCP.SQL.Instance", func(_ model, e posture.Entity) bool {
		return hasFlag(e, "backupEnabled", false) && text(e, "instanceType") != "READ_REPLICA_INSTANCE"
	}},
	"gcp-bigquery-public": {"GCP.BigQuery.Dataset", func(_ model, e posture.Entity) bool {
		listed := slices.ContainsFunc(texts(e, "access"), func(s string) bool {
			return strings.HasSuffix(s, ":allUsers") || strings.HasSuffix(s, ":allAuthenticatedUsers")
		})
		return listed && (hasFlag(e, "allUsers", true) || hasFlag(e, "allAuthenticatedUsers", true))
	}},
	"gcp-bigquery-cmek": {"GCP.BigQuery.Dataset", func(m model, e posture.Entity) bool {
		return text(e, "kmsKeyName") == "" && len(m.out(e, "ENCRYPTED_BY", "GCP.KMS.CryptoKey")) == 0
	}},
	"gcp-gke-public-endpoint": {"GCP.Container.Cluster", func(_ model, e posture.Entity) bool {
		return hasFlag(e, "enablePrivateEndpoint", false) && hasFlag(e, "masterAuthorizedNetworksEnabled", false) && len(texts(e, "masterAuthorizedNetworks")) == 0 && hasFlag(e, "openToInternet", true)
	}},
	"gcp-gke-default-sa": {"GCP.Container.Cluster", func(m model, e posture.Entity) bool {
		standard := containsAny(m.out(e, "RUNS_AS", "GCP.IAM.ServiceAccount"), func(s posture.Entity) bool { return strings.HasSuffix(text(s, "email"), defaultAccountSuffix) })
		return standard && hasFlag(e, "nodesUseDefaultServiceAccount", true)
	}},
	"gcp-iam-admin-key": {"GCP.IAM.ServiceAccountKey", func(m model, e posture.Entity) bool {
		return text(e, "keyType") == "USER_MANAGED" && hasFlag(e, "disabled", false) && containsAny(m.out(e, "OPENS", "GCP.IAM.ServiceAccount"), func(s posture.Entity) bool {
			return hasFlag(s, "privileged", true) && hasFlag(s, "disabled", false)
		})
	}},
	"gcp-kms-key-dead-in-use": {"GCP.KMS.CryptoKey", func(m model, e posture.Entity) bool {
		used := false
		for _, other := range m {
			used = used || slices.ContainsFunc(other.Edges, func(edge posture.Edge) bool { return edge.Label == "ENCRYPTED_BY" && edge.To == e.ID })
		}
		return text(e, "primaryState") == "DISABLED" && used
	}},
	"gcp-storage-log-bucket-public": {"GCP.Storage.Bucket", func(m model, e posture.Entity) bool {
		public := hasFlag(e, "allUsers", true) || hasFlag(e, "allAuthenticatedUsers", true) || hasFlag(e, "publicAcl", true)
		return public && text(e, "publicAccessPrevention") != "enforced" && len(m.in(e, "WRITES_TO", "GCP.Logging.Sink")) > 0
	}},
	"gcp-function-public-privileged": {"GCP.CloudFunctions.Function", func(m model, e posture.Entity) bool {
		return hasFlag(e, "public", true) && containsAny(m.out(e, "RUNS_AS", "GCP.IAM.ServiceAccount"), func(s posture.Entity) bool { return hasFlag(s, "privileged", true) })
	}},
	"gcp-function-public": {"GCP.CloudFunctions.Function", func(_ model, e posture.Entity) bool {
		return hasFlag(e, "allUsers", true) && text(e, "ingressSettings") == "ALLOW_ALL" && hasFlag(e, "public", true)
	}},
}

func isExposedAdmin(m model, e posture.Entity) bool {
	admin := containsAny(m.out(e, "RUNS_AS", "GCP.IAM.ServiceAccount"), func(s posture.Entity) bool {
		return m.isAdmin(s)
	})
	return admin && hasFlag(e, "wideScopes", true) && len(texts(e, "natIP")) > 0 && containsAny(m.out(e, "IN", "GCP.Compute.Network"), func(n posture.Entity) bool {
		return containsAny(m.in(n, "GUARDS", "GCP.Compute.Firewall"), func(f posture.Entity) bool {
			tagged := slices.ContainsFunc(texts(f, "targetTags"), func(t string) bool { return slices.Contains(texts(e, "networkTags"), t) })
			sameAccount := slices.ContainsFunc(texts(f, "targetServiceAccounts"), func(a string) bool { return slices.Contains(texts(e, "serviceAccounts"), a) })
			ipv4 := slices.Contains(texts(f, "sourceRanges"), "0.0.0.0/0") // simulated instances have only IPv4 addresses
			return hasFlag(f, "openToInternet", true) && ipv4 && hasFlag(e, "internetReachable", true) && (hasFlag(f, "appliesToAll", true) || tagged || sameAccount)
		})
	})
}

// TestRulesFindExpectedFlaws collects simulations with different shares of flaws and expects to
// find exactly those flaws in the entities.
func TestRulesFindExpectedFlaws(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]simgcp.Options{
		"half": {Size: 300, Shares: world.Shares{Default: 0.5}, Page: 9, Seed: 3, Projects: 2},
		"few":  {Size: 100, Shares: world.Shares{Default: 0.1}, Seed: 5, Projects: 2},
		"none": {Size: 60, Shares: world.Shares{Default: -1}, Projects: 2},
		"all":  {Size: 60, Shares: world.Shares{Default: 1}, Projects: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, o)
			raised := map[string]bool{}
			for i, p := range c.Projects() {
				got := findings(collecttest.All(t, c.source(), c.access(i)).Entities)
				want := map[world.Finding]bool{}
				for f := range c.Findings(p.ID) {
					want[f], raised[f.Rule] = true, true
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: findings (-world +read):\n%s", p.ID, diff)
				}
			}
			for rule := range judgements {
				if name == "all" && !raised[rule] || name == "none" && raised[rule] {
					t.Errorf("%s: has findings: %v", rule, raised[rule])
				}
			}
		})
	}
}

func findings(m model) map[world.Finding]bool {
	got := map[world.Finding]bool{}
	for rule, j := range judgements {
		for id, e := range m {
			if e.Type == j.resourceType && j.violated(m, e) {
				got[world.Finding{Rule: rule, Entity: id}] = true
			}
		}
	}
	return got
}
