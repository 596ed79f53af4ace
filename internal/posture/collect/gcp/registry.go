package gcp

// collectors of all types, those that share calls beside one another.
var collectors = []collector{
	projects, principals, roles, serviceAccounts, serviceAccountKeys, identityPools,

	computeProjects, instances, disks, snapshots, images, instanceTemplates, instanceGroups, groupManagers,
	networks, dnsPolicies, zones, subnetworks, routes, routers, firewalls, cidrRanges, addresses, publicIPs, vpnGateways, vpnTunnels,
	forwardingRules, httpProxies, httpsProxies, sslProxies, tcpProxies, targetPools, urlMaps, sslPolicies, sslCertificates,
	backendServices, backendBuckets, healthChecks, securityPolicies,

	buckets, sqlInstances, datasets, redisInstances, filestores,
	clusters, nodePools, functions, runServices, repositories,
	keyRings, cryptoKeys, secrets, apiKeys,
	sinks, logMetrics, logBuckets, alertPolicies, channels,
	topics, subscriptions, enabledServices,
}
