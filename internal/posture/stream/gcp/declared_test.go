package gcp

import (
	"slices"
	"sync"
	"testing"

	"vigil/internal/posture"
	collectgcp "vigil/internal/posture/collect/gcp"
	"vigil/internal/posture/stream/change"
)

// declaredIndex is the index of the declarations that come with Vigil.
var declaredIndex = sync.OnceValue(func() *change.Index {
	return change.NewIndex(collectgcp.New(collectgcp.Options{}).Declarations())
})

// TestEntryReadsWhatItsCallChanged checks that Vigil, after the log entry of a call, reads the
// resource whose properties, edges or labels the call changed.
func TestEntryReadsWhatItsCallChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		service, call, name string
		entityType          posture.EntityType
	}{
		{"compute", "v1.compute.regionUrlMaps.patch", "projects/p/regions/r/urlMaps/web", "GCP.Compute.UrlMap"},
		{"compute", "v1.compute.regionTargetHttpProxies.setUrlMap", "projects/p/regions/r/targetHttpProxies/web", "GCP.Compute.TargetHttpProxy"},
		{"compute", "v1.compute.regionTargetHttpsProxies.patch", "projects/p/regions/r/targetHttpsProxies/web", "GCP.Compute.TargetHttpsProxy"},
		{"compute", "v1.compute.regionTargetTcpProxies.insert", "projects/p/regions/r/targetTcpProxies/web", "GCP.Compute.TargetTcpProxy"},
		{"compute", "v1.compute.regionSslCertificates.insert", "projects/p/regions/r/sslCertificates/web", "GCP.Compute.SslCertificate"},
		{"compute", "v1.compute.regionSslPolicies.patch", "projects/p/regions/r/sslPolicies/web", "GCP.Compute.SslPolicy"},
		{"compute", "v1.compute.regionSecurityPolicies.removeRule", "projects/p/regions/r/securityPolicies/web", "GCP.Compute.SecurityPolicy"},
		{"compute", "v1.compute.backendServices.setEdgeSecurityPolicy", "projects/p/global/backendServices/web", "GCP.Compute.BackendService"},
		{"compute", "v1.compute.backendBuckets.setEdgeSecurityPolicy", "projects/p/global/backendBuckets/web", "GCP.Compute.BackendBucket"},
		{"compute", "v1.compute.globalNetworkEndpointGroups.insert", "projects/p/global/networkEndpointGroups/web", "GCP.Compute.NetworkEndpointGroup"},
		{"compute", "v1.compute.regionDisks.insert", "projects/p/regions/r/disks/data", "GCP.Compute.Disk"},
		{"compute", "v1.compute.instances.addNetworkInterface", "projects/p/zones/z/instances/vm", "GCP.Compute.Instance"},
		{"compute", "v1.compute.regionInstanceGroupManagers.deleteInstances", "projects/p/regions/r/instanceGroupManagers/web", "GCP.Compute.InstanceGroupManager"},
		{"compute", "v1.compute.regionInstanceTemplates.insert", "projects/p/regions/r/instanceTemplates/web", "GCP.Compute.InstanceTemplate"},
		{"compute", "v1.compute.machineImages.setLabels", "projects/p/global/machineImages/web", "GCP.Compute.MachineImage"},
		{"compute", "v1.compute.networks.requestRemovePeering", "projects/p/global/networks/web", "GCP.Compute.Network"},
		{"iam", "google.iam.admin.v1.SetIAMPolicy", "projects/-/serviceAccounts/123", "GCP.IAM.ServiceAccount"},
		{"iam", "google.iam.v1.WorkloadIdentityPools.UndeleteWorkloadIdentityPool", "projects/p/locations/global/workloadIdentityPools/ci", "GCP.IAM.WorkloadIdentityPool"},
		{"cloudkms", "ImportCryptoKeyVersion", "projects/p/locations/l/keyRings/r/cryptoKeys/k", "GCP.KMS.CryptoKey"},
		{"container", "google.container.v1.ClusterManager.UpdateMaster", "projects/p/zones/z/clusters/c", "GCP.Container.Cluster"},
		{"container", "google.container.v1.ClusterManager.RollbackNodePoolUpgrade", "projects/p/zones/z/clusters/c/nodePools/n", "GCP.Container.NodePool"},
		{"alloydb", "google.cloud.alloydb.v1.AlloyDBAdmin.SwitchoverCluster", "projects/p/locations/l/clusters/c", "GCP.AlloyDB.Cluster"},
		{"cloudsql", "cloudsql.instances.demoteMaster", "projects/p/instances/db", "GCP.SQL.Instance"},
		{"firestore", "google.firestore.admin.v1.FirestoreAdmin.CloneDatabase", "projects/p/databases/d", "GCP.Firestore.Database"},
		{"redis", "google.cloud.redis.v1.CloudRedis.UpgradeInstance", "projects/p/locations/l/instances/i", "GCP.Redis.Instance"},
		{"logging", "google.logging.v2.ConfigServiceV2.UpdateBucketAsync", "projects/p/locations/l/buckets/b", "GCP.Logging.LogBucket"},
		{"bigquery", "google.cloud.bigquery.v2.DatasetService.UndeleteDataset", "projects/p/datasets/d", "GCP.BigQuery.Dataset"},
		{"pubsub", "google.pubsub.v1.Publisher.DetachSubscription", "projects/p/subscriptions/s", "GCP.PubSub.Subscription"},
	} {
		var e entry
		e.Payload.ServiceName, e.Payload.MethodName, e.Payload.ResourceName = c.service+".googleapis.com", c.call, c.name
		want := posture.Target{Type: c.entityType, Region: posture.Global, Name: c.name}
		if got := e.targets(declaredIndex()); !slices.Contains(got, want) {
			t.Errorf("%s of %s reads %v, want %v", c.call, c.name, got, want)
		}
	}
}
