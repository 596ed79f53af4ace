package aws

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"vigil/internal/posture"
)

// A naming says which type a resource name is of. The resource part begins with
// the given prefix; what follows is the entity's name.
type naming struct {
	service, prefix string
	kind            posture.EntityType
	global          bool // entities of the type belong to no region
	last            bool // only what follows the last slash is the name
}

// namings in order: the first that fits counts.
var namings = []naming{
	{"kms", "key/", keyType, false, false},
	{"kms", "alias/", aliasType, false, false},
	{"iam", "role/", roleType, true, true},
	{"iam", "user/", userType, true, true},
	{"iam", "group/", groupType, true, true},
	{"iam", "instance-profile/", instanceProfileType, true, true},
	{"iam", "server-certificate/", serverCertificateType, true, true},
	{"iam", "saml-provider/", samlProviderType, true, false},
	{"iam", "oidc-provider/", oidcProviderType, true, false},
	{"s3", "", bucketType, true, false},
	{"lambda", "function:", functionType, false, false},
	{"logs", "log-group:", logGroupType, false, false},
	{"sns", "", topicType, false, false},
	{"sqs", "", queueType, false, false},
	{"acm", "certificate/", certificateType, false, false},
	{"secretsmanager", "secret:", secretType, false, false},
	{"elasticloadbalancing", "loadbalancer/", loadBalancerType, false, false},
	{"elasticloadbalancing", "targetgroup/", targetGroupType, false, false},
	{"elasticloadbalancing", "listener/", listenerType, false, false},
	{"ecs", "cluster/", ecsClusterType, false, false},
	{"ecs", "task-definition/", taskDefinitionType, false, false},
	{"rds", "cluster:", dbClusterType, false, false},
	{"rds", "db:", dbInstanceType, false, false},
	{"ec2", "instance/", instanceType, false, false},
	{"ec2", "vpc/", vpcType, false, false},
	{"dynamodb", "table/", tableType, false, false},
	{"wafv2", "", webACLType, false, false},
	{"cloudtrail", "trail/", trailType, false, false},
	{"events", "event-bus/", eventBusType, false, false},
	{"elasticfilesystem", "file-system/", fileSystemType, false, false},
	{"ecr", "repository/", repositoryType, false, false},
}

// ref returns the id of the entity that a resource name is of, or "" when there
// is no such type. Policies of AWS itself belong to each account that uses them.
func (s *scope) ref(name string) posture.EntityID {
	a, err := arn.Parse(name)
	if err != nil {
		return ""
	}
	account := posture.AccountID(a.AccountID)
	if a.Service == "iam" && strings.HasPrefix(a.Resource, "policy/") {
		return policyType.ID(s.account, posture.Global, policyName(name))
	}
	for _, n := range namings {
		rest, ok := strings.CutPrefix(a.Resource, n.prefix)
		if !ok || n.service != a.Service || rest == "" {
			continue
		}
		if account == "" {
			account = s.account // a bucket's name does not say whose it is
		}
		region := a.Region
		if n.global {
			region = posture.Global
		}
		return n.kind.ID(account, region, n.name(rest))
	}
	return ""
}

// name returns the entity's name from the end of a resource name.
func (n naming) name(rest string) string {
	switch {
	case n.last:
		return rest[strings.LastIndex(rest, "/")+1:]
	case n.kind == functionType, n.kind == taskDefinitionType: // without version or revision
		rest, _, _ = strings.Cut(rest, ":")
	case n.kind == logGroupType:
		rest, _, _ = strings.Cut(rest, ":*")
	case n.kind == bucketType: // an object's name may follow
		rest, _, _ = strings.Cut(rest, "/")
	case n.kind == webACLType: // regional/… or global/…
		rest = strings.Replace(rest, "/webacl/", "/", 1)
	}
	return rest
}

// refs is ref for what may be absent.
func (s *scope) refs(name *string) posture.EntityID { return s.ref(aws.ToString(name)) }

// policyName returns the name of a managed policy: unique in the account, with
// AWS's own apart.
func policyName(arn string) string {
	name := arn[strings.LastIndex(arn, "/")+1:]
	if strings.Contains(arn, ":iam::aws:policy/") {
		return "aws/" + name
	}
	return name
}

// key returns the id of a KMS key that is named by its resource name, its id, or
// an alias.
func (s *scope) key(name *string) posture.EntityID {
	k := aws.ToString(name)
	switch {
	case k == "":
		return ""
	case strings.HasPrefix(k, "arn:"):
		return s.ref(k)
	case strings.HasPrefix(k, "alias/"):
		return s.id(aliasType, aws.String(strings.TrimPrefix(k, "alias/")))
	}
	return s.id(keyType, name)
}
