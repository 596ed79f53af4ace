package peer_test

import (
	"archive/zip"
	"bytes"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	apitypes "github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	cftypes "github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/configservice"
	configtypes "github.com/aws/aws-sdk-go-v2/service/configservice/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/efs"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/guardduty"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/opensearch"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/redshift"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/s3control"
	s3ctypes "github.com/aws/aws-sdk-go-v2/service/s3control/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/securityhub"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/aws-sdk-go-v2/service/wafv2"
	waftypes "github.com/aws/aws-sdk-go-v2/service/wafv2/types"

	"vigil/internal/posture"
)

const openPolicy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}`

// createAll creates a resource of each type that moto supports, with the flaws that
// rules look for. It returns the properties that must be read.
func (m *maker) createAll() map[posture.EntityID][]posture.Property {
	m.want = map[posture.EntityID][]posture.Property{}
	role := m.identities()
	subnet, group := m.network()
	m.buckets()
	key := m.auditing()
	m.databases(subnet, group, key)
	m.workloads(role, subnet, group)
	m.web(subnet, group)
	m.messages()
	m.neighbours(role, subnet, group)
	m.compliantResources(subnet, key)
	return m.want
}

func (m *maker) identities() (role string) {
	c := iam.NewFromConfig(m.config)
	must[*iam.CreateUserOutput](m)(c.CreateUser(m.ctx, &iam.CreateUserInput{UserName: sdk.String("ann")}))
	must[*iam.CreateLoginProfileOutput](m)(c.CreateLoginProfile(m.ctx, &iam.CreateLoginProfileInput{UserName: sdk.String("ann"), Password: sdk.String("Secret-123456")}))
	must[*iam.CreateAccessKeyOutput](m)(c.CreateAccessKey(m.ctx, &iam.CreateAccessKeyInput{UserName: sdk.String("ann")}))
	must[*iam.CreateGroupOutput](m)(c.CreateGroup(m.ctx, &iam.CreateGroupInput{GroupName: sdk.String("people")}))
	must[*iam.AddUserToGroupOutput](m)(c.AddUserToGroup(m.ctx, &iam.AddUserToGroupInput{UserName: sdk.String("ann"), GroupName: sdk.String("people")}))
	admin := must[*iam.CreatePolicyOutput](m)(c.CreatePolicy(m.ctx, &iam.CreatePolicyInput{PolicyName: sdk.String("everything"),
		PolicyDocument: sdk.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)}))
	must[*iam.AttachUserPolicyOutput](m)(c.AttachUserPolicy(m.ctx, &iam.AttachUserPolicyInput{UserName: sdk.String("ann"), PolicyArn: admin.Policy.Arn}))
	created := must[*iam.CreateRoleOutput](m)(c.CreateRole(m.ctx, &iam.CreateRoleInput{RoleName: sdk.String("anybody"),
		AssumeRolePolicyDocument: sdk.String(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}}`)}))
	must[*iam.CreateInstanceProfileOutput](m)(c.CreateInstanceProfile(m.ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: sdk.String("machine")}))
	must[*iam.AddRoleToInstanceProfileOutput](m)(c.AddRoleToInstanceProfile(m.ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: sdk.String("machine"), RoleName: sdk.String("anybody")}))
	must[*iam.UpdateAccountPasswordPolicyOutput](m)(c.UpdateAccountPasswordPolicy(m.ctx, &iam.UpdateAccountPasswordPolicyInput{MinimumPasswordLength: sdk.Int32(9), PasswordReusePrevention: sdk.Int32(3)}))
	m.expectIn("AWS.IAM.User", "", "ann", posture.Flag("passwordEnabled", true), posture.Flag("mfaActive", false), posture.Flag("accessKey1Active", true),
		posture.Text("attachedPolicies", *admin.Policy.Arn))
	m.expectIn("AWS.IAM.AccessKey", "", "ann/1", posture.Flag("active", true))
	m.expectIn("AWS.IAM.Group", "", "people")
	m.expectIn("AWS.IAM.Policy", "", "everything", posture.Flag("allowsAdmin", true), posture.Flag("isAwsManaged", false), posture.Number("attachmentCount", 1))
	m.expectIn("AWS.IAM.Role", "", "anybody", posture.Flag("trustIsPublic", true))
	m.expectIn("AWS.IAM.Principal", "", "*", posture.Flag("isPublic", true))
	m.expectIn("AWS.IAM.InstanceProfile", "", "machine")
	m.expectIn("AWS.IAM.AccountSummary", "", peerAccount, posture.Number("accountAccessKeysPresent", 0))
	m.expectIn("AWS.IAM.AccountPasswordPolicy", "", peerAccount, posture.Number("minimumPasswordLength", 9), posture.Number("passwordReusePrevention", 3))
	return *created.Role.Arn
}

