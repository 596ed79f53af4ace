// Package derive holds the functions that resource declarations name for what
// data cannot say: the verdict on a policy, the rules of a firewall, the lines of
// a credential report.
package derive

import "vigil/internal/posture/resource"

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
		},
		List: map[string]resource.ListFunction{
			"aws.accessKeys":        awsAccessKeys,
			"aws.cidrRanges":        awsCIDRRanges,
			"aws.policyAttachments": awsPolicyAttachments,
			"aws.publicAddresses":   awsPublicAddresses,
			"aws.subscriptionNames": awsSubscriptionNames,
			"aws.trustedPrincipals": awsTrustedPrincipals,
			"aws.webACLScopes":      awsWebACLScopes,
		},
		Answer: map[string]resource.AnswerFunction{
			"aws.credentialReport":  awsCredentialReport,
			"aws.multiRegionTrails": awsMultiRegionTrails,
		},
	}
}
