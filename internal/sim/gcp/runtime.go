package gcp

import (
	"strconv"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

const (
	clusterType      posture.EntityType = "GCP.Container.Cluster"
	nodePoolType     posture.EntityType = "GCP.Container.NodePool"
	functionType     posture.EntityType = "GCP.CloudFunctions.Function"
	runType          posture.EntityType = "GCP.Run.Service"
	topicType        posture.EntityType = "GCP.PubSub.Topic"
	subscriptionType posture.EntityType = "GCP.PubSub.Subscription"
	repositoryType   posture.EntityType = "GCP.ArtifactRegistry.Repository"
)

var runtimeKinds = []*kind{
	{
		typ: clusterType, service: "container", collection: "clusters", where: inLocation, prefix: "gke-", count: func(a address) int { return a.scaled(8, 3) },
		named: func(a address) world.Object {
			return world.Obj("name", a.name(), "location", a.location(), "selfLink", "https://container.googleapis.com/v1/"+a.path())
		},
		body: cluster,
	},
	{
		typ: functionType, service: "cloudfunctions", collection: "functions", where: inLocation, prefix: "fn-", count: func(a address) int { return a.scaled(30, 5) }, named: pathNamed,
		body: function,
	},
	{
		// The service that runs a function has the number and the name of the function, including the prefix fn-.
		typ: runType, service: "run", collection: "services", where: inLocation, prefix: "fn-", count: func(a address) int { return a.scaled(30, 5) + 2 }, named: pathNamed,
		body: func(a address) world.Object {
			invoker := "serviceAccount:" + a.email(1)
			if a.i < a.countOf(functionType) && a.i%4 == 1 && a.peer(functionType, a.i).violates("gcp-function-public") {
				invoker = "allUsers"
			}
			return world.Obj("uid", a.id(), "uri", "https://"+a.name()+"-x.a.run.app", "ingress", "INGRESS_TRAFFIC_ALL", "createTime", a.created(), "labels", a.labels(),
				"template", world.Obj("serviceAccount", a.email(a.i%a.accounts()), "encryptionKey", a.keyPath(a.i), "vpcAccess", world.Obj("connector", "projects/"+a.project.ID+"/locations/"+a.location()+"/connectors/office"),
					"containers", world.Items(world.Obj("image", "europe-docker.pkg.dev/x/y:1", "env", world.Items(world.Obj("name", "DB_PASSWORD", "value", "simulated-Passw0rd"),
						world.Obj("name", "TOKEN", "valueSource", world.Obj("secretKeyRef", world.Obj("secret", a.peer(secretType, 0).name(), "version", "latest"))))))),
				"_policy", grants(binding("roles/run.invoker", invoker)))
		},
	},
	{
		typ: topicType, service: "pubsub", collection: "topics", prefix: "topic-", count: func(a address) int { return a.scaled(20, 3) }, named: pathNamed,
		body: func(a address) world.Object {
			o := world.Obj("labels", a.labels(), "state", "ACTIVE")
			if a.i%2 == 0 {
				o = append(o, world.Obj("kmsKeyName", a.keyPath(a.i), "messageRetentionDuration", "86400s", "messageStoragePolicy", world.Obj("allowedPersistenceRegions", world.Items("europe-west1")))...)
			}
			return o
		},
	},
	{
		typ: subscriptionType, service: "pubsub", collection: "subscriptions", prefix: "sub-", count: func(a address) int { return a.scaled(20, 3) }, named: pathNamed,
		body: func(a address) world.Object {
			o := world.Obj("topic", a.peer(topicType, a.i%a.countOf(topicType)).path(), "ackDeadlineSeconds", 30, "messageRetentionDuration", "604800s", "state", "ACTIVE", "labels", a.labels(),
				"expirationPolicy", world.Obj("ttl", "2678400s"))
			if a.i%2 == 1 {
				o = append(o, world.Obj("cloudStorageConfig", world.Obj("bucket", a.peer(bucketType, 3).name(), "state", "ACTIVE"))...)
			} else {
				o = append(o, world.Obj("pushConfig", world.Obj("pushEndpoint", "https://push.example.com/hook?token=simulated-push-secret", "oidcToken", world.Obj("serviceAccountEmail", a.email(0), "audience", "x")),
					"deadLetterPolicy", world.Obj("deadLetterTopic", a.peer(topicType, 0).path(), "maxDeliveryAttempts", 5))...)
			}
			return o
		},
	},
	{
		typ: repositoryType, service: "artifactregistry", collection: "repositories", where: inLocation, prefix: "repo-", count: func(a address) int { return a.scaled(8, 3) }, named: pathNamed,
		body: func(a address) world.Object {
			reader := "group:developers@example.com"
			if a.i == 2 {
				reader = "allUsers"
			}
			return world.Obj("format", "DOCKER", "mode", "STANDARD_REPOSITORY", "createTime", a.created(), "labels", a.labels(), "sizeBytes", "123456", "kmsKeyName", a.keyPath(a.i), "dockerConfig", world.Obj("immutableTags", a.i%2 == 0),
				"vulnerabilityScanningConfig", world.Obj("enablementState", "SCANNING_ACTIVE"), "_policy", grants(binding("roles/artifactregistry.reader", reader)))
		},
	},
}

func cluster(a address) world.Object {
	pools := world.Each(2, func(i int) world.Object {
		email := a.email(a.i % a.accounts())
		if a.violates("gcp-gke-default-sa") && i == 1 {
			email = []string{"default", a.defaultAccount()}[a.i%2]
		}
		name := "pool-" + strconv.Itoa(i)
		return world.Obj("name", name, "status", "RUNNING", "version", "1.33.5-gke.100", "initialNodeCount", 3, "selfLink", "https://container.googleapis.com/v1/"+a.path()+"/nodePools/"+name,
			"management", world.Obj("autoUpgrade", true, "autoRepair", i == 0), "instanceGroupUrls", world.Items(a.ref(managerType, 0)),
			"config", world.Obj("machineType", "e2-standard-4", "imageType", "COS_CONTAINERD", "serviceAccount", email, "oauthScopes", world.Items(cloudPlatform), "bootDiskKmsKey", a.keyPath(i), "labels", world.Obj("pool", name),
				"shieldedInstanceConfig", world.Obj("enableSecureBoot", i == 0, "enableIntegrityMonitoring", true), "workloadMetadataConfig", world.Obj("mode", "GKE_METADATA")))
	})
	o := world.Obj("status", "RUNNING", "currentMasterVersion", "1.33.5-gke.100", "endpoint", publicIP(96, a.i), "createTime", a.created(), "resourceLabels", a.labels(), "loggingService", "logging.googleapis.com/kubernetes",
		"network", a.peer(networkType, 0).name(), "networkConfig", world.Obj("network", "projects/"+a.project.ID+"/global/networks/"+a.peer(networkType, 0).name(), "subnetwork", a.peer(subnetType, a.i%len(regions)).path()),
		"nodePools", pools, "shieldedNodes", world.Obj("enabled", true), "releaseChannel", world.Obj("channel", "REGULAR"), "workloadIdentityConfig", world.Obj("workloadPool", a.project.ID+".svc.id.goog"),
		"databaseEncryption", world.Obj("state", "ENCRYPTED", "keyName", a.keyPath(a.i)), "binaryAuthorization", world.Obj("evaluationMode", "DISABLED"))
	switch {
	case a.violates("gcp-gke-public-endpoint"):
		return append(o, world.Obj("privateClusterConfig", world.Obj("enablePrivateNodes", true), "masterAuthorizedNetworksConfig", world.Obj())...)
	case a.i%2 == 0:
		return append(o, world.Obj("privateClusterConfig", world.Obj("enablePrivateNodes", true, "enablePrivateEndpoint", true))...)
	}
	return append(o, world.Obj("masterAuthorizedNetworksConfig", world.Obj("enabled", true, "cidrBlocks", world.Items(world.Obj("displayName", "office", "cidrBlock", "203.0.113.0/24"))))...)
}

// function generates a function. Every other is of the second generation, whose
// invokers are in the policy of a Cloud Run service.
func function(a address) world.Object {
	ingress, p := "ALLOW_INTERNAL_ONLY", grants(binding("roles/cloudfunctions.viewer", "group:developers@example.com"))
	gen := []string{"GEN_1", "GEN_2"}[a.i%2]
	if a.violates("gcp-function-public") {
		switch a.i % 4 {
		case 0:
			p = grants(binding("roles/cloudfunctions.invoker", "allUsers"))
		case 1: // the invoker is in the policy of the Cloud Run service
			ingress = world.PickOne(a.seed("ingress"), "ALLOW_ALL", "ALLOW_INTERNAL_ONLY")
		case 2:
			ingress, p = "ALLOW_ALL", grants(binding("roles/cloudfunctions.invoker", "allUsers"))
		default:
			ingress = "ALLOW_ALL"
		}
	}
	var trigger, connector, key any
	if a.i%3 == 1 {
		trigger = world.Obj("eventType", "google.cloud.pubsub.topic.v1.messagePublished", "pubsubTopic", a.peer(topicType, 0).path(), "triggerRegion", a.location())
		connector, key = "projects/"+a.project.ID+"/locations/"+a.location()+"/connectors/office", a.keyPath(a.i)
	}
	config := world.Obj("vpcConnector", connector, "ingressSettings", ingress, "serviceAccountEmail", a.email(a.i%a.accounts()), "environmentVariables", world.Obj("LEVEL", "simulated-function-secret", "DB_PASSWORD", "simulated-Passw0rd"))
	if gen == "GEN_2" {
		config = append(config, world.Obj("service", a.peer(runType, a.i).path())...)
	}
	return world.Obj("environment", gen, "state", "ACTIVE", "updateTime", a.created(), "labels", a.labels(), "url", "https://"+a.location()+"-"+a.project.ID+".cloudfunctions.net/"+a.name(),
		"buildConfig", world.Obj("runtime", "python312", "entryPoint", "main"), "eventTrigger", trigger, "kmsKeyName", key, "serviceConfig", config, "_policy", p)
}