func (m *maker) network() (subnet, group string) {
	c := ec2.NewFromConfig(m.config)
	vpc := must[*ec2.CreateVpcOutput](m)(c.CreateVpc(m.ctx, &ec2.CreateVpcInput{CidrBlock: sdk.String("10.9.0.0/16")})).Vpc.VpcId
	sub := must[*ec2.CreateSubnetOutput](m)(c.CreateSubnet(m.ctx, &ec2.CreateSubnetInput{VpcId: vpc, CidrBlock: sdk.String("10.9.1.0/24")})).Subnet.SubnetId
	sg := must[*ec2.CreateSecurityGroupOutput](m)(c.CreateSecurityGroup(m.ctx, &ec2.CreateSecurityGroupInput{VpcId: vpc, GroupName: sdk.String("open"), Description: sdk.String("x")})).GroupId
	must[*ec2.AuthorizeSecurityGroupIngressOutput](m)(c.AuthorizeSecurityGroupIngress(m.ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: sg, IpPermissions: []ec2types.IpPermission{
		{IpProtocol: sdk.String("tcp"), FromPort: sdk.Int32(20), ToPort: sdk.Int32(25), IpRanges: []ec2types.IpRange{{CidrIp: sdk.String("0.0.0.0/0")}}},
	}}))
	igw := must[*ec2.CreateInternetGatewayOutput](m)(c.CreateInternetGateway(m.ctx, &ec2.CreateInternetGatewayInput{})).InternetGateway.InternetGatewayId
	must[*ec2.AttachInternetGatewayOutput](m)(c.AttachInternetGateway(m.ctx, &ec2.AttachInternetGatewayInput{InternetGatewayId: igw, VpcId: vpc}))
	vol := must[*ec2.CreateVolumeOutput](m)(c.CreateVolume(m.ctx, &ec2.CreateVolumeInput{AvailabilityZone: sdk.String("us-east-1a"), Size: sdk.Int32(8)})).VolumeId
	snap := must[*ec2.CreateSnapshotOutput](m)(c.CreateSnapshot(m.ctx, &ec2.CreateSnapshotInput{VolumeId: vol})).SnapshotId
	run := must[*ec2.RunInstancesOutput](m)(c.RunInstances(m.ctx, &ec2.RunInstancesInput{ImageId: sdk.String("ami-12c6146b"), MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), SubnetId: sub,
		SecurityGroupIds: []string{*sg}, MetadataOptions: &ec2types.InstanceMetadataOptionsRequest{HttpTokens: ec2types.HttpTokensStateOptional, HttpEndpoint: ec2types.InstanceMetadataEndpointStateEnabled}}))
	image := must[*ec2.CreateImageOutput](m)(c.CreateImage(m.ctx, &ec2.CreateImageInput{InstanceId: run.Instances[0].InstanceId, Name: sdk.String("golden")})).ImageId
	must[*ec2.ModifyImageAttributeOutput](m)(c.ModifyImageAttribute(m.ctx, &ec2.ModifyImageAttributeInput{ImageId: image, LaunchPermission: &ec2types.LaunchPermissionModifications{
		Add: []ec2types.LaunchPermission{{Group: ec2types.PermissionGroupAll}}}}))
	must[*ec2.ModifySnapshotAttributeOutput](m)(c.ModifySnapshotAttribute(m.ctx, &ec2.ModifySnapshotAttributeInput{SnapshotId: snap, Attribute: ec2types.SnapshotAttributeNameCreateVolumePermission,
		OperationType: ec2types.OperationTypeAdd, GroupNames: []string{"all"}}))
	m.expect("AWS.EC2.Image", *image, posture.Flag("public", true))
	eip := must[*ec2.AllocateAddressOutput](m)(c.AllocateAddress(m.ctx, &ec2.AllocateAddressInput{Domain: ec2types.DomainTypeVpc}))
	nat := must[*ec2.CreateNatGatewayOutput](m)(c.CreateNatGateway(m.ctx, &ec2.CreateNatGatewayInput{SubnetId: sub, AllocationId: eip.AllocationId})).NatGateway.NatGatewayId
	must[*ec2.CreateKeyPairOutput](m)(c.CreateKeyPair(m.ctx, &ec2.CreateKeyPairInput{KeyName: sdk.String("door")}))
	must[*cloudwatchlogs.CreateLogGroupOutput](m)(cloudwatchlogs.NewFromConfig(m.config).CreateLogGroup(m.ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: sdk.String("flow")}))
	logs := must[*ec2.CreateFlowLogsOutput](m)(c.CreateFlowLogs(m.ctx, &ec2.CreateFlowLogsInput{ResourceIds: []string{*vpc}, ResourceType: ec2types.FlowLogsResourceTypeVpc, TrafficType: ec2types.TrafficTypeAll,
		LogDestinationType: ec2types.LogDestinationTypeCloudWatchLogs, LogGroupName: sdk.String("flow"), DeliverLogsPermissionArn: sdk.String("arn:aws:iam::" + peerAccount + ":role/anybody")})).FlowLogIds[0]
	m.expect("AWS.EC2.Vpc", *vpc, posture.Text("cidrBlock", "10.9.0.0/16"), posture.Flag("hasActiveFlowLog", true))
	m.expect("AWS.EC2.FlowLog", logs, posture.Text("flowLogStatus", "ACTIVE"), posture.Text("resourceId", *vpc))
	m.expect("AWS.EC2.Subnet", *sub)
	m.expect("AWS.EC2.SecurityGroup", *sg, posture.Text("groupName", "open"), posture.Text("ipPermissions", "tcp 20-25 0.0.0.0/0"))
	m.expect("AWS.EC2.CidrRange", "0.0.0.0/0", posture.Flag("isInternet", true))
	m.expect("AWS.EC2.InternetGateway", *igw)
	m.expect("AWS.EC2.Volume", *vol, posture.Flag("encrypted", false))
	m.expect("AWS.EC2.Snapshot", *snap, posture.Flag("encrypted", false))
	m.expect("AWS.EC2.Instance", *run.Instances[0].InstanceId, posture.Text("state", "running"), posture.Text("metadataHttpTokens", "optional"), posture.Text("metadataHttpEndpoint", "enabled"))
	m.expect("AWS.EC2.NatGateway", *nat, posture.Text("state", "available"))
	m.expect("AWS.EC2.Address", *eip.AllocationId, posture.Text("publicIp", *eip.PublicIp))
	m.expect("AWS.EC2.PublicIp", *eip.PublicIp)
	m.expect("AWS.EC2.KeyPair", "door")
	m.expect("AWS.Account.Region", peerRegion, posture.Flag("ebsEncryptionByDefault", false))
	return *sub, *sg
}

