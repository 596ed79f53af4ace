package gcp

import (
	"context"

	"google.golang.org/api/compute/v1"
)

var instanceGroups = searched(with(computeType(instanceGroupType, "instanceGroups", "Instances that do the same."), properties{
	long("size", "How many there are."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("IN", "Their network.", networkType),
	edge("IN_SUBNET", "Their subnetwork.", subnetworkType),
}, changes("instanceGroups", "insert", "delete", "addInstances", "removeInstances")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.InstanceGroup) error) error {
		return s.compute.InstanceGroups.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.InstanceGroupAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.InstanceGroupsScopedList) ([]*compute.InstanceGroup, bool) {
				return v.InstanceGroups, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.InstanceGroup) *resource {
		r := when(s.begin(instanceGroupType, v.SelfLink), "creationTimestamp", v.CreationTimestamp).Number("size", v.Size)
		return r.Edge("IN", s.ref(v.Network, networkType)).Edge("IN_SUBNET", s.ref(v.Subnetwork, subnetworkType))
	})

var groupManagers = searched(with(computeType(groupManagerType, "instanceGroupManagers", "What keeps a group of instances at its size."), properties{
	long("targetSize", "How many instances there should be."),
	text("baseInstanceName", "How their names begin."),
	flag("autoHealing", "Instances that are not well are replaced."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("MANAGES", "The group.", instanceGroupType),
	edge("MADE_FROM", "How instances are made.", instanceTemplateType),
	edge("CHECKED_BY", "What tells whether they are well.", healthCheckType),
}, append(changes("instanceGroupManagers", "insert", "delete", "patch", "resize", "setInstanceTemplate"),
	changes("regionInstanceGroupManagers", "insert", "delete", "patch", "resize", "setInstanceTemplate")...)),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.InstanceGroupManager) error) error {
		return s.compute.InstanceGroupManagers.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.InstanceGroupManagerAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.InstanceGroupManagersScopedList) ([]*compute.InstanceGroupManager, bool) {
				return v.InstanceGroupManagers, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.InstanceGroupManager) *resource {
		r := when(s.begin(groupManagerType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		r.Number("targetSize", v.TargetSize).Text("baseInstanceName", v.BaseInstanceName).Flag("autoHealing", len(v.AutoHealingPolicies) > 0)
		for _, p := range v.AutoHealingPolicies {
			r.Edge("CHECKED_BY", s.ref(p.HealthCheck, healthCheckType))
		}
		return r.Edge("MANAGES", s.ref(v.InstanceGroup, instanceGroupType)).Edge("MADE_FROM", s.ref(v.InstanceTemplate, instanceTemplateType))
	})

var instanceTemplates = searched(with(computeType(instanceTemplateType, "instanceTemplates", "How instances are to be made."), properties{
	text("machineType", "Their size."),
	flag("canIpForward", "They may pass on traffic that is not their own."),
	flag("publicIp", "They get public addresses."),
	texts("serviceAccounts", "Whom they run as."),
	texts("scopes", "What they may do as their service account."),
	flag("usesDefaultServiceAccount", "They run as the service account that every instance runs as unless told otherwise."),
	flag("fullApiAccess", "Their scopes hold cloud-platform."),
	texts("metadata", "Settings as key=value; of other metadata the key alone."),
	flag("enableVtpm", "They have a virtual TPM."),
	flag("enableIntegrityMonitoring", "Google compares how they start with how they should."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("IN", "Their networks.", networkType),
	edge("IN_SUBNET", "Their subnetworks.", subnetworkType),
	edge("RUNS_AS", "The service accounts they run as.", serviceAccountType, principalType),
}, changes("instanceTemplates", "insert", "delete")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.InstanceTemplate) error) error {
		return s.compute.InstanceTemplates.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.InstanceTemplateAggregatedList) error {
			return everywhere(l.Items, nil, func(v compute.InstanceTemplatesScopedList) ([]*compute.InstanceTemplate, bool) {
				return v.InstanceTemplates, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.InstanceTemplate) *resource {
		r := when(s.begin(instanceTemplateType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		p := v.Properties
		if p == nil {
			return r
		}
		r.Text("machineType", last(p.MachineType)).Flag("canIpForward", p.CanIpForward).
			Flag("enableVtpm", p.ShieldedInstanceConfig != nil && p.ShieldedInstanceConfig.EnableVtpm).
			Flag("enableIntegrityMonitoring", p.ShieldedInstanceConfig != nil && p.ShieldedInstanceConfig.EnableIntegrityMonitoring)
		set(r, "metadata", metadata(p.Metadata))
		public := false
		for _, n := range p.NetworkInterfaces {
			public = public || len(n.AccessConfigs) > 0
			r.Edge("IN", s.ref(n.Network, networkType)).Edge("IN_SUBNET", s.ref(n.Subnetwork, subnetworkType))
		}
		s.runsAs(r.Flag("publicIp", public), p.ServiceAccounts)
		return tag(r, p.Labels)
	})
