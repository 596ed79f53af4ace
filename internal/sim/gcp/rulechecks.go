package gcp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// ruleChecks has the checks by type and rule. The checks are written from the rules'
// conditions, independently of the product.
var ruleChecks = map[posture.EntityType]map[string]ruleCheck{
	accountType: {"gcp-iam-sa-admin-role": func(v *checker, o world.Object) bool {
		// Only user-managed accounts. The default one ends in @developer.gserviceaccount.com.
		return v.admins[o.Text("email")] && strings.HasSuffix(o.Text("email"), ".iam.gserviceaccount.com")
	}},
	keyType: {
		"gcp-iam-sa-user-keys": func(_ *checker, o world.Object) bool { return o.Text("keyType") == "USER_MANAGED" },
		"gcp-iam-sa-key-age-90": func(v *checker, o world.Object) bool {
			return o.Text("keyType") == "USER_MANAGED" && v.isOlder(o.Text("validAfterTime"), 90)
		},
		"gcp-iam-admin-key": func(v *checker, o world.Object) bool {
			return o.Text("keyType") == "USER_MANAGED" && !o.Flag("disabled") && v.admins[v.parent] && !v.disabled[v.parent]
		},
	},
	projectType: {
		"gcp-iam-impersonation-project-level": impersonation,
		"gcp-iam-sa-separation":               unseparated,
		"gcp-audit-log-config":                unaudited,
		"gcp-logging-sink-all":                unexported,
		"gcp-alert-ownership-change":          unwatched,
	},
	cryptoType: {
		"gcp-kms-key-public": func(v *checker, o world.Object) bool { return isPublic(o) || v.rings[v.parent] },
		"gcp-kms-rotation-90": func(_ *checker, o world.Object) bool {
			seconds, err := strconv.Atoi(strings.TrimSuffix(o.Text("rotationPeriod"), "s"))
			return o.Text("purpose") == "ENCRYPT_DECRYPT" && (err != nil || seconds > 90*24*3600)
		},
		"gcp-kms-key-dead-in-use": func(v *checker, o world.Object) bool {
			return slices.Contains([]string{"DISABLED", "DESTROY_SCHEDULED", "DESTROYED"}, o.Text("primary", "state")) && v.keys[o.Text("name")]
		},
	},
	apiKeyType: {
		"gcp-apikey-api-restrictions": func(_ *checker, o world.Object) bool { return len(o.List("restrictions", "apiTargets")) == 0 },
		"gcp-apikey-age-90":           func(v *checker, o world.Object) bool { return v.isOlder(o.Text("createTime"), 90) },
	},
	bucketType: {
		"gcp-log-bucket-retention-lock": func(v *checker, o world.Object) bool {
			return v.logs[o.Text("name")] && !o.Flag("retentionPolicy", "isLocked")
		},
		"gcp-storage-public": func(_ *checker, o world.Object) bool {
			return isPublicBucket(o)
		},
		"gcp-storage-log-bucket-public": func(v *checker, o world.Object) bool { return v.logs[o.Text("name")] && isPublicBucket(o) },
		"gcp-storage-uniform-access":    isFalse("iamConfiguration", "uniformBucketLevelAccess", "enabled"),
	},
	networkType: {
		"gcp-dns-logging":     func(v *checker, o world.Object) bool { return !v.logged[o.Text("name")] },
		"gcp-default-network": func(_ *checker, o world.Object) bool { return o.Text("name") == "default" },
	},
	zoneType: {"gcp-dnssec": func(_ *checker, o world.Object) bool {
		return o.Text("visibility") == "public" && o.Text("dnssecConfig", "state") != "on"
	}},
	firewallType: {
		"gcp-fw-ssh-open": func(_ *checker, o world.Object) bool { return allowsIngress(o) && allows(o, 22) },
		"gcp-fw-rdp-open": func(_ *checker, o world.Object) bool { return allowsIngress(o) && allows(o, 3389) },
		"gcp-fw-all-open": func(_ *checker, o world.Object) bool { return allowsIngress(o, "0.0.0.0/0") && allowsAll(o) },
	},
	subnetType: {"gcp-subnet-flow-logs": func(_ *checker, o world.Object) bool {
		return o.Text("purpose") == "PRIVATE" && !o.Flag("logConfig", "enable")
	}},
	computeProjectType: {"gcp-project-oslogin": func(v *checker, o world.Object) bool {
		overridden := false
		for vm := range v.each(instanceType) {
			instanceSetting := setting(vm, "metadata", "enable-oslogin")
			overridden = overridden || instanceSetting != "" && !strings.EqualFold(instanceSetting, "true") && !isClusterNode(vm)
		}
		return overridden || !strings.EqualFold(setting(o, "commonInstanceMetadata", "enable-oslogin"), "true")
	}},
	instanceType: {
		"gcp-vm-default-sa": func(v *checker, o world.Object) bool {
			return !isClusterNode(o) && runsAs(o, defaultEmail(v))
		},
		"gcp-vm-default-sa-full-scope": func(v *checker, o world.Object) bool {
			return slices.ContainsFunc(o.Objects("serviceAccounts"), func(s world.Object) bool {
				return s.Text("email") == defaultEmail(v) && slices.Contains(s.List("scopes"), any(cloudPlatform))
			}) && !isClusterNode(o)
		},
		"gcp-vm-public-ip": func(_ *checker, o world.Object) bool { return hasPublicAddress(o) && !isClusterNode(o) },
		"gcp-vm-project-ssh-keys": func(v *checker, o world.Object) bool {
			return !isClusterNode(o) && !strings.EqualFold(setting(o, "metadata", "block-project-ssh-keys"), "true") && !usesOSLogin(v, o)
		},
		"gcp-vm-serial-port": func(_ *checker, o world.Object) bool {
			return slices.Contains([]string{"1", "true"}, setting(o, "metadata", "serial-port-enable"))
		},
		"gcp-vm-ip-forward": func(_ *checker, o world.Object) bool { return o.Flag("canIpForward") && !isClusterNode(o) },
		"gcp-vm-shielded": func(_ *checker, o world.Object) bool {
			return !o.Flag("shieldedInstanceConfig", "enableVtpm") || !o.Flag("shieldedInstanceConfig", "enableIntegrityMonitoring")
		},
		"gcp-vm-exposed-privileged": isExposed,
	},
	sqlType: {
		"gcp-sql-authorized-any": func(_ *checker, o world.Object) bool {
			return slices.ContainsFunc(o.Objects("settings", "ipConfiguration", "authorizedNetworks"), func(n world.Object) bool { return n.Text("value") == "0.0.0.0/0" })
		},
		"gcp-sql-ssl": func(_ *checker, o world.Object) bool {
			mode := o.Text("settings", "ipConfiguration", "sslMode")
			return mode != "ENCRYPTED_ONLY" && mode != "TRUSTED_CLIENT_CERTIFICATE_REQUIRED" && !o.Flag("settings", "ipConfiguration", "requireSsl")
		},
		"gcp-sql-public-ip": func(_ *checker, o world.Object) bool { return o.Flag("settings", "ipConfiguration", "ipv4Enabled") },
		"gcp-sql-backup": func(_ *checker, o world.Object) bool {
			return o.Text("instanceType") != "READ_REPLICA_INSTANCE" && !o.Flag("settings", "backupConfiguration", "enabled")
		},
	},
	datasetType: {
		"gcp-bigquery-public": func(_ *checker, o world.Object) bool {
			return slices.ContainsFunc(o.Objects("access"), func(a world.Object) bool {
				return isPublicMember(a.Text("specialGroup")) || isPublicMember(a.Text("iamMember"))
			})
		},
		"gcp-bigquery-cmek": func(_ *checker, o world.Object) bool {
			return o.Text("defaultEncryptionConfiguration", "kmsKeyName") == ""
		},
	},
	clusterType: {
		"gcp-gke-public-endpoint": func(_ *checker, o world.Object) bool {
			return !o.Flag("privateClusterConfig", "enablePrivateEndpoint") && !o.Flag("masterAuthorizedNetworksConfig", "enabled")
		},
		"gcp-gke-default-sa": func(v *checker, o world.Object) bool {
			return slices.ContainsFunc(o.Objects("nodePools"), func(p world.Object) bool {
				email := p.Text("config", "serviceAccount")
				return email == "default" || email == defaultEmail(v)
			})
		},
	},
	functionType: {
		"gcp-function-public": func(v *checker, o world.Object) bool {
			return v.isCallable(o) && o.Text("serviceConfig", "ingressSettings") == "ALLOW_ALL"
		},
		"gcp-function-public-privileged": func(v *checker, o world.Object) bool {
			return v.isCallable(o) && o.Text("serviceConfig", "ingressSettings") == "ALLOW_ALL" && v.admins[o.Text("serviceConfig", "serviceAccountEmail")]
		},
	},
}

