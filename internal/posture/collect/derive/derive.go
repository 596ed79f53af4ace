// Package derive holds the functions that resource declarations name for what
// data cannot say: the verdict on a policy, the rules of a firewall, the lines of
// a credential report.
package derive

import (
	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// Functions returns all functions by their names.
func Functions() resource.Functions {
	return resource.Functions{
		Derive: map[string]resource.Function{
			"aws.bucketACL":               awsBucketACL,
			"aws.bucketOrigins":           awsBucketOrigins,
			"aws.bucketPolicy":            awsBucketPolicy,
			"aws.bucketPublicAccessBlock": awsBucketPublicAccessBlock,
			"aws.cidr":                    awsCIDR,
			"aws.escapedPolicy":           awsEscapedPolicy,
			"aws.eventSelectors":          awsEventSelectors,
			"aws.inlinePolicies":          awsInlinePolicies,
			"aws.ipVersion":               awsIPVersion,
			"aws.listeners":               awsListeners,
			"aws.networkAcl":              awsNetworkACL,
			"aws.policyDocument":          awsPolicyDocument,
			"aws.principal":               awsPrincipal,
			"aws.recordsAllTypes":         awsRecordsAllTypes,
			"aws.resourcePolicy":          awsResourcePolicy,
			"aws.routes":                  awsRoutes,
			"aws.securityGroupEgress":     awsSecurityGroupRules("ipPermissionsEgress", "ALLOWS_EGRESS", "What may go out"),
			"aws.securityGroupIngress":    awsSecurityGroupRules("ipPermissions", "ALLOWS_INGRESS", "What may come in"),
			"aws.trustPolicy":             awsTrustPolicy,
			"aws.vpcPeering":              awsVPCPeering,
			"azure.activeKey":             azureActiveKey,
			"azure.activityLogs":          azureLogs(azureActivityLog...),
			"azure.alertConditions":       azureAlertConditions,
			"azure.alertedOperations":     azureAlertedOperations,
			"azure.assignmentScope":       azureAssignmentScope,
			"azure.cidrRange":             azureCIDRRangeFacts,
			"azure.emails":                azureEmails,
			"azure.enforcesMFA":           azureEnforcesMFA,
			"azure.flowLogRetention":      azureFlowLogRetention,
			"azure.keyVaultKey":           azureKeyVaultKey,
			"azure.logs":                  azureLogs(),
			"azure.memberOf":              azureMemberOf,
			"azure.mfaForAll":             azureMFAForAll,
			"azure.mfaRegistration":       azureMFARegistration,
			"azure.networkRules":          azureNetworkRules,
			"azure.networkWatcherCount":   azureCountIn("networkWatcherCount", "Azure.Network.NetworkWatcher", "How many network watchers the subscription has in it."),
			"azure.principalRoles":        azurePrincipalRoles,
			"azure.rolePower":             azureRolePower,
			"azure.userRoles":             azureUserRoles,
			"azure.virtualNetworkCount":   azureCountIn("virtualNetworkCount", "Azure.Network.VirtualNetwork", "How many virtual networks the subscription has in it."),
		},
		List: map[string]resource.ListFunction{
			"aws.accessKeys":        awsAccessKeys,
			"aws.cidrRanges":        awsCIDRRanges,
			"aws.policyAttachments": awsPolicyAttachments,
			"aws.publicAddresses":   awsPublicAddresses,
			"aws.subscriptionNames": awsSubscriptionNames,
			"aws.trustedPrincipals": awsTrustedPrincipals,
			"aws.webACLScopes":      awsWebACLScopes,
			"azure.cidrRanges":      {Reads: []posture.EntityType{azureNetworkSecurityGroup}, Apply: azureCIDRRanges},
			"azure.principals":      {Reads: []posture.EntityType{azureRoleAssignment}, Apply: azurePrincipals},
			"azure.usedRoles":       {Reads: []posture.EntityType{azureRoleAssignment}, Apply: azureUsedRoles},
		},
		Answer: map[string]resource.AnswerFunction{
			"aws.credentialReport":  awsCredentialReport,
			"aws.multiRegionTrails": awsMultiRegionTrails,
		},
	}
}