func (m *maker) buckets() {
	c := s3.NewFromConfig(m.config)
	name := sdk.String("peer-open-bucket")
	must[*s3.CreateBucketOutput](m)(c.CreateBucket(m.ctx, &s3.CreateBucketInput{Bucket: name, ACL: s3types.BucketCannedACLPublicRead}))
	must[*s3.PutBucketPolicyOutput](m)(c.PutBucketPolicy(m.ctx, &s3.PutBucketPolicyInput{Bucket: name, Policy: sdk.String(openPolicy)}))
	must[*s3.PutBucketVersioningOutput](m)(c.PutBucketVersioning(m.ctx, &s3.PutBucketVersioningInput{Bucket: name, VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusEnabled}}))
	m.expectIn("AWS.S3.Bucket", "", *name, posture.Flag("policyIsPublic", true), posture.Flag("policyTlsOnly", false), posture.Flag("aclIsPublic", true),
		posture.Text("versioningStatus", "Enabled"), posture.Flag("restrictPublicBuckets", false))
	must[*s3control.PutPublicAccessBlockOutput](m)(s3control.NewFromConfig(m.config).PutPublicAccessBlock(m.ctx, &s3control.PutPublicAccessBlockInput{AccountId: sdk.String(peerAccount),
		PublicAccessBlockConfiguration: &s3ctypes.PublicAccessBlockConfiguration{BlockPublicAcls: sdk.Bool(true), IgnorePublicAcls: sdk.Bool(false)}}))
	m.expectIn("AWS.S3.AccountPublicAccessBlock", "", peerAccount, posture.Flag("blockPublicAcls", true), posture.Flag("ignorePublicAcls", false))
}