// isCallable reports whether everybody may call a function.
func (c *checker) isCallable(o world.Object) bool {
	service := o.Text("serviceConfig", "service")
	run, ok := (address{Cloud: c.Cloud, k: kinds[runType], project: c.project}).get(last(service))
	return isPublic(o) || service != "" && ok && isPublic(run)
}

// isPublicBucket reports whether a bucket is public.
func isPublicBucket(o world.Object) bool {
	listed := slices.ContainsFunc(o.Objects("acl"), func(e world.Object) bool { return isPublicMember(e.Text("entity")) })
	return (isPublic(o) || listed) && o.Text("iamConfiguration", "publicAccessPrevention") != "enforced"
}

// isClusterNode reports whether an instance is a node of a cluster, which Google
// configures.
func isClusterNode(o world.Object) bool { return o.Get("labels", "goog-gke-node") != nil }

// usesOSLogin reports whether OS Login is on for an instance, which has the setting of
// its project unless it has its own.
func usesOSLogin(v *checker, instance world.Object) bool {
	value := setting(instance, "metadata", "enable-oslogin")
	for p := range v.each(computeProjectType) {
		value = cmp.Or(value, setting(p, "commonInstanceMetadata", "enable-oslogin"))
	}
	return strings.EqualFold(value, "true")
}

