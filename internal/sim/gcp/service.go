package gcp

import (
	"net/http"
	"slices"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

const (
	targetVpnType       posture.EntityType = "GCP.Compute.TargetVpnGateway"
	externalVpnType     posture.EntityType = "GCP.Compute.ExternalVpnGateway"
	machineImageType    posture.EntityType = "GCP.Compute.MachineImage"
	runJobType          posture.EntityType = "GCP.Run.Job"
	providerType        posture.EntityType = "GCP.IAM.WorkloadIdentityPoolProvider"
	spannerType         posture.EntityType = "GCP.Spanner.Instance"
	spannerDatabaseType posture.EntityType = "GCP.Spanner.Database"
	bigtableType        posture.EntityType = "GCP.Bigtable.Instance"
	alloyClusterType    posture.EntityType = "GCP.AlloyDB.Cluster"
	alloyInstanceType   posture.EntityType = "GCP.AlloyDB.Instance"
	redisClusterType    posture.EntityType = "GCP.Redis.Cluster"
	memcacheType        posture.EntityType = "GCP.Memcache.Instance"
	notebookType        posture.EntityType = "GCP.Notebooks.Instance"
	fusionType          posture.EntityType = "GCP.DataFusion.Instance"
	workflowType        posture.EntityType = "GCP.Workflows.Workflow"
	firestoreType       posture.EntityType = "GCP.Firestore.Database"
	dataprocType        posture.EntityType = "GCP.Dataproc.Cluster"
	schedulerType       posture.EntityType = "GCP.CloudScheduler.Job"
	schemaType          posture.EntityType = "GCP.PubSub.Schema"
	queueSnapshotType   posture.EntityType = "GCP.PubSub.Snapshot"
)

// fabricKinds are further resources of Compute Engine, of which a project has one each.
var fabricKinds = []*kind{
	fabric(targetVpnType, "targetVpnGateways", computeRegion, "classic-vpn-", func(a address) world.Object {
		return world.Obj("status", "READY", "network", a.ref(networkType, 0), "tunnels", world.Items(a.ref(tunnelType, 0)))
	}),
	fabric(externalVpnType, "externalVpnGateways", computeGlobal, "peer-vpn-", func(address) world.Object {
		return world.Obj("redundancyType", "SINGLE_IP_INTERNALLY_REDUNDANT", "interfaces", world.Items(world.Obj("id", 0, "ipAddress", "203.0.113.9")))
	}),
	fabric("GCP.Compute.InterconnectAttachment", "interconnectAttachments", computeRegion, "vlan-", func(a address) world.Object {
		return world.Obj("type", "PARTNER", "state", "ACTIVE", "encryption", "IPSEC", "bandwidth", "BPS_1G", "adminEnabled", true, "router", a.ref(routerType, 0))
	}),
	fabric("GCP.Compute.NetworkEndpointGroup", "networkEndpointGroups", computeZone, "neg-", func(a address) world.Object {
		return world.Obj("networkEndpointType", "PRIVATE_SERVICE_CONNECT", "size", 1, "pscTargetService", "us-central1-cloudkms.googleapis.com", "network", a.ref(networkType, 0), "subnetwork", a.ref(subnetType, 0))
	}),
	fabric("GCP.Compute.ServiceAttachment", "serviceAttachments", computeRegion, "psc-", func(a address) world.Object {
		return world.Obj("connectionPreference", "ACCEPT_MANUAL", "consumerAcceptLists", world.Items(world.Obj("projectIdOrNum", a.project.ID, "connectionLimit", 10)), "consumerRejectLists", world.Items("strangers"),
			"natSubnets", world.Items(a.ref(subnetType, 0)), "targetService", a.ref(forwardingType, 0))
	}),
	fabric("GCP.Compute.ResourcePolicy", "resourcePolicies", computeRegion, "snapshots-", func(address) world.Object {
		return world.Obj("status", "READY", "snapshotSchedulePolicy", world.Obj("retentionPolicy", world.Obj("maxRetentionDays", 14)))
	}),
	fabric("GCP.Compute.Autoscaler", "autoscalers", computeZone, "scaler-", func(a address) world.Object {
		return world.Obj("status", "ACTIVE", "target", a.ref(managerType, 0), "autoscalingPolicy", world.Obj("minNumReplicas", 2, "maxNumReplicas", 5, "mode", "ON"))
	}),
	fabric("GCP.Compute.PacketMirroring", "packetMirrorings", computeRegion, "mirror-", func(a address) world.Object {
		return world.Obj("enable", "TRUE", "network", world.Obj("url", a.ref(networkType, 0)), "collectorIlb", world.Obj("url", a.ref(forwardingType, 0)),
			"mirroredResources", world.Obj("tags", world.Items("web"), "subnetworks", world.Items(world.Obj("url", a.ref(subnetType, 0)))))
	}),
	fabric(machineImageType, "machineImages", computeGlobal, "machine-", func(a address) world.Object {
		return world.Obj("status", "READY", "storageLocations", world.Items("eu"), "sourceInstance", a.ref(instanceType, 0), "machineImageEncryptionKey", world.Obj("kmsKeyName", a.keyPath(0)))
	}),
}

// serviceKinds are further services, of which a project has one resource each.
var serviceKinds = []*kind{
	service(runJobType, "run", "jobs", inLocation, "job-", func(a address) world.Object {
		return world.Obj("createTime", a.created(), "labels", a.labels(), "template", world.Obj("template", world.Obj("serviceAccount", a.email(0), "encryptionKey", a.keyPath(0),
			"containers", world.Items(world.Obj("image", "europe-docker.pkg.dev/x/y:1", "env", world.Items(world.Obj("name", "DB_PASSWORD", "value", "simulated-Passw0rd"),
				world.Obj("name", "TOKEN", "valueSource", world.Obj("secretKeyRef", world.Obj("secret", a.peer(secretType, 0).name(), "version", "latest")))))))))
	}),
	part(providerType, poolType, "iam", "providers", "github-", func(address) world.Object {
		return world.Obj("state", "ACTIVE", "attributeCondition", "assertion.repository_owner == 'example'", "oidc", world.Obj("issuerUri", "https://token.actions.githubusercontent.com", "allowedAudiences", world.Items("vigil")),
			"aws", world.Obj("accountId", "123456789012"))
	}),
	service(spannerType, "spanner", "instances", inProject, "spanner-", func(a address) world.Object {
		return world.Obj("displayName", "orders", "config", "projects/"+a.project.ID+"/instanceConfigs/regional-europe-west1", "edition", "ENTERPRISE", "state", "READY", "createTime", a.created(), "labels", a.labels(), "defaultBackupScheduleType", "AUTOMATIC")
	}),
	part(spannerDatabaseType, spannerType, "spanner", "databases", "db-", func(a address) world.Object {
		return world.Obj("state", "READY", "databaseDialect", "POSTGRESQL", "enableDropProtection", true, "versionRetentionPeriod", "1h", "createTime", a.created(), "encryptionConfig", world.Obj("kmsKeyName", a.keyPath(0)))
	}),
	service(bigtableType, "bigtableadmin", "instances", inProject, "bigtable-", func(a address) world.Object {
		return world.Obj("displayName", "events", "state", "READY", "type", "PRODUCTION", "createTime", a.created(), "labels", a.labels())
	}),
	service(alloyClusterType, "alloydb", "clusters", inLocation, "alloy-", func(a address) world.Object {
		return world.Obj("state", "READY", "clusterType", "PRIMARY", "databaseVersion", "POSTGRES_16", "createTime", a.created(), "labels", a.labels(), "automatedBackupPolicy", world.Obj("enabled", true), "continuousBackupConfig", world.Obj("enabled", true),
			"encryptionConfig", world.Obj("kmsKeyName", a.keyPath(0)), "networkConfig", world.Obj("network", a.peer(networkType, 0).path()))
	}),
	part(alloyInstanceType, alloyClusterType, "alloydb", "instances", "primary-", func(a address) world.Object {
		return world.Obj("state", "READY", "instanceType", "PRIMARY", "availabilityType", "REGIONAL", "createTime", a.created(), "labels", a.labels(), "networkConfig", world.Obj("enablePublicIp", true, "authorizedExternalNetworks", world.Items(world.Obj("cidrRange", "203.0.113.0/24"))),
			"clientConnectionConfig", world.Obj("requireConnectors", true, "sslConfig", world.Obj("sslMode", "ENCRYPTED_ONLY")))
	}),
	service(redisClusterType, "redis", "clusters", inLocation, "cache-", func(a address) world.Object {
		return world.Obj("state", "ACTIVE", "authorizationMode", "AUTH_MODE_IAM_AUTH", "transitEncryptionMode", "TRANSIT_ENCRYPTION_MODE_SERVER_AUTHENTICATION", "replicaCount", 1, "shardCount", 3, "deletionProtectionEnabled", true,
			"kmsKey", a.keyPath(0), "createTime", a.created(), "pscConfigs", world.Items(world.Obj("network", a.peer(networkType, 0).path())))
	}),
	service(memcacheType, "memcache", "instances", inLocation, "memcache-", func(a address) world.Object {
		return world.Obj("state", "READY", "memcacheVersion", "MEMCACHE_1_6_15", "nodeCount", 2, "zones", world.Items("us-central1-a"), "createTime", a.created(), "labels", a.labels(), "authorizedNetwork", a.peer(networkType, 0).path())
	}),
	service(notebookType, "notebooks", "instances", inLocation, "notebook-", func(a address) world.Object {
		return world.Obj("state", "ACTIVE", "disableProxyAccess", false, "createTime", a.created(), "labels", a.labels(), "gceSetup", world.Obj("disablePublicIp", true, "serviceAccounts", world.Items(world.Obj("email", a.email(0))),
			"shieldedInstanceConfig", world.Obj("enableSecureBoot", true), "networkInterfaces", world.Items(world.Obj("network", a.peer(networkType, 0).path(), "subnet", a.peer(subnetType, 0).path()))))
	}),
	service(fusionType, "datafusion", "instances", inLocation, "fusion-", func(a address) world.Object {
		return world.Obj("state", "ACTIVE", "type", "ENTERPRISE", "version", "6.11.0", "privateInstance", true, "enableRbac", true, "enableStackdriverLogging", true, "createTime", a.created(), "labels", a.labels(),
			"dataprocServiceAccount", a.email(0), "gcsBucket", a.peer(bucketType, 0).name(), "cryptoKeyConfig", world.Obj("keyReference", a.keyPath(0)))
	}),
	service(workflowType, "workflows", "workflows", inLocation, "workflow-", func(a address) world.Object {
		return world.Obj("state", "ACTIVE", "serviceAccount", "projects/"+a.project.ID+"/serviceAccounts/"+a.email(0), "callLogLevel", "LOG_ERRORS_ONLY", "userEnvVars", world.Obj("DB_PASSWORD", "simulated-Passw0rd"), "cryptoKeyName", a.keyPath(0), "createTime", a.created(), "labels", a.labels())
	}),
	service(firestoreType, "firestore", "databases", inProject, "store-", func(a address) world.Object {
		return world.Obj("type", "FIRESTORE_NATIVE", "databaseEdition", "STANDARD", "locationId", "eur3", "deleteProtectionState", "DELETE_PROTECTION_ENABLED", "pointInTimeRecoveryEnablement", "POINT_IN_TIME_RECOVERY_ENABLED",
			"createTime", a.created(), "cmekConfig", world.Obj("kmsKeyName", a.keyPath(0)))
	}),
	{
		typ: dataprocType, service: "dataproc", collection: "clusters", where: computeRegion, prefix: "spark-", count: one,
		named: func(a address) world.Object {
			return world.Obj("clusterName", a.name(), "projectId", a.project.ID, "_path", a.path())
		},
		body: func(a address) world.Object {
			return world.Obj("status", world.Obj("state", "RUNNING"), "labels", append(a.labels(), world.Obj("goog-dataproc-location", a.location())...), "config", world.Obj("configBucket", a.peer(bucketType, 0).name(), "softwareConfig", world.Obj("imageVersion", "2.2.40-debian12"), "encryptionConfig", world.Obj("gcePdKmsKeyName", a.keyPath(0)),
				"gceClusterConfig", world.Obj("internalIpOnly", true, "serviceAccount", a.email(0), "subnetworkUri", a.ref(subnetType, 0), "shieldedInstanceConfig", world.Obj("enableSecureBoot", true))))
		},
	},
	service(schedulerType, "cloudscheduler", "jobs", inLocation, "cron-", func(a address) world.Object {
		return world.Obj("state", "ENABLED", "schedule", "0 3 * * *", "timeZone", "Etc/UTC", "httpTarget", world.Obj("uri", "https://jobs.example.com/nightly", "httpMethod", "POST", "oidcToken", world.Obj("serviceAccountEmail", a.email(0))),
			"pubsubTarget", world.Obj("topicName", a.peer(topicType, 0).path()))
	}),
	service(schemaType, "pubsub", "schemas", inProject, "schema-", func(address) world.Object {
		return world.Obj("type", "AVRO", "revisionId", "19c37de6")
	}),
	service(queueSnapshotType, "pubsub", "snapshots", inProject, "snap-", func(a address) world.Object {
		return world.Obj("topic", a.peer(topicType, 0).path(), "expireTime", a.ago(-5), "labels", a.labels())
	}),
}

// fabric returns a kind of Compute Engine of which a project has one resource.
func fabric(typ posture.EntityType, collection string, where level, prefix string, body func(address) world.Object) *kind {
	return &kind{typ: typ, service: "compute", collection: collection, where: where, prefix: prefix, count: one, body: body}
}

// service returns a kind of which a project has one resource.
func service(typ posture.EntityType, api, collection string, where level, prefix string, body func(address) world.Object) *kind {
	return &kind{typ: typ, service: api, collection: collection, where: where, prefix: prefix, count: one, named: pathNamed, body: body}
}

// part returns a kind of which every resource of another kind has one.
func part(typ, in posture.EntityType, api, collection, prefix string, body func(address) world.Object) *kind {
	return &kind{typ: typ, in: in, service: api, collection: collection, prefix: prefix, count: one, named: pathNamed, body: body}
}

const locationBase = "/v1/projects/{project}/locations/{location}"

var serviceRoutes = slices.Concat([]route{
	{"compute.regions.list", http.MethodGet, "/compute/v1/projects/{project}/regions", "compute.regions.list", func(*call) (world.Object, *failure) {
		return world.Obj("items", world.Each(len(regions), func(i int) world.Object { return world.Obj("name", regions[i]) })), nil
	}},
	{"accessapproval.projects.getAccessApprovalSettings", http.MethodGet, "/v1/projects/{project}/accessApprovalSettings", "accessapproval.settings.get", func(*call) (world.Object, *failure) {
		return world.Obj("name", "projects/1/accessApprovalSettings", "enrolledServices", world.Items(world.Obj("cloudProduct", "storage.googleapis.com", "enrollmentLevel", "BLOCK_ALL")), "enrolledAncestor", true), nil
	}},
	{"essentialcontacts.projects.contacts.compute", http.MethodGet, "/v1/projects/{project}/contacts:compute", "essentialcontacts.contacts.list", func(*call) (world.Object, *failure) {
		return world.Obj("contacts", world.Items(world.Obj("name", "organizations/1/contacts/1", "email", "security@example.com", "notificationCategorySubscriptions", world.Items("SECURITY", "TECHNICAL")))), nil
	}},
	{"cloudscheduler.projects.locations.list", http.MethodGet, "/v1/projects/{project}/locations", "cloudscheduler.locations.list", locations},
	{"firestore.projects.databases.list", http.MethodGet, "/v1/projects/{project}/databases", "datastore.databases.list", func(x *call) (world.Object, *failure) {
		o, failed := list(firestoreType, "databases")(x)
		if failed != nil {
			return nil, failed
		}
		return world.Obj("databases", o.Get("databases")), nil // always one page
	}},
	{"firestore.projects.databases.get", http.MethodGet, "/v1/projects/{project}/databases/{name}", "datastore.databases.get", get(firestoreType)},
	{"alloydb.projects.locations.clusters.instances.list", http.MethodGet, locationBase + "/clusters/{parent}/instances", "alloydb.instances.list", alloyInstances},
	{"alloydb.projects.locations.clusters.instances.get", http.MethodGet, locationBase + "/clusters/{parent}/instances/{name}", "alloydb.instances.get", get(alloyInstanceType)},
	{"iam.projects.locations.workloadIdentityPools.providers.list", http.MethodGet, locationBase + "/workloadIdentityPools/{parent}/providers", "iam.workloadIdentityPoolProviders.list", list(providerType, "workloadIdentityPoolProviders")},
	{"iam.projects.locations.workloadIdentityPools.providers.get", http.MethodGet, locationBase + "/workloadIdentityPools/{parent}/providers/{name}", "iam.workloadIdentityPoolProviders.get", get(providerType)},
	{"spanner.projects.instances.databases.list", http.MethodGet, "/v1/projects/{project}/instances/{parent}/databases", "spanner.databases.list", list(spannerDatabaseType, "databases")},
	{"spanner.projects.instances.databases.get", http.MethodGet, "/v1/projects/{project}/instances/{parent}/databases/{name}", "spanner.databases.get", get(spannerDatabaseType)},
},
	readRoutes("run", "/v2/projects/{project}/locations/{location}", "projects.locations.jobs", runJobType, "/jobs", "run.jobs"),
	readRoutes("spanner", "/v1/projects/{project}", "projects.instances", spannerType, "/instances", "spanner.instances"),
	readRoutes("bigtableadmin", "/v2/projects/{project}", "projects.instances", bigtableType, "/instances", "bigtable.instances"),
	readRoutes("alloydb", locationBase, "projects.locations.clusters", alloyClusterType, "/clusters", "alloydb.clusters"),
	readRoutes("redis", locationBase, "projects.locations.clusters", redisClusterType, "/clusters", "redis.clusters"),
	readRoutes("memcache", locationBase, "projects.locations.instances", memcacheType, "/instances", "memcache.instances"),
	readRoutes("notebooks", "/v2/projects/{project}/locations/{location}", "projects.locations.instances", notebookType, "/instances", "notebooks.instances"),
	readRoutes("datafusion", locationBase, "projects.locations.instances", fusionType, "/instances", "datafusion.instances"),
	readRoutes("workflows", locationBase, "projects.locations.workflows", workflowType, "/workflows", "workflows.workflows"),
	readRoutes("dataproc", "/v1/projects/{project}/regions/{location}", "projects.regions.clusters", dataprocType, "/clusters", "dataproc.clusters"),
	readRoutes("cloudscheduler", locationBase, "projects.locations.jobs", schedulerType, "/jobs", "cloudscheduler.jobs"),
	readRoutes("pubsub", "/v1/projects/{project}", "projects.schemas", schemaType, "/schemas", "pubsub.schemas"),
	readRoutes("pubsub", "/v1/projects/{project}", "projects.snapshots", queueSnapshotType, "/snapshots", "pubsub.snapshots"),
)

// alloyInstances answers with the instances of one cluster, or of all clusters.
func alloyInstances(x *call) (world.Object, *failure) {
	if x.args["parent"] != "-" {
		return list(alloyInstanceType, "instances")(x)
	}
	items := []any{}
	clusters := x.address(alloyClusterType)
	for i := range clusters.count() {
		clusters.i = i
		x.args["parent"] = clusters.name()
		x.page(x.address(alloyInstanceType), 0, 1<<30, func(o world.Object) { items = append(items, o.Visible()) })
	}
	return world.Obj("instances", items), nil
}