// auditing creates an encryption key, and what records or detects activity in the account.
func (m *maker) auditing() (key string) {
	k := kms.NewFromConfig(m.config)
	created := must[*kms.CreateKeyOutput](m)(k.CreateKey(m.ctx, &kms.CreateKeyInput{Policy: sdk.String(openPolicy)})).KeyMetadata
	must[*kms.CreateAliasOutput](m)(k.CreateAlias(m.ctx, &kms.CreateAliasInput{AliasName: sdk.String("alias/peer"), TargetKeyId: created.KeyId}))
	m.expect("AWS.KMS.Key", *created.KeyId, posture.Text("keyManager", "CUSTOMER"), posture.Text("keyState", "Enabled"), posture.Text("keySpec", "SYMMETRIC_DEFAULT"),
		posture.Text("origin", "AWS_KMS"), posture.Flag("rotationEnabled", false), posture.Flag("policyIsPublic", true))
	m.expect("AWS.KMS.Alias", "peer", posture.Text("targetKeyId", *created.KeyId))
	trail := cloudtrail.NewFromConfig(m.config)
	must[*cloudtrail.CreateTrailOutput](m)(trail.CreateTrail(m.ctx, &cloudtrail.CreateTrailInput{Name: sdk.String("record"), S3BucketName: sdk.String("peer-open-bucket"), IsMultiRegionTrail: sdk.Bool(true)}))
	must[*cloudtrail.StartLoggingOutput](m)(trail.StartLogging(m.ctx, &cloudtrail.StartLoggingInput{Name: sdk.String("record")}))
	m.expect("AWS.CloudTrail.Trail", "record", posture.Flag("isMultiRegionTrail", true), posture.Flag("isLogging", true), posture.Flag("logFileValidationEnabled", false),
		posture.Text("s3BucketName", "peer-open-bucket"))
	l := cloudwatchlogs.NewFromConfig(m.config)
	must[*cloudwatchlogs.CreateLogGroupOutput](m)(l.CreateLogGroup(m.ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: sdk.String("/peer/log")}))
	must[*cloudwatchlogs.PutRetentionPolicyOutput](m)(l.PutRetentionPolicy(m.ctx, &cloudwatchlogs.PutRetentionPolicyInput{LogGroupName: sdk.String("/peer/log"), RetentionInDays: sdk.Int32(7)}))
	m.expect("AWS.Logs.LogGroup", "/peer/log", posture.Number("retentionInDays", 7))
	config := configservice.NewFromConfig(m.config)
	must[*configservice.PutConfigurationRecorderOutput](m)(config.PutConfigurationRecorder(m.ctx, &configservice.PutConfigurationRecorderInput{ConfigurationRecorder: &configtypes.ConfigurationRecorder{
		Name: sdk.String("default"), RoleARN: sdk.String("arn:aws:iam::" + peerAccount + ":role/anybody"), RecordingGroup: &configtypes.RecordingGroup{AllSupported: true},
	}}))
	m.expect("AWS.Config.Recorder", "default", posture.Flag("recording", false), posture.Flag("allSupported", true))
	detector := must[*guardduty.CreateDetectorOutput](m)(guardduty.NewFromConfig(m.config).CreateDetector(m.ctx, &guardduty.CreateDetectorInput{Enable: sdk.Bool(true)})).DetectorId
	m.expect("AWS.GuardDuty.Detector", *detector, posture.Text("status", "ENABLED"))
	must[*securityhub.EnableSecurityHubOutput](m)(securityhub.NewFromConfig(m.config).EnableSecurityHub(m.ctx, &securityhub.EnableSecurityHubInput{}))
	m.expect("AWS.SecurityHub.Hub", "default")
	events := eventbridge.NewFromConfig(m.config)
	must[*eventbridge.PutRuleOutput](m)(events.PutRule(m.ctx, &eventbridge.PutRuleInput{Name: sdk.String("hourly"), ScheduleExpression: sdk.String("rate(1 hour)")}))
	m.expect("AWS.Events.Rule", "default/hourly", posture.Text("state", "ENABLED"))
	m.expect("AWS.Events.EventBus", "default")
	return *created.Arn
}