// isFalse returns a check that is violated when a flag is not true.
func isFalse(path ...string) ruleCheck {
	return func(_ *checker, o world.Object) bool { return !o.Flag(path...) }
}

func isPublicMember(member string) bool {
	return member == "allUsers" || member == "allAuthenticatedUsers"
}

// isPublic reports whether a resource's policy grants something to everybody.
func isPublic(o world.Object) bool {
	return slices.ContainsFunc(o.Objects("_policy", "bindings"), func(b world.Object) bool {
		return slices.ContainsFunc(b.List("members"), func(m any) bool { return isPublicMember(m.(string)) })
	})
}

// allowsIngress reports whether a firewall rule allows anything from one of the ranges, which
// are by default those of the whole internet.
func allowsIngress(o world.Object, from ...string) bool {
	if len(from) == 0 {
		from = []string{"0.0.0.0/0", "::/0"}
	}
	return o.Text("direction") == "INGRESS" && !o.Flag("disabled") && len(o.List("allowed")) > 0 &&
		slices.ContainsFunc(o.List("sourceRanges"), func(r any) bool { return slices.Contains(from, r.(string)) })
}

// allows reports whether a firewall rule covers a TCP port.
func allows(o world.Object, port int) bool {
	return slices.ContainsFunc(o.Objects("allowed"), func(a world.Object) bool {
		protocol := a.Text("IPProtocol")
		if protocol == "all" {
			return true
		}
		return protocol == "tcp" && (len(a.List("ports")) == 0 || slices.ContainsFunc(a.List("ports"), func(p any) bool { return containsPorts(p.(string), port, port) }))
	})
}

// allowsAll reports whether a firewall rule covers everything, or all ports of
// a protocol.
func allowsAll(o world.Object) bool {
	return slices.ContainsFunc(o.Objects("allowed"), func(a world.Object) bool {
		protocol, ports := a.Text("IPProtocol"), a.List("ports")
		if protocol != "tcp" && protocol != "udp" {
			return protocol == "all"
		}
		return len(ports) == 0 || slices.ContainsFunc(ports, func(p any) bool { return containsPorts(p.(string), 1, 65535) })
	})
}

// containsPorts reports whether a port range such as 20-25 contains another.
func containsPorts(ports string, from, to int) bool {
	low, high, ranged := strings.Cut(ports, "-")
	if !ranged {
		high = low
	}
	a, errA := strconv.Atoi(low)
	b, errB := strconv.Atoi(high)
	return errA == nil && errB == nil && a <= from && to <= b
}

