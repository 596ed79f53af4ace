package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/container/v1"
)

var clusters = listed(declaration{
	Type: clusterType, Service: "container", Doc: "A Kubernetes cluster.",
	Permissions: []string{"container.clusters.list", "container.clusters.get"},
	Properties: properties{
		text("status", "RUNNING and others."),
		text("currentMasterVersion", "Of Kubernetes."),
		text("releaseChannel", "RAPID, REGULAR or STABLE; absent when it is upgraded by hand."),
		text("createTime", "When it was made."),
		text("endpoint", "Where its API is."),
		flag("enablePrivateEndpoint", "Its API is reached from its network alone."),
		flag("enablePrivateNodes", "Its nodes have no public addresses."),
		flag("masterAuthorizedNetworksEnabled", "Only listed addresses reach its API."),
		texts("masterAuthorizedNetworks", "The addresses that reach its API."),
		texts("nodePools", "Its node pools and whom they run as, such as default-pool default."),
		flag("nodesUseDefaultServiceAccount", "A node pool runs as the service account that every instance runs as unless told otherwise."),
		flag("legacyAbac", "Permissions from before role-based access control count."),
		flag("networkPolicy", "Network policies are kept to."),
		flag("binaryAuthorization", "Only images that were signed for run."),
		flag("shieldedNodes", "Nodes prove what they are."),
		text("workloadPool", "Pods act as service accounts of this pool; absent when they cannot."),
		text("databaseEncryption", "ENCRYPTED when a customer's key encrypts secrets, else DECRYPTED."),
		flag("autopilot", "Google manages the nodes."),
		text("loggingService", "Where logs go; none when absent."),
	},
	Edges: edges{
		edge("IN", "Its network.", networkType),
		edge("IN_SUBNET", "Its subnetwork.", subnetworkType),
		edge("HAS", "Its node pools.", nodePoolType),
		edge("RUNS_AS", "Whom its node pools run as.", serviceAccountType, principalType),
		edge("ENCRYPTED_BY", "The key that encrypts secrets.", cryptoKeyType),
	},
	Events: events{each("container", "google.container.v1.ClusterManager.", "CreateCluster", "UpdateCluster", "DeleteCluster", "CreateNodePool", "UpdateNodePool",
		"DeleteNodePool", "SetMasterAuth", "SetLegacyAbac", "SetNetworkPolicy", "SetLoggingService", "SetLabels")},
}, listClusters, func(ctx context.Context, s *scope, at spot) (*container.Cluster, error) {
	return s.container.Projects.Locations.Clusters.Get("projects/" + s.project + "/locations/" + at.location + "/clusters/" + at.name).Context(ctx).Do()
}, func(s *scope, v *container.Cluster) *resource {
	r := s.begin(clusterType, s.clusterName(v))
	r.XID = v.SelfLink
	r.Text("status", v.Status).Text("currentMasterVersion", v.CurrentMasterVersion).Text("endpoint", v.Endpoint).Text("loggingService", v.LoggingService)
	when(r, "createTime", v.CreateTime)
	s.controlPlane(r, v)
	s.pools(r, v)
	r.Flag("legacyAbac", v.LegacyAbac != nil && v.LegacyAbac.Enabled).Flag("networkPolicy", v.NetworkPolicy != nil && v.NetworkPolicy.Enabled).
		Flag("binaryAuthorization", v.BinaryAuthorization != nil && (v.BinaryAuthorization.Enabled || v.BinaryAuthorization.EvaluationMode == "PROJECT_SINGLETON_POLICY_ENFORCE")).
		Flag("shieldedNodes", v.ShieldedNodes != nil && v.ShieldedNodes.Enabled).Flag("autopilot", v.Autopilot != nil && v.Autopilot.Enabled)
	if v.ReleaseChannel != nil && v.ReleaseChannel.Channel != "UNSPECIFIED" {
		r.Text("releaseChannel", v.ReleaseChannel.Channel)
	}
	if v.WorkloadIdentityConfig != nil {
		r.Text("workloadPool", v.WorkloadIdentityConfig.WorkloadPool)
	}
	if e := v.DatabaseEncryption; e != nil {
		r.Text("databaseEncryption", e.State).Edge("ENCRYPTED_BY", s.keyRef(e.KeyName))
	}
	if n := v.NetworkConfig; n != nil {
		r.Edge("IN", s.ref(n.Network, networkType)).Edge("IN_SUBNET", s.ref(n.Subnetwork, subnetworkType))
	}
	return tag(r, v.ResourceLabels)
})

func listClusters(ctx context.Context, s *scope, page func([]*container.Cluster) error) error {
	l, err := s.container.Projects.Locations.Clusters.List("projects/" + s.project + "/locations/-").Context(ctx).Do()
	if err != nil {
		return err
	}
	if err := page(l.Clusters); err != nil {
		return err
	}
	return unreachable(l.MissingZones)
}

func (s *scope) clusterName(v *container.Cluster) string {
	return "projects/" + s.project + "/locations/" + v.Location + "/clusters/" + v.Name
}