func (m *maker) databases(subnet, group, key string) {
	c := rds.NewFromConfig(m.config)
	must[*rds.CreateDBInstanceOutput](m)(c.CreateDBInstance(m.ctx, &rds.CreateDBInstanceInput{DBInstanceIdentifier: sdk.String("peer-db"), DBInstanceClass: sdk.String("db.t3.micro"), Engine: sdk.String("postgres"),
		AllocatedStorage: sdk.Int32(20), MasterUsername: sdk.String("root"), MasterUserPassword: sdk.String("Secret123456"), PubliclyAccessible: sdk.Bool(true), VpcSecurityGroupIds: []string{group},
		BackupRetentionPeriod: sdk.Int32(0), AutoMinorVersionUpgrade: sdk.Bool(false)}))
	must[*rds.CreateDBSnapshotOutput](m)(c.CreateDBSnapshot(m.ctx, &rds.CreateDBSnapshotInput{DBInstanceIdentifier: sdk.String("peer-db"), DBSnapshotIdentifier: sdk.String("peer-copy")}))
	must[*rds.ModifyDBSnapshotAttributeOutput](m)(c.ModifyDBSnapshotAttribute(m.ctx, &rds.ModifyDBSnapshotAttributeInput{DBSnapshotIdentifier: sdk.String("peer-copy"), AttributeName: sdk.String("restore"), ValuesToAdd: []string{"all"}}))
	m.expect("AWS.RDS.DBInstance", "peer-db", posture.Flag("publiclyAccessible", true), posture.Flag("storageEncrypted", false), posture.Number("backupRetentionPeriod", 0),
		posture.Flag("autoMinorVersionUpgrade", false), posture.Number("dbInstancePort", 5432))
	m.expect("AWS.RDS.DBSnapshot", "peer-copy", posture.Text("restoreAttribute", "all"), posture.Flag("public", true))
	must[*dynamodb.CreateTableOutput](m)(dynamodb.NewFromConfig(m.config).CreateTable(m.ctx, &dynamodb.CreateTableInput{TableName: sdk.String("peer-table"), BillingMode: dbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []dbtypes.AttributeDefinition{{AttributeName: sdk.String("id"), AttributeType: dbtypes.ScalarAttributeTypeS}},
		KeySchema:            []dbtypes.KeySchemaElement{{AttributeName: sdk.String("id"), KeyType: dbtypes.KeyTypeHash}}}))
	m.expect("AWS.DynamoDB.Table", "peer-table", posture.Text("pointInTimeRecoveryStatus", "DISABLED"), posture.Text("billingMode", "PAY_PER_REQUEST"))
	must[*redshift.CreateClusterOutput](m)(redshift.NewFromConfig(m.config).CreateCluster(m.ctx, &redshift.CreateClusterInput{ClusterIdentifier: sdk.String("peer-warehouse"), NodeType: sdk.String("ra3.xlplus"),
		MasterUsername: sdk.String("root"), MasterUserPassword: sdk.String("Secret123456"), PubliclyAccessible: sdk.Bool(true)}))
	m.expect("AWS.Redshift.Cluster", "peer-warehouse", posture.Flag("publiclyAccessible", true))
	files := must[*efs.CreateFileSystemOutput](m)(efs.NewFromConfig(m.config).CreateFileSystem(m.ctx, &efs.CreateFileSystemInput{CreationToken: sdk.String("peer"), Encrypted: sdk.Bool(true), KmsKeyId: &key}))
	m.expect("AWS.EFS.FileSystem", *files.FileSystemId, posture.Flag("encrypted", true))
	must[*opensearch.CreateDomainOutput](m)(opensearch.NewFromConfig(m.config).CreateDomain(m.ctx, &opensearch.CreateDomainInput{DomainName: sdk.String("peer-search")}))
	m.expect("AWS.OpenSearch.Domain", "peer-search", posture.Flag("inVpc", false))
	secret := must[*secretsmanager.CreateSecretOutput](m)(secretsmanager.NewFromConfig(m.config).CreateSecret(m.ctx, &secretsmanager.CreateSecretInput{Name: sdk.String("peer-secret"), SecretString: sdk.String("x")}))
	m.expect("AWS.SecretsManager.Secret", afterLast(*secret.ARN, ":"), posture.Flag("rotationEnabled", false))
	must[*ssm.PutParameterOutput](m)(ssm.NewFromConfig(m.config).PutParameter(m.ctx, &ssm.PutParameterInput{Name: sdk.String("/peer/setting"), Value: sdk.String("x"), Type: ssmtypes.ParameterTypeString}))
	m.expect("AWS.SSM.Parameter", "/peer/setting", posture.Text("type", "String"))
}