// setting returns a value of metadata.
func setting(o world.Object, field, key string) string {
	for _, item := range o.Objects(field, "items") {
		if item.Text("key") == key {
			return item.Text("value")
		}
	}
	return ""
}

func defaultEmail(v *checker) string {
	return v.project.Number + "-compute@developer.gserviceaccount.com"
}

func runsAs(o world.Object, email string) bool {
	return slices.ContainsFunc(o.Objects("serviceAccounts"), func(s world.Object) bool { return s.Text("email") == email })
}

// hasPublicAddress reports whether an instance has a public address.
func hasPublicAddress(o world.Object) bool {
	return slices.ContainsFunc(o.Objects("networkInterfaces"), func(n world.Object) bool {
		return slices.ContainsFunc(n.Objects("accessConfigs"), func(c world.Object) bool { return c.Text("natIP") != "" })
	})
}

// isExposed reports whether an instance is reachable from the internet and its
// service account has too many permissions.
func isExposed(v *checker, o world.Object) bool {
	if !hasPublicAddress(o) || !slices.ContainsFunc(o.Objects("serviceAccounts"), func(s world.Object) bool {
		return v.admins[s.Text("email")] && slices.Contains(s.List("scopes"), any(cloudPlatform))
	}) {
		return false
	}
	return slices.ContainsFunc(v.open, func(f world.Object) bool {
		// The public addresses of instances are IPv4, so a rule for ::/0 does not expose them.
		reachesNetwork := slices.Contains(f.List("sourceRanges"), any("0.0.0.0/0")) &&
			slices.ContainsFunc(o.Objects("networkInterfaces"), func(n world.Object) bool { return n.Text("network") == f.Text("network") })
		tags, accounts := f.List("targetTags"), f.List("targetServiceAccounts")
		isTarget := len(tags) == 0 && len(accounts) == 0 ||
			slices.ContainsFunc(tags, func(t any) bool { return slices.Contains(o.List("tags", "items"), t) }) ||
			slices.ContainsFunc(accounts, func(a any) bool { return runsAs(o, a.(string)) })
		return reachesNetwork && isTarget
	})
}

// members returns the members of a role in the project.
func (c *checker) members(role string) []any {
	var all []any
	for _, b := range c.bindings {
		if b.Text("role") == role {
			all = append(all, b.List("members")...)
		}
	}
	return all
}

func impersonation(v *checker, _ world.Object) bool {
	for _, role := range []string{"roles/iam.serviceAccountUser", "roles/iam.serviceAccountTokenCreator"} {
		if slices.ContainsFunc(v.members(role), func(m any) bool {
			kind, _, _ := strings.Cut(m.(string), ":")
			return kind == "user" || kind == "group" || kind == "domain"
		}) {
			return true
		}
	}
	return false
}

func unseparated(v *checker, _ world.Object) bool {
	users := v.members("roles/iam.serviceAccountUser")
	return slices.ContainsFunc(v.members("roles/iam.serviceAccountAdmin"), func(m any) bool { return slices.Contains(users, m) })
}

func unaudited(_ *checker, o world.Object) bool {
	logged := map[string]bool{} // by type of log
	for _, c := range o.Objects("_policy", "auditConfigs") {
		for _, k := range c.Objects("auditLogConfigs") {
			if len(k.List("exemptedMembers")) > 0 {
				return true
			}
			if c.Text("service") == "allServices" {
				logged[k.Text("logType")] = true
			}
		}
	}
	return !logged["ADMIN_READ"] || !logged["DATA_READ"] || !logged["DATA_WRITE"]
}

// unexported reports whether no sink of the project exports all logs. A sink does if it has no
// filter.
func unexported(v *checker, _ world.Object) bool {
	for o := range v.each(sinkType) {
		if o.Text("filter") == "" {
			return false
		}
	}
	return true
}

// unwatched reports whether no alert policy uses a metric that counts changes of project owners.
func unwatched(v *checker, _ world.Object) bool {
	for m := range v.each(metricType) {
		if !strings.Contains(m.Text("filter"), "ProjectOwnership") {
			continue
		}
		for p := range v.each(alertType) {
			for _, c := range p.Objects("conditions") {
				if strings.Contains(c.Text("conditionThreshold", "filter"), `logging.googleapis.com/user/`+m.Text("name")+`"`) {
					return false
				}
			}
		}
	}
	return true
}
