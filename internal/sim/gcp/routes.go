package gcp

import (
	"net/http"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// routes are all simulated methods.
var routes = slices.Concat(computeRoutes(), projectRoutes, hierarchyRoutes, dataRoutes, runtimeRoutes, watchRoutes, serviceRoutes)

// readRoutes returns the methods that list and get a kind below a path prefix.
func readRoutes(api, prefix, methods string, t posture.EntityType, path, permission string, shape ...func(address, world.Object) world.Object) []route {
	collection := path[strings.LastIndex(path, "/")+1:]
	return []route{
		{api + "." + methods + ".list", http.MethodGet, prefix + path, permission + ".list", list(t, collection, shape...)},
		{api + "." + methods + ".get", http.MethodGet, prefix + path + "/{name}", permission + ".get", get(t)},
	}
}

// computeRoutes returns the methods of Compute Engine, as aggregated lists
// where available.
func computeRoutes() []route {
	const base = "/compute/v1/projects/{project}"
	all := []route{{"compute.projects.get", http.MethodGet, base, "compute.projects.get", func(x *call) (world.Object, *failure) {
		o, _ := x.address(computeProjectType).get(x.project.ID)
		return o.Visible(), nil
	}}}
	notAggregated := []posture.EntityType{snapshotType, imageType, networkType, routeType, firewallType, sslProxyType, backendBucketType, externalVpnType, machineImageType}
	for _, k := range slices.Concat(computeKinds, networkKinds, balancerKinds, fabricKinds) {
		permission := "compute." + k.collection + ".list"
		switch {
		case k.typ == computeProjectType:
		case slices.Contains(notAggregated, k.typ):
			all = append(all, route{"compute." + k.collection + ".list", http.MethodGet, base + "/global/" + k.collection, permission, list(k.typ, "items")})
		default:
			all = append(all, route{"compute." + k.collection + ".aggregatedList", http.MethodGet, base + "/aggregated/" + k.collection, permission, aggregatedList(k.typ)})
		}
	}
	all = append(all, route{"compute.networks.getEffectiveFirewalls", http.MethodGet, base + "/global/networks/{name}/getEffectiveFirewalls", "compute.networks.getEffectiveFirewalls", effectiveFirewalls})
	all = append(all, route{"compute.regionNetworkFirewallPolicies.getEffectiveFirewalls", http.MethodGet, base + "/regions/{region}/firewallPolicies/getEffectiveFirewalls", "compute.networks.getRegionEffectiveFirewalls", regionalFirewalls})
	return append(all, route{"compute.networks.get", http.MethodGet, base + "/global/networks/{name}", "compute.networks.get", get(networkType)})
}

var projectRoutes = slices.Concat([]route{
	{"cloudresourcemanager.projects.list", http.MethodGet, "/v1/projects", "", func(x *call) (world.Object, *failure) {
		from, failed := x.from()
		if failed != nil || !x.account.has("resourcemanager.projects.get") {
			return world.Obj(), failed // without permission, the list is empty
		}
		end := min(from+x.size(), len(x.order))
		items := world.Each(end-from, func(i int) world.Object {
			x.project = x.order[from+i]
			o, _ := x.address(projectType).get(x.project.ID)
			return o.Visible()
		})
		next := end
		if end == len(x.order) {
			next = -1
		}
		return world.Obj("projects", items, "nextPageToken", x.next(next)), nil
	}},
	{"cloudresourcemanager.projects.get", http.MethodGet, "/v1/projects/{project}", "resourcemanager.projects.get", func(x *call) (world.Object, *failure) {
		o, _ := x.address(projectType).get(x.project.ID)
		return o.Visible(), nil
	}},
	{"cloudresourcemanager.projects.getIamPolicy", http.MethodPost, "/v1/projects/{project}:getIamPolicy", "resourcemanager.projects.getIamPolicy", func(x *call) (world.Object, *failure) {
		o, _ := x.address(projectType).get(x.project.ID)
		p, _ := o.Get("_policy").(world.Object)
		return p, nil
	}},
	{"cloudresourcemanager.projects.testIamPermissions", http.MethodPost, "/v1/projects/{project}:testIamPermissions", "", func(x *call) (world.Object, *failure) {
		var granted []any
		for _, p := range x.body.List("permissions") {
			if name, ok := p.(string); ok && x.account.has(name) {
				granted = append(granted, p)
			}
		}
		if len(granted) == 0 {
			return world.Obj(), nil
		}
		return world.Obj("permissions", granted), nil
	}},
	{"iam.projects.serviceAccounts.list", http.MethodGet, "/v1/projects/{project}/serviceAccounts", "iam.serviceAccounts.list", list(accountType, "accounts")},
	{"iam.projects.serviceAccounts.get", http.MethodGet, "/v1/projects/{project}/serviceAccounts/{name}", "iam.serviceAccounts.get", get(accountType)},
	{"iam.projects.serviceAccounts.getIamPolicy", http.MethodPost, "/v1/projects/{project}/serviceAccounts/{name}:getIamPolicy", "iam.serviceAccounts.getIamPolicy", policy(accountType)},
	{"iam.projects.serviceAccounts.keys.list", http.MethodGet, "/v1/projects/{project}/serviceAccounts/{parent}/keys", "iam.serviceAccountKeys.list", func(x *call) (world.Object, *failure) {
		o, failed := list(keyType, "keys")(x)
		if failed != nil {
			return nil, failed
		}
		return world.Obj("keys", o.Get("keys")), nil // always one page
	}},
	{"iam.projects.serviceAccounts.keys.get", http.MethodGet, "/v1/projects/{project}/serviceAccounts/{parent}/keys/{name}", "iam.serviceAccountKeys.get", get(keyType)},
	{"iam.projects.roles.list", http.MethodGet, "/v1/projects/{project}/roles", "iam.roles.list", list(roleType, "roles")},
},
	readRoutes("iam", "/v1/projects/{project}/locations/{location}", "projects.locations.workloadIdentityPools", poolType, "/workloadIdentityPools", "iam.workloadIdentityPools"),
	readRoutes("serviceusage", "/v1/projects/{project}", "services", enabledType, "/services", "serviceusage.services"),
)

var dataRoutes = slices.Concat([]route{
	{"storage.buckets.list", http.MethodGet, "/storage/v1/b", "storage.buckets.list", list(bucketType, "items")},
	{"storage.buckets.get", http.MethodGet, "/storage/v1/b/{bucket}", "storage.buckets.get", func(x *call) (world.Object, *failure) {
		o, ok := x.address(bucketType).get(x.args["bucket"])
		if !ok {
			return nil, &failure{status: http.StatusNotFound, reason: "notFound", message: "The specified bucket does not exist."}
		}
		return o.Visible(), nil
	}},
	{"storage.buckets.getIamPolicy", http.MethodGet, "/storage/v1/b/{bucket}/iam", "storage.buckets.getIamPolicy", policy(bucketType)},
	{"sql.instances.list", http.MethodGet, "/v1/projects/{project}/instances", "cloudsql.instances.list", list(sqlType, "items")},
	{"sql.instances.get", http.MethodGet, "/v1/projects/{project}/instances/{name}", "cloudsql.instances.get", get(sqlType)},
	{"bigquery.datasets.list", http.MethodGet, "/bigquery/v2/projects/{project}/datasets", "bigquery.datasets.get", list(datasetType, "datasets", summary)},
	{"bigquery.datasets.get", http.MethodGet, "/bigquery/v2/projects/{project}/datasets/{name}", "bigquery.datasets.get", get(datasetType)},
	{"cloudkms.projects.locations.list", http.MethodGet, "/v1/projects/{project}/locations", "cloudkms.locations.list", locations},
	{"cloudkms.projects.locations.keyRings.getIamPolicy", http.MethodGet, kmsBase + "/keyRings/{name}:getIamPolicy", "cloudkms.keyRings.getIamPolicy", policy(ringType)},
	{"cloudkms.projects.locations.keyRings.cryptoKeys.list", http.MethodGet, kmsBase + "/keyRings/{parent}/cryptoKeys", "cloudkms.cryptoKeys.list", list(cryptoType, "cryptoKeys")},
	{"cloudkms.projects.locations.keyRings.cryptoKeys.get", http.MethodGet, kmsBase + "/keyRings/{parent}/cryptoKeys/{name}", "cloudkms.cryptoKeys.get", get(cryptoType)},
	{"cloudkms.projects.locations.keyRings.cryptoKeys.getIamPolicy", http.MethodGet, kmsBase + "/keyRings/{parent}/cryptoKeys/{name}:getIamPolicy", "cloudkms.cryptoKeys.getIamPolicy", policy(cryptoType)},
},
	readRoutes("cloudkms", kmsBase, "projects.locations.keyRings", ringType, "/keyRings", "cloudkms.keyRings"),
	readRoutes("secretmanager", "/v1/projects/{project}", "projects.secrets", secretType, "/secrets", "secretmanager.secrets"),
	readRoutes("apikeys", "/v2/projects/{project}/locations/{location}", "projects.locations.keys", apiKeyType, "/keys", "apikeys.keys"),
	readRoutes("redis", "/v1/projects/{project}/locations/{location}", "projects.locations.instances", redisType, "/instances", "redis.instances"),
	readRoutes("file", "/v1/projects/{project}/locations/{location}", "projects.locations.instances", fileType, "/instances", "file.instances"),
)

const kmsBase = "/v1/projects/{project}/locations/{location}"

var runtimeRoutes = slices.Concat([]route{
	{"container.projects.locations.clusters.list", http.MethodGet, "/v1/projects/{project}/locations/{location}/clusters", "container.clusters.list", allClusters},
	{"container.projects.locations.clusters.get", http.MethodGet, "/v1/projects/{project}/locations/{location}/clusters/{name}", "container.clusters.get", get(clusterType)},
	{"container.projects.locations.clusters.nodePools.get", http.MethodGet, "/v1/projects/{project}/locations/{location}/clusters/{parent}/nodePools/{name}", "container.clusters.get", nodePool},
	{"cloudfunctions.projects.locations.functions.getIamPolicy", http.MethodGet, "/v2/projects/{project}/locations/{location}/functions/{name}:getIamPolicy", "cloudfunctions.functions.getIamPolicy", policy(functionType)},
	{"run.projects.locations.list", http.MethodGet, "/v1/projects/{project}/locations", "run.locations.list", locations},
	{"run.projects.locations.services.getIamPolicy", http.MethodGet, "/v2/projects/{project}/locations/{location}/services/{name}:getIamPolicy", "run.services.getIamPolicy", policy(runType)},
	{"artifactregistry.projects.locations.list", http.MethodGet, "/v1/projects/{project}/locations", "artifactregistry.locations.list", locations},
	{"artifactregistry.projects.locations.repositories.getIamPolicy", http.MethodGet, "/v1/projects/{project}/locations/{location}/repositories/{name}:getIamPolicy", "artifactregistry.repositories.getIamPolicy", policy(repositoryType)},
},
	readRoutes("cloudfunctions", "/v2/projects/{project}/locations/{location}", "projects.locations.functions", functionType, "/functions", "cloudfunctions.functions"),
	readRoutes("run", "/v2/projects/{project}/locations/{location}", "projects.locations.services", runType, "/services", "run.services"),
	readRoutes("artifactregistry", "/v1/projects/{project}/locations/{location}", "projects.locations.repositories", repositoryType, "/repositories", "artifactregistry.repositories"),
	readRoutes("pubsub", "/v1/projects/{project}", "projects.topics", topicType, "/topics", "pubsub.topics"),
	readRoutes("pubsub", "/v1/projects/{project}", "projects.subscriptions", subscriptionType, "/subscriptions", "pubsub.subscriptions"),
)

// allClusters answers with all clusters: the list has no pages.
func allClusters(x *call) (world.Object, *failure) {
	items := []any{}
	x.page(x.address(clusterType), 0, 1<<30, func(o world.Object) { items = append(items, o.Visible()) })
	return world.Obj("clusters", items), nil
}

// nodePool answers with a node pool of a cluster.
func nodePool(x *call) (world.Object, *failure) {
	o, ok := x.address(clusterType).get(x.args["parent"])
	if ok {
		for _, p := range o.Objects("nodePools") {
			if p.Text("name") == x.args["name"] {
				return p, nil
			}
		}
	}
	return nil, notFound(x.args["name"])
}

var watchRoutes = slices.Concat(
	readRoutes("logging", "/v2/projects/{project}", "projects.sinks", sinkType, "/sinks", "logging.sinks"),
	readRoutes("logging", "/v2/projects/{project}", "projects.metrics", metricType, "/metrics", "logging.logMetrics"),
	readRoutes("logging", "/v2/projects/{project}/locations/{location}", "projects.locations.buckets", logBucketType, "/buckets", "logging.buckets"),
	readRoutes("monitoring", "/v3/projects/{project}", "projects.alertPolicies", alertType, "/alertPolicies", "monitoring.alertPolicies"),
	readRoutes("monitoring", "/v3/projects/{project}", "projects.notificationChannels", channelType, "/notificationChannels", "monitoring.notificationChannels"),
	readRoutes("dns", "/dns/v1/projects/{project}", "managedZones", zoneType, "/managedZones", "dns.managedZones"),
	readRoutes("dns", "/dns/v1/projects/{project}", "policies", dnsPolicyType, "/policies", "dns.policies"),
)
