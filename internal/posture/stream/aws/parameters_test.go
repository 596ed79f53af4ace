package aws

import (
	"slices"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/declared"
)

// TestEventsNameResourcesAsDeclared looks for the names of resources in parameters
// of calls, by the declarations that come with Vigil.
func TestEventsNameResourcesAsDeclared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entityType posture.EntityType
		parameters map[string]any
		want       []string
	}{
		{"AWS.SQS.Queue", map[string]any{"queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs"}, []string{"jobs"}},
		{"AWS.Route53.HostedZone", map[string]any{"hostedZone": map[string]any{"id": "/hostedzone/Z1"}}, []string{"Z1"}},
		{"AWS.ECS.TaskDefinition", map[string]any{"taskDefinition": "web:7"}, []string{"web"}},
		{"AWS.KMS.Key", map[string]any{"keyId": "alias/web"}, nil},
		{"AWS.KMS.Key", map[string]any{"keyId": "arn:aws:kms:eu-west-1:123456789012:key/k1"}, []string{"k1"}},
		{"AWS.KMS.Alias", map[string]any{"aliasName": "alias/web"}, []string{"web"}},
		{"AWS.SecretsManager.Secret", map[string]any{"secretId": "db"}, nil},
		{"AWS.SecretsManager.Secret", map[string]any{"secretId": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"}, []string{"db-AbCdEf"}},
		{"AWS.SecurityHub.Hub", nil, []string{"default"}},
		{"AWS.ELB.LoadBalancer", map[string]any{"listenerArn": "arn:aws:elasticloadbalancing:eu-west-1:123456789012:listener/app/web/1/2"}, []string{"app/web/1"}},
		{"AWS.EC2.Vpc", map[string]any{"x": []any{"vpc-0123456789abcdef0", "vpc-web"}}, []string{"vpc-0123456789abcdef0"}},
		{"AWS.ECS.Service", map[string]any{"service": "api"}, []string{"default/api"}},
		// Only a member "name" at the top names a schedule. Without groupName, its group is "default".
		{"AWS.Scheduler.Schedule", map[string]any{"groupName": "night", "name": "backup"}, []string{"night/backup"}},
		{"AWS.Scheduler.Schedule", map[string]any{"name": "train", "target": map[string]any{
			"sageMakerPipelineParameters": map[string]any{"pipelineParameterList": []any{map[string]any{"name": "epochs", "value": "3"}}},
		}}, []string{"default/train"}},
		{"AWS.Scheduler.Schedule", map[string]any{"detail": map[string]any{"name": "epochs"}}, nil},
		{"AWS.EKS.Nodegroup", map[string]any{ // the first of several members with the name, in the order of the alphabet
			"c": map[string]any{"clusterName": "c3"}, "a": map[string]any{"clusterName": "c1"}, "b": map[string]any{"clusterName": "c2"}, "nodegroupName": "n",
		}, []string{"c1/n"}},
		{"AWS.IAM.Policy", map[string]any{"policyArn": "arn:aws:iam::aws:policy/job-function/ViewOnlyAccess"}, []string{"aws/ViewOnlyAccess"}},
		{"AWS.DynamoDB.Table", map[string]any{"tableName": "arn:aws:dynamodb:eu-west-1:123456789012:table/orders/index/i"}, []string{"orders"}},
		{"AWS.SSM.Parameter", map[string]any{"name": "alias/x"}, []string{"alias/x"}}, // unlike ids of keys, names of parameters may contain slashes
	} {
		if got := newParameters(c.parameters).names(declared.Catalog().Type(c.entityType)); !slices.Equal(got, c.want) {
			t.Errorf("%s of %v: %q, want %q", c.entityType, c.parameters, got, c.want)
		}
	}
}
