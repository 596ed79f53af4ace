package aws

// collectors lists what is read. A collector is added here and nowhere else.
var collectors = []collector{
	instances, keyPairs, launchTemplates,
	securityGroups, cidrRanges, networkACLs,
	vpcs, subnets, routeTables, internetGateways, natGateways, flowLogs,
	networkInterfaces, addresses, publicIPs, peerings, vpcEndpoints, transitGateways, vpnGateways, vpnConnections,
	volumes, snapshots, images,

	accountSummary, passwordPolicy, users, accessKeys, groups, roles, principalsOf, policies, instanceProfiles, serverCertificates,
	mfaDevices, samlProviders, oidcProviders,

	buckets, accountPublicBlock,
}