func afterLast(s, separator string) string { return s[strings.LastIndex(s, separator)+1:] }

func (m *maker) workloads(role, subnet, group string) {
	var code bytes.Buffer
	z := zip.NewWriter(&code)
	_, _ = z.Create("main.py")
	_ = z.Close()
	f := lambda.NewFromConfig(m.config)
	must[*lambda.CreateFunctionOutput](m)(f.CreateFunction(m.ctx, &lambda.CreateFunctionInput{FunctionName: sdk.String("peer-function"), Role: &role, Runtime: lambdatypes.RuntimePython312,
		Handler: sdk.String("main.x"), Code: &lambdatypes.FunctionCode{ZipFile: code.Bytes()}}))
	must[*lambda.AddPermissionOutput](m)(f.AddPermission(m.ctx, &lambda.AddPermissionInput{FunctionName: sdk.String("peer-function"), StatementId: sdk.String("all"), Action: sdk.String("lambda:InvokeFunction"), Principal: sdk.String("*")}))
	must[*lambda.CreateFunctionUrlConfigOutput](m)(f.CreateFunctionUrlConfig(m.ctx, &lambda.CreateFunctionUrlConfigInput{FunctionName: sdk.String("peer-function"), AuthType: lambdatypes.FunctionUrlAuthTypeNone}))
	m.expect("AWS.Lambda.Function", "peer-function", posture.Text("runtime", "python3.12"))
	must[*eks.CreateClusterOutput](m)(eks.NewFromConfig(m.config).CreateCluster(m.ctx, &eks.CreateClusterInput{Name: sdk.String("peer-cluster"), RoleArn: &role,
		ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{subnet}, EndpointPublicAccess: sdk.Bool(true), PublicAccessCidrs: []string{"0.0.0.0/0"}}}))
	m.expect("AWS.EKS.Cluster", "peer-cluster", posture.Flag("endpointPublicAccess", true))
	must[*ecs.CreateClusterOutput](m)(ecs.NewFromConfig(m.config).CreateCluster(m.ctx, &ecs.CreateClusterInput{ClusterName: sdk.String("peer-containers")}))
	m.expect("AWS.ECS.Cluster", "peer-containers", posture.Text("status", "ACTIVE"))
	must[*ecr.CreateRepositoryOutput](m)(ecr.NewFromConfig(m.config).CreateRepository(m.ctx, &ecr.CreateRepositoryInput{RepositoryName: sdk.String("peer/image")}))
	m.expect("AWS.ECR.Repository", "peer/image", posture.Flag("scanOnPush", false))
}

