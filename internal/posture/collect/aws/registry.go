package aws

// collectors lists what is read. A collector is added here and nowhere else.
var collectors = []collector{
	account, region,

	instances, keyPairs, launchTemplates, autoScalingGroups,
	securityGroups, cidrRanges, networkACLs,
	vpcs, subnets, routeTables, internetGateways, natGateways, flowLogs,
	networkInterfaces, addresses, publicIPs, peerings, vpcEndpoints, transitGateways, vpnGateways, vpnConnections,
	volumes, snapshots, images,

	accountSummary, passwordPolicy, users, accessKeys, groups, roles, principalsOf, policies, instanceProfiles, serverCertificates,
	mfaDevices, samlProviders, oidcProviders,

	buckets, accountPublicBlock, keys, aliases, secrets, parameters,
	dbInstances, dbClusters, dbSnapshots, dbClusterSnapshots, dbSubnetGroups,
	tables, cacheClusters, replicationGroups, warehouses, fileSystems, domains,

	trails, logGroups, metricFilters, alarms, eventBuses, eventRules,
	recorders, detectors, hubs, analyzers,

	functions, ecsClusters, ecsServices, taskDefinitions, eksClusters, nodegroups, repositories,
	loadBalancers, listeners, targetGroups, restAPIs, httpAPIs, webACLs, distributions, zones, certificates,
	topics, subscriptions, queues,
}
