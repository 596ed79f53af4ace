package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/compute/v1"

	"vigil/internal/posture/collect"
)

var computeProjects = single(declaration{
	Type: computeProjectType, Service: "compute", Doc: "What all instances of a project share.",
	Permissions: []string{"compute.projects.get"},
	Properties: properties{
		texts("commonInstanceMetadata", "Settings of all instances as key=value; of other metadata the key alone."),
		flag("osLogin", "Instances let people in by their Google identity: enable-oslogin."),
		text("defaultServiceAccount", "Whom instances run as unless told otherwise."),
		text("defaultNetworkTier", "PREMIUM or STANDARD."),
		text("xpnProjectStatus", "HOST when it shares its networks with other projects."),
	},
	Edges: edges{
		edge("DEFAULTS_TO", "Whom instances run as unless told otherwise.", serviceAccountType),
		edge("PART_OF", "Its project.", projectType),
	},
	Events: changes("projects", "setCommonInstanceMetadata", "enableXpnHost", "disableXpnHost", "setDefaultNetworkTier"),
}, func(ctx context.Context, s *scope) (*resource, error) {
	v, err := s.compute.Projects.Get(s.project).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	r := s.begin(computeProjectType, "projects/"+s.project)
	r.XID = v.SelfLink
	set(r, "commonInstanceMetadata", metadata(v.CommonInstanceMetadata))
	r.Flag("osLogin", setting(v.CommonInstanceMetadata, "enable-oslogin")).Text("defaultServiceAccount", v.DefaultServiceAccount).
		Text("defaultNetworkTier", v.DefaultNetworkTier).Text("xpnProjectStatus", v.XpnProjectStatus)
	return r.Edge("DEFAULTS_TO", s.serviceAccount(v.DefaultServiceAccount)).Edge("PART_OF", s.projectRef()), nil
})

var instances = searched(with(computeType(instanceType, "instances", "A virtual machine."), properties{
	text("machineType", "Its size, such as e2-medium."),
	text("status", "RUNNING, TERMINATED and others."),
	text("creationTimestamp", "When it was made."),
	text("zone", "Where it is."),
	text("cpuPlatform", "Of its processor."),
	texts("networkIP", "Its private addresses."),
	texts("natIP", "Its public addresses; absent when it has none."),
	flag("canIpForward", "It may pass on traffic that is not its own."),
	texts("serviceAccounts", "Whom it runs as."),
	texts("scopes", "What it may do as its service account."),
	flag("usesDefaultServiceAccount", "It runs as the service account that every instance runs as unless told otherwise."),
	flag("fullApiAccess", "Its scopes hold cloud-platform: nothing but roles limits its service account."),
	texts("metadata", "Settings as key=value; of other metadata the key alone."),
	flag("blockProjectSshKeys", "The project's SSH keys do not open it."),
	flag("serialPortEnable", "Its serial port can be connected to."),
	flag("osLogin", "It lets people in by their Google identity; absent when the project decides."),
	flag("enableSecureBoot", "It starts signed software alone."),
	flag("enableVtpm", "It has a virtual TPM."),
	flag("enableIntegrityMonitoring", "Google compares how it starts with how it should."),
	flag("confidentialCompute", "Its memory is encrypted."),
	flag("deletionProtection", "It cannot be deleted by mistake."),
	texts("networkTags", "Tags by which firewall rules and routes choose it."),
	flag("gkeNode", "It is a node of a cluster."),
}, edges{
	edge("IN", "The networks it is in.", networkType),
	edge("IN_SUBNET", "The subnetworks it is in.", subnetworkType),
	edge("HAS_IP", "Its public addresses.", publicIPType),
	edge("HAS_DISK", "The disks attached to it.", diskType),
	edge("RUNS_AS", "The service accounts it runs as.", serviceAccountType, principalType),
	edge("ENCRYPTED_BY", "The keys that encrypt its disks.", cryptoKeyType),
}, changes("instances", "insert", "delete", "setMetadata", "setServiceAccount", "addAccessConfig", "deleteAccessConfig", "updateAccessConfig",
	"updateShieldedInstanceConfig", "updateNetworkInterface", "update", "start", "stop", "suspend", "resume", "reset", "setTags", "setLabels",
	"setMachineType", "attachDisk", "detachDisk", "setDeletionProtection", "bulkInsert")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.Instance) error) error {
		return s.compute.Instances.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.InstanceAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.InstancesScopedList) ([]*compute.Instance, bool) {
				return v.Instances, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.Instance) *resource {
		r := s.begin(instanceType, v.SelfLink)
		r.Text("machineType", last(v.MachineType)).Text("status", v.Status).Text("zone", last(v.Zone)).Text("cpuPlatform", v.CpuPlatform).
			Flag("canIpForward", v.CanIpForward).Flag("deletionProtection", v.DeletionProtection).
			Flag("confidentialCompute", v.ConfidentialInstanceConfig != nil && v.ConfidentialInstanceConfig.EnableConfidentialCompute).
			Flag("gkeNode", v.Labels["goog-gke-node"] != "" || hasLabel(v.Labels, "goog-gke-node") || strings.HasPrefix(v.Name, "gke-"))
		when(r, "creationTimestamp", v.CreationTimestamp)
		shielded := v.ShieldedInstanceConfig
		r.Flag("enableSecureBoot", shielded != nil && shielded.EnableSecureBoot).Flag("enableVtpm", shielded != nil && shielded.EnableVtpm).
			Flag("enableIntegrityMonitoring", shielded != nil && shielded.EnableIntegrityMonitoring)
		set(r, "metadata", metadata(v.Metadata))
		r.Flag("blockProjectSshKeys", setting(v.Metadata, "block-project-ssh-keys")).Flag("serialPortEnable", setting(v.Metadata, "serial-port-enable"))
		if hasKey(v.Metadata, "enable-oslogin") {
			r.Flag("osLogin", setting(v.Metadata, "enable-oslogin"))
		}
		if v.Tags != nil {
			set(r, "networkTags", v.Tags.Items)
		}
		s.connect(r, v.NetworkInterfaces)
		s.runsAs(r, v.ServiceAccounts)
		for _, d := range v.Disks {
			r.Edge("HAS_DISK", s.ref(d.Source, diskType)).Edge("ENCRYPTED_BY", s.keyRef(kmsKey(d.DiskEncryptionKey)))
		}
		sortEdges(r)
		return tag(r, v.Labels)
	})

