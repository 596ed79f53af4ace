package gcp

import "vigil/internal/posture"

// The entity types that are read.
const (
	projectType posture.EntityType = "GCP.CloudResourceManager.Project"

	computeProjectType   posture.EntityType = "GCP.Compute.Project"
	instanceType         posture.EntityType = "GCP.Compute.Instance"
	publicIPType         posture.EntityType = "GCP.Compute.PublicIp"
	diskType             posture.EntityType = "GCP.Compute.Disk"
	snapshotType         posture.EntityType = "GCP.Compute.Snapshot"
	imageType            posture.EntityType = "GCP.Compute.Image"
	networkType          posture.EntityType = "GCP.Compute.Network"
	subnetworkType       posture.EntityType = "GCP.Compute.Subnetwork"
	routeType            posture.EntityType = "GCP.Compute.Route"
	routerType           posture.EntityType = "GCP.Compute.Router"
	firewallType         posture.EntityType = "GCP.Compute.Firewall"
	cidrRangeType        posture.EntityType = "GCP.Compute.CidrRange"
	addressType          posture.EntityType = "GCP.Compute.Address"
	vpnGatewayType       posture.EntityType = "GCP.Compute.VpnGateway"
	vpnTunnelType        posture.EntityType = "GCP.Compute.VpnTunnel"
	forwardingRuleType   posture.EntityType = "GCP.Compute.ForwardingRule"
	httpProxyType        posture.EntityType = "GCP.Compute.TargetHttpProxy"
	httpsProxyType       posture.EntityType = "GCP.Compute.TargetHttpsProxy"
	sslProxyType         posture.EntityType = "GCP.Compute.TargetSslProxy"
	tcpProxyType         posture.EntityType = "GCP.Compute.TargetTcpProxy"
	targetPoolType       posture.EntityType = "GCP.Compute.TargetPool"
	urlMapType           posture.EntityType = "GCP.Compute.UrlMap"
	sslPolicyType        posture.EntityType = "GCP.Compute.SslPolicy"
	sslCertificateType   posture.EntityType = "GCP.Compute.SslCertificate"
	backendServiceType   posture.EntityType = "GCP.Compute.BackendService"
	backendBucketType    posture.EntityType = "GCP.Compute.BackendBucket"
	healthCheckType      posture.EntityType = "GCP.Compute.HealthCheck"
	securityPolicyType   posture.EntityType = "GCP.Compute.SecurityPolicy"
	instanceGroupType    posture.EntityType = "GCP.Compute.InstanceGroup"
	groupManagerType     posture.EntityType = "GCP.Compute.InstanceGroupManager"
	instanceTemplateType posture.EntityType = "GCP.Compute.InstanceTemplate"

	serviceAccountType    posture.EntityType = "GCP.IAM.ServiceAccount"
	serviceAccountKeyType posture.EntityType = "GCP.IAM.ServiceAccountKey"
	roleType              posture.EntityType = "GCP.IAM.Role"
	principalType         posture.EntityType = "GCP.IAM.Principal"
	identityPoolType      posture.EntityType = "GCP.IAM.WorkloadIdentityPool"

	bucketType       posture.EntityType = "GCP.Storage.Bucket"
	sqlInstanceType  posture.EntityType = "GCP.SQL.Instance"
	datasetType      posture.EntityType = "GCP.BigQuery.Dataset"
	keyRingType      posture.EntityType = "GCP.KMS.KeyRing"
	cryptoKeyType    posture.EntityType = "GCP.KMS.CryptoKey"
	clusterType      posture.EntityType = "GCP.Container.Cluster"
	nodePoolType     posture.EntityType = "GCP.Container.NodePool"
	functionType     posture.EntityType = "GCP.CloudFunctions.Function"
	runServiceType   posture.EntityType = "GCP.Run.Service"
	topicType        posture.EntityType = "GCP.PubSub.Topic"
	subscriptionType posture.EntityType = "GCP.PubSub.Subscription"

	sinkType        posture.EntityType = "GCP.Logging.Sink"
	logMetricType   posture.EntityType = "GCP.Logging.Metric"
	logBucketType   posture.EntityType = "GCP.Logging.LogBucket"
	alertPolicyType posture.EntityType = "GCP.Monitoring.AlertPolicy"
	channelType     posture.EntityType = "GCP.Monitoring.NotificationChannel"

	zoneType       posture.EntityType = "GCP.DNS.ManagedZone"
	dnsPolicyType  posture.EntityType = "GCP.DNS.Policy"
	apiKeyType     posture.EntityType = "GCP.APIKeys.Key"
	secretType     posture.EntityType = "GCP.SecretManager.Secret"
	enabledType    posture.EntityType = "GCP.ServiceUsage.Service"
	repositoryType posture.EntityType = "GCP.ArtifactRegistry.Repository"
	redisType      posture.EntityType = "GCP.Redis.Instance"
	filestoreType  posture.EntityType = "GCP.Filestore.Instance"
)

