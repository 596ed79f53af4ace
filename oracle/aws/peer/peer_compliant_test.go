package peer_test

import (
	"maps"
	"slices"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/collecttest"
)

// compliantResources creates resources with the settings that rules check. The other resources of
// this test lack them.
func (m *maker) compliantResources(subnet, key string) {
	i := iam.NewFromConfig(m.config)
	must[*iam.CreateAccessKeyOutput](m)(i.CreateAccessKey(m.ctx, &iam.CreateAccessKeyInput{UserName: sdk.String("ann")}))
	must[*iam.PutUserPolicyOutput](m)(i.PutUserPolicy(m.ctx, &iam.PutUserPolicyInput{UserName: sdk.String("ann"), PolicyName: sdk.String("own"),
		PolicyDocument: sdk.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:ListAllMyBuckets","Resource":"*"}]}`)}))

	c := ec2.NewFromConfig(m.config)
	volume := must[*ec2.CreateVolumeOutput](m)(c.CreateVolume(m.ctx, &ec2.CreateVolumeInput{AvailabilityZone: sdk.String("us-east-1a"), Size: sdk.Int32(8), Encrypted: sdk.Bool(true), KmsKeyId: &key})).VolumeId
	m.expect("AWS.EC2.Volume", *volume, posture.Flag("encrypted", true), posture.Text("kmsKeyId", key))
	run := must[*ec2.RunInstancesOutput](m)(c.RunInstances(m.ctx, &ec2.RunInstancesInput{ImageId: sdk.String("ami-12c6146b"), MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1),
		NetworkInterfaces: []ec2types.InstanceNetworkInterfaceSpecification{{DeviceIndex: sdk.Int32(0), SubnetId: &subnet, AssociatePublicIpAddress: sdk.Bool(true)}}}))
	m.expect("AWS.EC2.Instance", *run.Instances[0].InstanceId)

	b := s3.NewFromConfig(m.config)
	name := sdk.String("peer-safe-bucket")
	must[*s3.CreateBucketOutput](m)(b.CreateBucket(m.ctx, &s3.CreateBucketInput{Bucket: name, ACL: "log-delivery-write"}))
	must[*s3.PutBucketEncryptionOutput](m)(b.PutBucketEncryption(m.ctx, &s3.PutBucketEncryptionInput{Bucket: name, ServerSideEncryptionConfiguration: &s3types.ServerSideEncryptionConfiguration{
		Rules: []s3types.ServerSideEncryptionRule{{ApplyServerSideEncryptionByDefault: &s3types.ServerSideEncryptionByDefault{SSEAlgorithm: s3types.ServerSideEncryptionAwsKms, KMSMasterKeyID: &key}}}}}))
	must[*s3.PutPublicAccessBlockOutput](m)(b.PutPublicAccessBlock(m.ctx, &s3.PutPublicAccessBlockInput{Bucket: name, PublicAccessBlockConfiguration: &s3types.PublicAccessBlockConfiguration{
		BlockPublicAcls: sdk.Bool(true), IgnorePublicAcls: sdk.Bool(true), BlockPublicPolicy: sdk.Bool(true), RestrictPublicBuckets: sdk.Bool(true)}}))
	must[*s3.PutBucketLoggingOutput](m)(b.PutBucketLogging(m.ctx, &s3.PutBucketLoggingInput{Bucket: name, BucketLoggingStatus: &s3types.BucketLoggingStatus{
		LoggingEnabled: &s3types.LoggingEnabled{TargetBucket: name, TargetPrefix: sdk.String("log/")}}}))
	m.expectIn("AWS.S3.Bucket", "", *name, posture.Text("serverSideEncryption", "aws:kms"), posture.Text("publicAccessBlock", "restrictPublicBuckets"), posture.Text("loggingTarget", *name),
		posture.Flag("restrictPublicBuckets", true))

	must[*cloudtrail.CreateTrailOutput](m)(cloudtrail.NewFromConfig(m.config).CreateTrail(m.ctx, &cloudtrail.CreateTrailInput{Name: sdk.String("sealed"), S3BucketName: name, KmsKeyId: &key, EnableLogFileValidation: sdk.Bool(true),
		CloudWatchLogsLogGroupArn: sdk.String("arn:aws:logs:us-east-1:" + peerAccount + ":log-group:/peer/log:*"), CloudWatchLogsRoleArn: sdk.String("arn:aws:iam::" + peerAccount + ":role/anybody")}))
	m.expect("AWS.CloudTrail.Trail", "sealed", posture.Text("kmsKeyId", key), posture.Flag("logFileValidationEnabled", true))
}

// notInMoto are properties that rules read and moto never returns: it does not implement
// them, or the event that sets them does not happen in it.
var notInMoto = map[posture.EntityType][]string{
	"AWS.Account.Region":        {"analyzers"},                                                    // no such service
	"AWS.CloudTrail.Trail":      {"latestCloudWatchLogsDeliveryTime"},                             // nothing is delivered
	"AWS.IAM.AccountSummary":    {"rootKeyLastUsed", "rootPasswordLastUsed"},                      // nobody logs in
	"AWS.IAM.User":              {"accessKey1LastUsed", "accessKey2LastUsed", "passwordLastUsed"}, // nobody logs in
	"AWS.Lambda.Function":       {"urlAuthType"},                                                  // its URLs are not listed
	"AWS.SecretsManager.Secret": {"lastRotatedDate"},                                              // nothing rotates
}

// checkRuleProperties checks, for each type with resources in moto, that at least one resource
// has each property that rules read.
func checkRuleProperties(t *testing.T, got read, types map[posture.EntityType]bool) {
	t.Helper()
	declared := declarations()
	required, found := map[posture.EntityType]map[string]bool{}, map[posture.EntityType]map[string]bool{}
	for _, r := range collecttest.Needs(t, "aws") {
		kind := r.ResourceType
		if !types[kind] {
			continue
		}
		if required[kind] == nil {
			required[kind], found[kind] = map[string]bool{}, map[string]bool{}
		}
		for _, name := range r.Properties {
			// false if the property is one of a related resource
			required[kind][name] = slices.ContainsFunc(declared[kind].Properties, func(p collect.Property) bool { return p.Name == name })
		}
	}
	for _, e := range got.entities {
		for _, p := range e.Properties {
			if found[e.Type] != nil && p.Type != posture.UnknownProperty {
				found[e.Type][p.Name] = true
			}
		}
	}
	count := 0
	for _, kind := range slices.Sorted(maps.Keys(required)) {
		for _, name := range slices.Sorted(maps.Keys(required[kind])) {
			if !required[kind][name] {
				continue
			}
			count++
			unavailable := slices.Contains(notInMoto[kind], name)
			if found[kind][name] == unavailable {
				t.Errorf("%s.%s: found in moto: %t, want %t", kind, name, found[kind][name], !unavailable)
			}
		}
	}
	t.Logf("%d properties that rules read were checked; not in moto: %v", count, notInMoto)
}