// controlPlane adds who reaches a cluster's API. Newer answers have it in another
// place than older ones.
func (s *scope) controlPlane(r *resource, v *container.Cluster) {
	private, limited := false, v.MasterAuthorizedNetworksConfig
	if p := v.PrivateClusterConfig; p != nil {
		private = p.EnablePrivateEndpoint
		r.Flag("enablePrivateNodes", p.EnablePrivateNodes)
	} else {
		r.Flag("enablePrivateNodes", v.NetworkConfig != nil && v.NetworkConfig.DefaultEnablePrivateNodes)
	}
	if c := v.ControlPlaneEndpointsConfig; c != nil && c.IpEndpointsConfig != nil {
		private = private || !c.IpEndpointsConfig.EnablePublicEndpoint
		if limited == nil {
			limited = c.IpEndpointsConfig.AuthorizedNetworksConfig
		}
	}
	var allowed []string
	if limited != nil {
		for _, block := range limited.CidrBlocks {
			allowed = append(allowed, block.CidrBlock)
		}
	}
	r.Flag("enablePrivateEndpoint", private).Flag("masterAuthorizedNetworksEnabled", limited != nil && limited.Enabled)
	set(r, "masterAuthorizedNetworks", allowed)
}

// pools adds a cluster's node pools and whom they run as.
func (s *scope) pools(r *resource, v *container.Cluster) {
	var all []string
	standard := false
	for _, p := range v.NodePools {
		account := "default"
		if p.Config != nil && p.Config.ServiceAccount != "" {
			account = p.Config.ServiceAccount
		}
		standard = standard || account == "default" || account == s.defaultAccount()
		all = append(all, p.Name+" "+account)
		r.Edge("HAS", nodePoolType.ID(s.account, v.Location, v.Name+"/"+p.Name)).Edge("RUNS_AS", s.serviceAccount(account))
	}
	set(r, "nodePools", all)
	sortEdges(r)
	r.Flag("nodesUseDefaultServiceAccount", standard)
}

// A pool is a node pool with the cluster that it is of.
type pool struct {
	cluster *container.Cluster
	*container.NodePool
}

var nodePools = listed(declaration{
	Type: nodePoolType, Service: "container", Doc: "Nodes of a cluster that are alike.",
	Permissions: []string{"container.clusters.list", "container.clusters.get"},
	Properties: properties{
		text("status", "RUNNING and others."),
		text("version", "Of Kubernetes."),
		text("machineType", "The size of its nodes."),
		text("imageType", "What nodes run, such as COS_CONTAINERD."),
		text("serviceAccount", "Whom nodes run as; default for the one that every instance runs as unless told otherwise."),
		texts("oauthScopes", "What nodes may do as their service account."),
		flag("autoUpgrade", "Nodes are kept up to date."),
		flag("autoRepair", "Nodes that are not well are replaced."),
		flag("secureBoot", "Nodes start signed software alone."),
		flag("integrityMonitoring", "Google compares how nodes start with how they should."),
		text("workloadMetadata", "What pods see of the node's identity: GKE_METADATA or GCE_METADATA."),
		long("nodeCount", "How many nodes it began with."),
	},
	Edges: edges{
		edge("PART_OF", "Its cluster.", clusterType),
		edge("RUNS_AS", "Whom nodes run as.", serviceAccountType, principalType),
		edge("MANAGES", "The groups of its nodes.", instanceGroupType),
		edge("ENCRYPTED_BY", "The key that encrypts disks of its nodes.", cryptoKeyType),
	},
	Events: events{each("container", "google.container.v1.ClusterManager.", "CreateNodePool", "UpdateNodePool", "DeleteNodePool", "SetNodePoolManagement", "SetNodePoolAutoscaling", "SetNodePoolSize", "CreateCluster", "DeleteCluster")},
}, func(ctx context.Context, s *scope, page func([]pool) error) error {
	return listClusters(ctx, s, func(all []*container.Cluster) error {
		for _, c := range all {
			items := make([]pool, len(c.NodePools))
			for i, p := range c.NodePools {
				items[i] = pool{c, p}
			}
			if err := page(items); err != nil {
				return err
			}
		}
		return nil
	})
}, func(ctx context.Context, s *scope, at spot) (pool, error) {
	parts := at.parts()
	cluster := &container.Cluster{Name: parts[0], Location: at.location}
	p, err := s.container.Projects.Locations.Clusters.NodePools.Get(s.clusterName(cluster) + "/nodePools/" + parts[1]).Context(ctx).Do()
	return pool{cluster, p}, err
}, func(s *scope, v pool) *resource {
	r := s.begin(nodePoolType, s.clusterName(v.cluster)+"/nodePools/"+v.Name)
	r.XID = v.SelfLink
	r.Text("status", v.Status).Text("version", v.Version).Number("nodeCount", v.InitialNodeCount)
	r.Flag("autoUpgrade", v.Management != nil && v.Management.AutoUpgrade).Flag("autoRepair", v.Management != nil && v.Management.AutoRepair)
	for _, group := range v.InstanceGroupUrls {
		r.Edge("MANAGES", s.ref(strings.Replace(group, "/instanceGroupManagers/", "/instanceGroups/", 1), instanceGroupType))
	}
	c := v.Config
	if c == nil {
		c = new(container.NodeConfig)
	}
	account := c.ServiceAccount
	if account == "" {
		account = "default"
	}
	r.Text("machineType", c.MachineType).Text("imageType", c.ImageType).Text("serviceAccount", account)
	set(r, "oauthScopes", c.OauthScopes)
	r.Flag("secureBoot", c.ShieldedInstanceConfig != nil && c.ShieldedInstanceConfig.EnableSecureBoot).
		Flag("integrityMonitoring", c.ShieldedInstanceConfig != nil && c.ShieldedInstanceConfig.EnableIntegrityMonitoring)
	if c.WorkloadMetadataConfig != nil {
		r.Text("workloadMetadata", c.WorkloadMetadataConfig.Mode)
	}
	r.Edge("PART_OF", s.ref(s.clusterName(v.cluster), clusterType)).Edge("RUNS_AS", s.serviceAccount(account)).Edge("ENCRYPTED_BY", s.keyRef(c.BootDiskKmsKey))
	return tag(r, c.Labels)
})