// namings of the types that Google has names for.
var namings = map[posture.EntityType]naming{
	projectType: at("cloudresourcemanager", "projects/{n}"),

	computeProjectType:   at("compute", "projects/{n}"),
	instanceType:         zonal("instances"),
	diskType:             anywhere("disks"),
	snapshotType:         global("snapshots"),
	imageType:            global("images"),
	networkType:          global("networks"),
	subnetworkType:       regional("subnetworks"),
	routeType:            global("routes"),
	routerType:           regional("routers"),
	firewallType:         global("firewalls"),
	addressType:          anywhere("addresses"),
	vpnGatewayType:       regional("vpnGateways"),
	vpnTunnelType:        regional("vpnTunnels"),
	forwardingRuleType:   anywhere("forwardingRules"),
	httpProxyType:        anywhere("targetHttpProxies"),
	httpsProxyType:       anywhere("targetHttpsProxies"),
	sslProxyType:         global("targetSslProxies"),
	tcpProxyType:         anywhere("targetTcpProxies"),
	targetPoolType:       regional("targetPools"),
	urlMapType:           anywhere("urlMaps"),
	sslPolicyType:        anywhere("sslPolicies"),
	sslCertificateType:   anywhere("sslCertificates"),
	backendServiceType:   anywhere("backendServices"),
	backendBucketType:    global("backendBuckets"),
	healthCheckType:      anywhere("healthChecks"),
	securityPolicyType:   anywhere("securityPolicies"),
	instanceGroupType:    anywhere("instanceGroups"),
	groupManagerType:     anywhere("instanceGroupManagers"),
	instanceTemplateType: anywhere("instanceTemplates"),

	serviceAccountType:    at("iam", "projects/{p}/serviceAccounts/{n}"),
	serviceAccountKeyType: at("iam", "projects/{p}/serviceAccounts/{n}/keys/{n}"),
	roleType:              at("iam", "projects/{p}/roles/{n}"),
	identityPoolType:      local("iam", "workloadIdentityPools/{n}"),

	bucketType:      at("storage", "projects/{p}/buckets/{n}"),
	sqlInstanceType: at("sqladmin", "projects/{p}/instances/{n}"),
	datasetType:     at("bigquery", "projects/{p}/datasets/{n}"),
	keyRingType:     local("cloudkms", "keyRings/{n}"),
	cryptoKeyType:   local("cloudkms", "keyRings/{n}/cryptoKeys/{n}"),
	clusterType: at("container", "projects/{p}/locations/{l}/clusters/{n}",
		"projects/{p}/zones/{l}/clusters/{n}", "projects/{p}/regions/{l}/clusters/{n}"),
	nodePoolType: at("container", "projects/{p}/locations/{l}/clusters/{n}/nodePools/{n}",
		"projects/{p}/zones/{l}/clusters/{n}/nodePools/{n}", "projects/{p}/regions/{l}/clusters/{n}/nodePools/{n}"),
	functionType:     local("cloudfunctions", "functions/{n}"),
	runServiceType:   local("run", "services/{n}"),
	topicType:        at("pubsub", "projects/{p}/topics/{n}"),
	subscriptionType: at("pubsub", "projects/{p}/subscriptions/{n}"),

	sinkType:        at("logging", "projects/{p}/sinks/{n}"),
	logMetricType:   at("logging", "projects/{p}/metrics/{n}"),
	logBucketType:   local("logging", "buckets/{n}"),
	alertPolicyType: at("monitoring", "projects/{p}/alertPolicies/{n}"),
	channelType:     at("monitoring", "projects/{p}/notificationChannels/{n}"),

	zoneType:       at("dns", "projects/{p}/managedZones/{n}"),
	dnsPolicyType:  at("dns", "projects/{p}/policies/{n}"),
	apiKeyType:     local("apikeys", "keys/{n}"),
	secretType:     at("secretmanager", "projects/{p}/secrets/{n}", "projects/{p}/locations/{l}/secrets/{n}"),
	enabledType:    at("serviceusage", "projects/{p}/services/{n}"),
	repositoryType: local("artifactregistry", "repositories/{n}"),
	redisType:      local("redis", "instances/{n}"),
	filestoreType:  local("file", "instances/{n}"),
}
