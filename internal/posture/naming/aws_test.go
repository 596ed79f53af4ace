package naming_test

import (
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

func TestAWSReferences(t *testing.T) {
	t.Parallel()
	catalog := declared.Catalog()
	cloud := naming.AWS{Catalog: catalog}
	vars := resource.Vars{Account: "123456789012", Region: "eu-west-1", Partition: "aws"}
	var all []posture.EntityType
	for _, typ := range catalog.Of(posture.AWS) {
		all = append(all, typ.Type)
	}
	for arn, want := range map[string]string{
		"arn:aws:kms:us-east-1:123456789012:key/abc":                              "AWS.KMS.123456789012.us-east-1.Key.abc",
		"arn:aws:kms:us-east-1:999999999999:key/abc":                              "AWS.KMS.999999999999.us-east-1.Key.abc",
		"arn:aws:iam::123456789012:role/some/path/name":                           "AWS.IAM.123456789012.global.Role.name",
		"arn:aws:iam::aws:policy/job-function/ViewOnlyAccess":                     "AWS.IAM.123456789012.global.Policy.aws/ViewOnlyAccess",
		"arn:aws:iam::123456789012:policy/x/own":                                  "AWS.IAM.123456789012.global.Policy.own",
		"arn:aws:s3:::a.bucket/with/object":                                       "AWS.S3.123456789012.global.Bucket.a.bucket",
		"arn:aws:lambda:us-east-1:123456789012:function:f:7":                      "AWS.Lambda.123456789012.us-east-1.Function.f",
		"arn:aws:logs:us-east-1:123456789012:log-group:/a/b:*":                    "AWS.Logs.123456789012.us-east-1.LogGroup./a/b",
		"arn:aws:ecs:us-east-1:123456789012:task-definition/t:12":                 "AWS.ECS.123456789012.us-east-1.TaskDefinition.t",
		"arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/a/b":     "AWS.ELB.123456789012.us-east-1.TargetGroup.a/b",
		"arn:aws:wafv2:us-east-1:123456789012:global/webacl/n/i":                  "AWS.WAF.123456789012.us-east-1.WebACL.global/n/i",
		"arn:aws:sns:us-east-1:123456789012:topic":                                "AWS.SNS.123456789012.us-east-1.Topic.topic",
		"arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/abc":                   "AWS.KMS.123456789012.us-gov-west-1.Key.abc",
		"arn:aws:nosuch:us-east-1:123456789012:thing:x":                           "",
		"arn:aws:events:us-east-1:123456789012:event-bus/default":                 "AWS.Events.123456789012.us-east-1.EventBus.default",
		"arn:aws:iam::123456789012:oidc-provider/token.actions.example.com/extra": "AWS.IAM.123456789012.global.OidcProvider.token.actions.example.com/extra",
	} {
		if got := cloud.Ref(vars, all, arn); string(got) != want {
			t.Errorf("%q is %q, want %q", arn, got, want)
		}
	}
	for name, want := range map[string]string{
		"":           "",
		"alias/mine": "AWS.KMS.123456789012.eu-west-1.Alias.mine",
		"abc":        "AWS.KMS.123456789012.eu-west-1.Key.abc",
	} {
		if got := cloud.Ref(vars, []posture.EntityType{"AWS.KMS.Key", "AWS.KMS.Alias"}, name); string(got) != want {
			t.Errorf("the key %q is %q, want %q", name, got, want)
		}
	}
}
