package naming_test

import (
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

func gcpVars(location string) resource.Vars {
	return resource.Vars{Account: "p-1", Number: "123", Region: location}
}

const (
	instanceType       posture.EntityType = "GCP.Compute.Instance"
	diskType           posture.EntityType = "GCP.Compute.Disk"
	networkType        posture.EntityType = "GCP.Compute.Network"
	addressType        posture.EntityType = "GCP.Compute.Address"
	cryptoKeyType      posture.EntityType = "GCP.KMS.CryptoKey"
	keyRingType        posture.EntityType = "GCP.KMS.KeyRing"
	logMetricType      posture.EntityType = "GCP.Logging.Metric"
	bucketType         posture.EntityType = "GCP.Storage.Bucket"
	clusterType        posture.EntityType = "GCP.Container.Cluster"
	managedZoneType    posture.EntityType = "GCP.DNS.ManagedZone"
	serviceAccountType posture.EntityType = "GCP.IAM.ServiceAccount"
	principalType      posture.EntityType = "GCP.IAM.Principal"
	roleType           posture.EntityType = "GCP.IAM.Role"
	topicType          posture.EntityType = "GCP.PubSub.Topic"
	projectType        posture.EntityType = "GCP.CloudResourceManager.Project"
)

func TestGoogleReferences(t *testing.T) {
	t.Parallel()
	cloud := naming.Of(posture.GCP, declared.Catalog())
	for _, test := range []struct {
		name string
		to   []posture.EntityType
		want posture.EntityID
	}{
		{"https://www.googleapis.com/compute/v1/projects/p-1/zones/us-a1-b/instances/vm", []posture.EntityType{instanceType}, "GCP.Compute.p-1.us-a1-b.Instance.vm"},
		{"https://compute.googleapis.com/compute/beta/projects/123/regions/r/disks/d", []posture.EntityType{diskType}, "GCP.Compute.p-1.r.Disk.d"},
		{"projects/123/global/networks/n", []posture.EntityType{networkType}, "GCP.Compute.p-1.global.Network.n"},
		{"//compute.googleapis.com/projects/other/global/networks/n", []posture.EntityType{networkType}, "GCP.Compute.other.global.Network.n"},
		{"n", []posture.EntityType{networkType}, "GCP.Compute.p-1.global.Network.n"},
		{"projects/p-1/locations/eu/keyRings/r/cryptoKeys/k", []posture.EntityType{cryptoKeyType}, "GCP.KMS.p-1.eu.CryptoKey.r/k"},
		{"projects/p-1/locations/eu/keyRings/r/cryptoKeys/k/cryptoKeyVersions/7", []posture.EntityType{cryptoKeyType}, "GCP.KMS.p-1.eu.CryptoKey.r/k"},
		{"projects/p-1/locations/eu/keyRings/r/cryptoKeys/k", []posture.EntityType{keyRingType}, "GCP.KMS.p-1.eu.KeyRing.r"},
		{"projects/p-1/metrics/web%2Fslow", []posture.EntityType{logMetricType}, "GCP.Logging.p-1.global.Metric.web/slow"},
		{"web/slow", []posture.EntityType{logMetricType}, "GCP.Logging.p-1.global.Metric.web/slow"},
		{"projects/_/buckets/b.example.com", []posture.EntityType{bucketType}, "GCP.Storage.p-1.global.Bucket.b.example.com"},
		{"storage.googleapis.com/b", []posture.EntityType{bucketType, topicType, projectType}, "GCP.Storage.p-1.global.Bucket.b"},
		{"pubsub.googleapis.com/projects/q/topics/t", []posture.EntityType{bucketType, topicType, projectType}, "GCP.PubSub.q.global.Topic.t"},
		{"logging.googleapis.com/projects/q", []posture.EntityType{bucketType, topicType, projectType}, "GCP.CloudResourceManager.q.global.Project.q"},
		{"projects/p-1/zones/z/clusters/c", []posture.EntityType{clusterType}, "GCP.Container.p-1.z.Cluster.c"},
		{"projects/-/serviceAccounts/a@p-1.iam.gserviceaccount.com", []posture.EntityType{serviceAccountType}, "GCP.IAM.p-1.global.ServiceAccount.a@p-1.iam.gserviceaccount.com"},
		{"a@p-1.iam.gserviceaccount.com", []posture.EntityType{serviceAccountType, principalType}, "GCP.IAM.p-1.global.ServiceAccount.a@p-1.iam.gserviceaccount.com"},
		{"default", []posture.EntityType{serviceAccountType, principalType}, "GCP.IAM.p-1.global.ServiceAccount.123-compute@developer.gserviceaccount.com"},
		{"a@q.iam.gserviceaccount.com", []posture.EntityType{serviceAccountType, principalType}, "GCP.IAM.p-1.global.Principal.serviceAccount:a@q.iam.gserviceaccount.com"},
		{"serviceAccount:p-1@appspot.gserviceaccount.com", []posture.EntityType{principalType, serviceAccountType}, "GCP.IAM.p-1.global.ServiceAccount.p-1@appspot.gserviceaccount.com"},
		{"user:ada@example.com", []posture.EntityType{principalType, serviceAccountType}, "GCP.IAM.p-1.global.Principal.user:ada@example.com"},
		{"allUsers", []posture.EntityType{principalType, serviceAccountType}, "GCP.IAM.p-1.global.Principal.allUsers"},
		{"principal://iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/w/subject/s", []posture.EntityType{principalType, serviceAccountType}, "GCP.IAM.p-1.global.Principal.principal://iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/w/subject/s"},
		{"roles/viewer", []posture.EntityType{roleType}, "GCP.IAM.p-1.global.Role.roles/viewer"},
		{"projects/p-1/roles/own", []posture.EntityType{roleType}, "GCP.IAM.p-1.global.Role.own"},
		{"projects/example.com:old/global/networks/n", []posture.EntityType{networkType}, "GCP.Compute.example.com:old.global.Network.n"},
		{"projects/p-1/zones/us-a1-b/instances/vm/setMetadata", []posture.EntityType{instanceType}, ""},
		{"projects/p-1/zones//instances/vm", []posture.EntityType{instanceType}, ""},
		{"projects/p-1/zones/z/instances/%zz", []posture.EntityType{instanceType}, ""},
		{"vm", []posture.EntityType{instanceType}, ""},
		{"", []posture.EntityType{instanceType, principalType}, ""},
		{"x", []posture.EntityType{"GCP.Not.Declared"}, ""},
	} {
		if got := cloud.Ref(gcpVars(posture.Global), test.to, test.name); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestGoogleEventsNameResources(t *testing.T) {
	t.Parallel()
	catalog := declared.Catalog()
	cloud := naming.Of(posture.GCP, catalog)
	for _, tt := range []struct {
		kind           posture.EntityType
		location, name string
		want           string
	}{
		{instanceType, "global", "projects/p-1/zones/z/instances/vm", "projects/p-1/zones/z/instances/vm"},
		{instanceType, "z-a-b", "vm", "projects/p-1/zones/z-a-b/instances/vm"},
		{managedZoneType, "global", "managedZones/example", "projects/p-1/managedZones/example"},
		{clusterType, "global", "projects/123/zones/z/clusters/c/nodePools/n", "projects/p-1/locations/z/clusters/c"},
		{serviceAccountType, "global", "projects/-/serviceAccounts/s/keys/k", "projects/p-1/serviceAccounts/s"},
		{logMetricType, "global", "web/slow", "projects/p-1/metrics/web%2Fslow"},
		{cryptoKeyType, "eu", "r/k", "projects/p-1/locations/eu/keyRings/r/cryptoKeys/k"},
		{addressType, "global", "a", "projects/p-1/global/addresses/a"},
		{addressType, "r", "a", "projects/p-1/regions/r/addresses/a"},
		{projectType, "global", "projects/p-1/sinks/s", "projects/p-1"},
		{roleType, "global", "roles/viewer", "projects/p-1/roles/roles%2Fviewer"}, // a bare name with a slash, which is escaped
		{roleType, "global", "projects/p-1/roles/own", "projects/p-1/roles/own"},
		{cryptoKeyType, "eu", "k", ""}, // without its key ring
		{instanceType, "global", "projects/other/zones/z/instances/vm", ""},
		{instanceType, "global", "projects/p-1/zones/z/disks/vm", ""},
		{instanceType, "z", `vm" OR name="x`, ""},
		{managedZoneType, "global", "policies/example", ""},
	} {
		if got := cloud.RequestName(catalog.Type(tt.kind), gcpVars(tt.location), tt.name); got != tt.want {
			t.Errorf("%s at %s: %q, want %q", tt.name, tt.location, got, tt.want)
		}
	}
}

// FuzzGoogleNames checks that names in events are only mapped to resources of the
// account's project, and that the mapped name parses to itself.
func FuzzGoogleNames(f *testing.F) {
	f.Add("projects/p-1/zones/z/instances/vm", "z")
	f.Add("https://x/projects/1/global/networks/n", "global")
	f.Add("a/b", "")
	catalog := declared.Catalog()
	cloud := naming.Of(posture.GCP, catalog)
	f.Fuzz(func(t *testing.T, name, location string) {
		v := gcpVars(location)
		for _, typ := range catalog.Of(posture.GCP) {
			requestName := cloud.RequestName(typ, v, name)
			if requestName == "" || len(typ.Google) == 0 {
				continue
			}
			parsed, ok := typ.Google.Match(v, requestName, false)
			if !ok || parsed.Account != "p-1" || parsed.Name == "" || parsed.Path != requestName {
				t.Errorf("%s: %q is mapped to %q, which parses to %+v", typ.Type, name, requestName, parsed)
			}
		}
	})
}