func (m *maker) web(subnet, group string) {
	c := elb.NewFromConfig(m.config)
	described := must[*ec2.DescribeSubnetsOutput](m)(ec2.NewFromConfig(m.config).DescribeSubnets(m.ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{subnet}}))
	other := must[*ec2.CreateSubnetOutput](m)(ec2.NewFromConfig(m.config).CreateSubnet(m.ctx, &ec2.CreateSubnetInput{VpcId: described.Subnets[0].VpcId, CidrBlock: sdk.String("10.9.2.0/24"),
		AvailabilityZone: sdk.String("us-east-1f")})).Subnet.SubnetId
	lb := must[*elb.CreateLoadBalancerOutput](m)(c.CreateLoadBalancer(m.ctx, &elb.CreateLoadBalancerInput{Name: sdk.String("peer-front"), Subnets: []string{subnet, *other}, SecurityGroups: []string{group},
		Scheme: elbtypes.LoadBalancerSchemeEnumInternetFacing})).LoadBalancers[0]
	tg := must[*elb.CreateTargetGroupOutput](m)(c.CreateTargetGroup(m.ctx, &elb.CreateTargetGroupInput{Name: sdk.String("peer-targets"), Protocol: elbtypes.ProtocolEnumHttp, Port: sdk.Int32(80), VpcId: described.Subnets[0].VpcId})).TargetGroups[0]
	listener := must[*elb.CreateListenerOutput](m)(c.CreateListener(m.ctx, &elb.CreateListenerInput{LoadBalancerArn: lb.LoadBalancerArn, Protocol: elbtypes.ProtocolEnumHttp, Port: sdk.Int32(80),
		DefaultActions: []elbtypes.Action{{Type: elbtypes.ActionTypeEnumForward, TargetGroupArn: tg.TargetGroupArn}}})).Listeners[0]
	m.expect("AWS.ELB.LoadBalancer", afterFirst(*lb.LoadBalancerArn, ":loadbalancer/"), posture.Text("scheme", "internet-facing"), posture.Text("listeners", "HTTP 80"), posture.Flag("httpWithoutRedirect", true))
	m.expect("AWS.ELB.Listener", afterFirst(*listener.ListenerArn, ":listener/"), posture.Text("protocol", "HTTP"), posture.Flag("redirectsToHttps", false))
	m.expect("AWS.ELB.TargetGroup", afterFirst(*tg.TargetGroupArn, ":targetgroup/"))
	site := must[*cloudfront.CreateDistributionOutput](m)(cloudfront.NewFromConfig(m.config).CreateDistribution(m.ctx, &cloudfront.CreateDistributionInput{DistributionConfig: &cftypes.DistributionConfig{
		CallerReference: sdk.String("peer"), Comment: sdk.String(""), Enabled: sdk.Bool(true),
		Origins:              &cftypes.Origins{Quantity: sdk.Int32(1), Items: []cftypes.Origin{{Id: sdk.String("s3"), DomainName: sdk.String("peer-open-bucket.s3.us-east-1.amazonaws.com"), S3OriginConfig: &cftypes.S3OriginConfig{OriginAccessIdentity: sdk.String("")}}}},
		DefaultCacheBehavior: &cftypes.DefaultCacheBehavior{TargetOriginId: sdk.String("s3"), ViewerProtocolPolicy: cftypes.ViewerProtocolPolicyAllowAll, ForwardedValues: &cftypes.ForwardedValues{QueryString: sdk.Bool(false), Cookies: &cftypes.CookiePreference{Forward: cftypes.ItemSelectionNone}}},
	}})).Distribution
	m.expectIn("AWS.CloudFront.Distribution", "", *site.Id) // moto's list does not contain its settings
	zone := must[*route53.CreateHostedZoneOutput](m)(route53.NewFromConfig(m.config).CreateHostedZone(m.ctx, &route53.CreateHostedZoneInput{Name: sdk.String("peer.example.com."), CallerReference: sdk.String("peer")})).HostedZone
	m.expectIn("AWS.Route53.HostedZone", "", strings.TrimPrefix(*zone.Id, "/hostedzone/"), posture.Text("name", "peer.example.com"))
	certificate := must[*acm.RequestCertificateOutput](m)(acm.NewFromConfig(m.config).RequestCertificate(m.ctx, &acm.RequestCertificateInput{DomainName: sdk.String("peer.example.com")}))
	m.expect("AWS.ACM.Certificate", afterLast(*certificate.CertificateArn, "/"), posture.Text("domainName", "peer.example.com"))
	rest := must[*apigateway.CreateRestApiOutput](m)(apigateway.NewFromConfig(m.config).CreateRestApi(m.ctx, &apigateway.CreateRestApiInput{Name: sdk.String("peer")}))
	m.expect("AWS.APIGateway.RestApi", *rest.Id)
	web := must[*apigatewayv2.CreateApiOutput](m)(apigatewayv2.NewFromConfig(m.config).CreateApi(m.ctx, &apigatewayv2.CreateApiInput{Name: sdk.String("peer"), ProtocolType: apitypes.ProtocolTypeHttp}))
	m.expect("AWS.APIGateway.HttpApi", *web.ApiId, posture.Text("protocolType", "HTTP"))
	acl := must[*wafv2.CreateWebACLOutput](m)(wafv2.NewFromConfig(m.config).CreateWebACL(m.ctx, &wafv2.CreateWebACLInput{Name: sdk.String("peer"), Scope: waftypes.ScopeRegional,
		DefaultAction: &waftypes.DefaultAction{Allow: &waftypes.AllowAction{}}, VisibilityConfig: &waftypes.VisibilityConfig{MetricName: sdk.String("x")}})).Summary
	// The name is regional/NAME/ID; the ARN ends with regional/webacl/NAME/ID.
	m.expect("AWS.WAF.WebACL", strings.Replace(afterLast(*acl.ARN, ":"), "/webacl/", "/", 1), posture.Text("defaultAction", "allow"))
}

func afterFirst(s, separator string) string {
	_, after, _ := strings.Cut(s, separator)
	return after
}

func (m *maker) messages() {
	topic := must[*sns.CreateTopicOutput](m)(sns.NewFromConfig(m.config).CreateTopic(m.ctx, &sns.CreateTopicInput{Name: sdk.String("peer-topic"), Attributes: map[string]string{"Policy": openPolicy}}))
	must[*sns.SubscribeOutput](m)(sns.NewFromConfig(m.config).Subscribe(m.ctx, &sns.SubscribeInput{TopicArn: topic.TopicArn, Protocol: sdk.String("email"), Endpoint: sdk.String("a@example.com")}))
	m.expect("AWS.SNS.Topic", "peer-topic", posture.Flag("policyIsPublic", true))
	must[*sqs.CreateQueueOutput](m)(sqs.NewFromConfig(m.config).CreateQueue(m.ctx, &sqs.CreateQueueInput{QueueName: sdk.String("peer-queue"),
		Attributes: map[string]string{"Policy": strings.Replace(openPolicy, `"Action":"*"`, `"Action":"sqs:*"`, 1)}}))
	m.expect("AWS.SQS.Queue", "peer-queue", posture.Flag("policyIsPublic", true))
}
