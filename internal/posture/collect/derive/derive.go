// Package derive holds the functions that resource declarations name for what
// data cannot say: the verdict on a policy, the rules of a firewall, the lines of
// a credential report.
package derive

import "vigil/internal/posture/resource"

// Functions returns all functions by their names.
func Functions() resource.Functions {
	return resource.Functions{
		Derive: map[string]resource.Function{
			"aws.resourcePolicy":          awsResourcePolicy,
			"aws.bucketPolicy":            awsBucketPolicy,
			"aws.bucketACL":               awsBucketACL,
			"aws.bucketPublicAccessBlock": awsBucketPublicAccessBlock,
			"aws.securityGroupIngress":    awsSecurityGroupRules("ipPermissions", "ALLOWS_INGRESS", "What may come in"),
			"aws.securityGroupEgress":     awsSecurityGroupRules("ipPermissionsEgress", "ALLOWS_EGRESS", "What may go out"),
		},
		List: map[string]resource.ListFunction{},
	}
}
