package aws

import (
	"strings"

	"vigil/internal/posture"
)

// maxDepth bounds how deep parameters are looked into.
const maxDepth = 32

// words are the texts of a call's parameters and answer, by the member that
// holds them.
type words struct {
	all []word
}

type word struct {
	above string // the member that holds the member
	name  string
	top   bool // the member stands at the top
	text  string
}

func newWords(trees ...any) *words {
	w := new(words)
	for _, tree := range trees {
		w.read("", "", tree, 0)
	}
	return w
}

func (w *words) read(above, name string, tree any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := tree.(type) {
	case string:
		if v != "" && len(v) <= 2048 {
			w.all = append(w.all, word{above, name, depth <= 1, v})
		}
	case []any:
		for _, each := range v {
			w.read(above, name, each, depth)
		}
	case map[string]any:
		for member, each := range v {
			w.read(name, member, each, depth+1)
		}
	}
}

// named returns the names of resources of a type.
func (w *words) named(t posture.EntityType) []string {
	if t == "AWS.SecurityHub.Hub" {
		return []string{"default"}
	}
	var names []string
	if prefix, ok := prefixes[t]; ok {
		for _, each := range w.all {
			if isID(each.text, prefix) {
				names = append(names, each.text)
			}
		}
		return names
	}
	for _, choice := range strings.Fields(members[t]) {
		if parts := strings.Split(choice, "+"); len(parts) > 1 {
			if name, ok := w.joined(parts); ok {
				names = append(names, name)
			}
			continue
		}
		for _, text := range w.at(choice) {
			if name, ok := nameOf(t, text); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// isID reports whether a text is an id of EC2: a prefix and hexadecimal digits.
func isID(text, prefix string) bool {
	code, ok := strings.CutPrefix(text, prefix)
	if !ok || len(code) < 8 || len(code) > 32 {
		return false
	}
	return strings.Trim(code, "0123456789abcdef") == ""
}

// at returns the texts of a member.
func (w *words) at(member string) []string {
	name, top := strings.CutPrefix(member, ".")
	above, last, nested := strings.Cut(name, ".")
	if !nested {
		last = name
	}
	var texts []string
	for _, each := range w.all {
		if strings.EqualFold(each.name, last) && (!top || each.top) && (!nested || strings.EqualFold(each.above, above)) {
			texts = append(texts, each.text)
		}
	}
	return texts
}

// joined returns a name of several parts.
func (w *words) joined(parts []string) (string, bool) {
	texts := make([]string, len(parts))
	for i, part := range parts {
		member, otherwise, _ := strings.Cut(part, "=")
		found := w.at(member)
		if len(found) == 0 {
			found = []string{otherwise}
		}
		if texts[i] = found[0]; texts[i] == "" {
			return "", false
		}
		if strings.HasPrefix(texts[i], "arn:") {
			texts[i] = texts[i][strings.LastIndexAny(texts[i], "/:")+1:]
		}
	}
	return strings.Join(texts, "/"), true
}

// nameOf returns the name of a resource as its entity has it.
func nameOf(t posture.EntityType, text string) (string, bool) {
	if strings.HasPrefix(text, "arn:") {
		return fromARN(t, text)
	}
	switch t {
	case "AWS.SQS.Queue":
		text = text[strings.LastIndex(text, "/")+1:]
	case "AWS.KMS.Alias":
		text = strings.TrimPrefix(text, "alias/")
	case "AWS.KMS.Key":
		if strings.HasPrefix(text, "alias/") {
			return "", false
		}
	case "AWS.Route53.HostedZone":
		text = text[strings.LastIndex(text, "/")+1:]
	case "AWS.IAM.Policy", "AWS.SecretsManager.Secret", "AWS.ELB.LoadBalancer", "AWS.ELB.Listener", "AWS.ELB.TargetGroup", "AWS.WAF.WebACL", "AWS.ACM.Certificate", "AWS.SNS.Topic":
		return "", false // only a whole resource name says which
	case "AWS.ECS.TaskDefinition":
		text, _, _ = strings.Cut(text, ":")
	}
	return text, text != ""
}

// kinds begin the resource part of the resource names of a type: service, and
// what comes before the name.
var kinds = map[posture.EntityType][2]string{
	"AWS.EC2.Instance": {"ec2", "instance/"}, "AWS.EC2.SecurityGroup": {"ec2", "security-group/"}, "AWS.EC2.Vpc": {"ec2", "vpc/"},
	"AWS.IAM.User": {"iam", "user/"}, "AWS.IAM.Group": {"iam", "group/"}, "AWS.IAM.Role": {"iam", "role/"}, "AWS.IAM.Policy": {"iam", "policy/"},
	"AWS.IAM.InstanceProfile": {"iam", "instance-profile/"}, "AWS.IAM.VirtualMfaDevice": {"iam", "mfa/"},
	"AWS.IAM.SamlProvider": {"iam", "saml-provider/"}, "AWS.IAM.OidcProvider": {"iam", "oidc-provider/"},
	"AWS.IAM.ServerCertificate": {"iam", "server-certificate/"},
	"AWS.S3.Bucket":             {"s3", ""}, "AWS.KMS.Key": {"kms", "key/"}, "AWS.KMS.Alias": {"kms", "alias/"},
	"AWS.SecretsManager.Secret": {"secretsmanager", "secret:"}, "AWS.SSM.Parameter": {"ssm", "parameter"},
	"AWS.RDS.DBInstance": {"rds", "db:"}, "AWS.RDS.DBCluster": {"rds", "cluster:"}, "AWS.RDS.DBSnapshot": {"rds", "snapshot:"},
	"AWS.RDS.DBClusterSnapshot": {"rds", "cluster-snapshot:"}, "AWS.DynamoDB.Table": {"dynamodb", "table/"},
	"AWS.EFS.FileSystem": {"elasticfilesystem", "file-system/"}, "AWS.OpenSearch.Domain": {"es", "domain/"},
	"AWS.CloudTrail.Trail": {"cloudtrail", "trail/"}, "AWS.Logs.LogGroup": {"logs", "log-group:"}, "AWS.CloudWatch.Alarm": {"cloudwatch", "alarm:"},
	"AWS.Events.EventBus": {"events", "event-bus/"}, "AWS.Lambda.Function": {"lambda", "function:"},
	"AWS.ECS.Cluster": {"ecs", "cluster/"}, "AWS.ECS.TaskDefinition": {"ecs", "task-definition/"}, "AWS.EKS.Cluster": {"eks", "cluster/"},
	"AWS.ECR.Repository": {"ecr", "repository/"}, "AWS.ELB.LoadBalancer": {"elasticloadbalancing", "loadbalancer/"},
	"AWS.ELB.Listener": {"elasticloadbalancing", "listener/"}, "AWS.ELB.TargetGroup": {"elasticloadbalancing", "targetgroup/"},
	"AWS.ACM.Certificate": {"acm", "certificate/"}, "AWS.SNS.Topic": {"sns", ""}, "AWS.SQS.Queue": {"sqs", ""},
	"AWS.CloudFront.Distribution": {"cloudfront", "distribution/"},
}

// fromARN returns the name of the entity that a resource name is of, when it is
// of the type.
func fromARN(t posture.EntityType, arn string) (string, bool) {
	part := strings.SplitN(arn, ":", 6)
	if len(part) != 6 || part[0] != "arn" {
		return "", false
	}
	if t == "AWS.WAF.WebACL" && part[2] == "wafv2" {
		_, name, ok := strings.Cut(part[5], "/webacl/")
		return name, ok
	}
	if t == "AWS.ELB.LoadBalancer" && strings.HasPrefix(part[5], "listener/") { // of the balancer's name and one part more
		part[5] = "loadbalancer/" + strings.TrimPrefix(part[5], "listener/")
		part[5] = part[5][:strings.LastIndex(part[5], "/")]
	}
	kind, ok := kinds[t]
	if !ok || part[2] != kind[0] {
		return "", false
	}
	name, ok := strings.CutPrefix(part[5], kind[1])
	if !ok {
		return "", false
	}
	switch t {
	case "AWS.IAM.Policy":
		name = name[strings.LastIndex(name, "/")+1:]
		if part[4] == "aws" {
			name = "aws/" + name
		}
	case "AWS.IAM.User", "AWS.IAM.Group", "AWS.IAM.Role", "AWS.IAM.InstanceProfile", "AWS.IAM.ServerCertificate", "AWS.IAM.VirtualMfaDevice":
		name = name[strings.LastIndex(name, "/")+1:]
	case "AWS.Lambda.Function", "AWS.ECS.TaskDefinition":
		name, _, _ = strings.Cut(name, ":")
	case "AWS.Logs.LogGroup":
		name = strings.TrimSuffix(name, ":*")
	case "AWS.S3.Bucket":
		name, _, _ = strings.Cut(name, "/")
	}
	return name, name != ""
}