// connect adds the networks and addresses of an instance.
func (s *scope) connect(r *resource, interfaces []*compute.NetworkInterface) {
	for _, n := range interfaces {
		r.Edge("IN", s.ref(n.Network, networkType)).Edge("IN_SUBNET", s.ref(n.Subnetwork, subnetworkType)).Texts("networkIP", n.NetworkIP, n.Ipv6Address)
	}
	var public []string
	for _, ip := range publicIPsOf(interfaces) {
		public = append(public, ip)
		r.Edge("HAS_IP", publicIPType.ID(s.account, "", ip))
	}
	set(r, "natIP", public)
}

// publicIPsOf returns the addresses at which the internet reaches interfaces.
func publicIPsOf(interfaces []*compute.NetworkInterface) []string {
	var all []string
	for _, n := range interfaces {
		for _, c := range append(n.AccessConfigs[:len(n.AccessConfigs):len(n.AccessConfigs)], n.Ipv6AccessConfigs...) {
			for _, ip := range []string{c.NatIP, c.ExternalIpv6} {
				if ip != "" {
					all = append(all, ip)
				}
			}
		}
	}
	return all
}

// runsAs adds the service accounts of an instance.
func (s *scope) runsAs(r *resource, accounts []*compute.ServiceAccount) {
	var emails, scopes []string
	standard, full := false, false
	for _, a := range accounts {
		emails, scopes = append(emails, a.Email), append(scopes, a.Scopes...)
		r.Edge("RUNS_AS", s.serviceAccount(a.Email))
		standard = standard || a.Email == s.defaultAccount()
		for _, scope := range a.Scopes {
			full = full || scope == tokenScope
		}
	}
	set(r, "serviceAccounts", emails)
	set(r, "scopes", scopes)
	r.Flag("usesDefaultServiceAccount", standard).Flag("fullApiAccess", full)
}

func hasLabel(labels map[string]string, name string) bool {
	_, ok := labels[name]
	return ok
}

func hasKey(m *compute.Metadata, key string) bool {
	if m == nil {
		return false
	}
	for _, item := range m.Items {
		if strings.EqualFold(item.Key, key) {
			return true
		}
	}
	return false
}

// publicIPs are the addresses at which the internet reaches instances and load
// balancers, and those that are kept for later.
var publicIPs = derived(declaration{
	Type: publicIPType, Service: "compute", Doc: "An address that the internet can reach.",
	Permissions: []string{
		"compute.instances.list", "compute.addresses.list", "compute.forwardingRules.list", "compute.globalAddresses.list", "compute.globalForwardingRules.list",
	},
	Properties: properties{
		text("ip", "The address."),
		flag("inUse", "Something has it."),
	},
}, func(ctx context.Context, s *scope, emit collect.Emit) error {
	seen := map[string]bool{}
	add := func(ip string, used bool) error {
		if ip == "" || seen[ip] {
			return nil
		}
		seen[ip] = true
		r := s.derive(publicIPType, ip)
		return emit(r.Text("ip", ip).Flag("inUse", used))
	}
	err := s.compute.Instances.AggregatedList(s.project).MaxResults(most).
		Fields("nextPageToken,unreachables,items/*/warning/code,items/*/instances/networkInterfaces(accessConfigs/natIP,ipv6AccessConfigs/externalIpv6)").
		Pages(ctx, func(l *compute.InstanceAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.InstancesScopedList) ([]*compute.Instance, bool) {
				return v.Instances, v.Warning != nil && v.Warning.Code == notReached
			}, func(items []*compute.Instance) error {
				for _, v := range items {
					for _, ip := range publicIPsOf(v.NetworkInterfaces) {
						if err := add(ip, true); err != nil {
							return err
						}
					}
				}
				return nil
			})
		})
	if err != nil {
		return err
	}
	err = listForwardingRules(ctx, s, "", func(items []*compute.ForwardingRule) error {
		for _, v := range items {
			if strings.HasPrefix(v.LoadBalancingScheme, "EXTERNAL") {
				if err := add(v.IPAddress, true); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return s.sorted(err, "compute.forwardingRules.list")
	}
	err = listAddresses(ctx, s, "", func(items []*compute.Address) error {
		for _, v := range items {
			if v.AddressType == "EXTERNAL" || v.AddressType == "" {
				if err := add(v.Address, v.Status == "IN_USE"); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return s.sorted(err, "compute.addresses.list")
})
