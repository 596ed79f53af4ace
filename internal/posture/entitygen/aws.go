package entitygen

import (
	"math/rand/v2"
	"strings"

	"vigil/internal/posture"
)

var models map[posture.Provider]*model

// init sets models. An initializer would be a cycle: the edges of the models use models.
func init() {
	models = map[posture.Provider]*model{posture.AWS: aws.withSum(), posture.Azure: azure.withSum(), posture.GCP: gcp.withSum()}
}

func sameLocation(location string, _ *rand.Rand) string { return location }

var aws = model{
	regions: []share{{"us-east-1", 0.5}, {"eu-west-1", 0.25}, {"us-west-2", 0.15}, {"ap-southeast-2", 0.07}, {"sa-east-1", 0.03}},
	group:   sameLocation,
	xid: func(k *kind, a Account, region, name string) string {
		if region == posture.Global {
			region = ""
		}
		return "arn:aws:" + strings.ToLower(k.typ.Service()) + ":" + region + ":" + string(a.ID) + ":" + strings.TrimSuffix(k.prefix, "-") + "/" + name
	},
	kinds: []kind{
		{typ: "AWS.EC2.VPC", share: 0.3, prefix: "vpc-", properties: []maker{choice("cidrBlock", "10.0.0.0/16", "172.31.0.0/16", "10.1.0.0/16"), flag("isDefault", 0.3), flag("flowLogsEnabled", 0.4), choice("state", "available")}},
		{typ: "AWS.EC2.Subnet", share: 2, prefix: "subnet-", properties: []maker{choice("availabilityZone", "a", "b", "c"), number("availableIpAddressCount", 4096), flag("mapPublicIpOnLaunch", 0.3), choice("state", "available"), text("cidrBlock", "10.", 1)}, edges: []edgeMaker{to("MEMBER_OF", "AWS.EC2.VPC", 1)}},
		{typ: "AWS.EC2.SecurityGroup", share: 6, prefix: "sg-", properties: []maker{text("description", "managed ", 0.9), flag("allowsAllIngress", 0.04), list("ingressPort", "", 4, 600), list("ingressCidr", "10.", 3, 900), number("egressRuleCount", 5)}, edges: []edgeMaker{to("MEMBER_OF", "AWS.EC2.VPC", 1), maybe(0.5, to("ALLOWS_INGRESS", "AWS.EC2.SecurityGroup", 5))}},
		{typ: "AWS.EC2.Instance", share: 10, prefix: "i-", properties: []maker{choice("instanceType", "t3.micro", "m5.large", "c5.xlarge", "r5.2xlarge", "m6g.large", "t2.nano"), choice("state", "running", "stopped", "terminated"), text("imageId", "ami-", 1), text("privateIpAddress", "10.", 1), text("publicIpAddress", "54.", 0.15), flag("monitoring", 0.4), flag("ebsOptimized", 0.7), choice("httpTokens", "optional", "required"), text("keyName", "key-", 0.3), choice("platform", "linux", "windows"), number("cpuCores", 64)}, edges: []edgeMaker{to("MEMBER_OF", "AWS.EC2.Subnet", 1), to("MEMBER_OF", "AWS.EC2.VPC", 1), to("USES", "AWS.EC2.SecurityGroup", 4), maybe(0.7, to("HAS_ROLE", "AWS.IAM.Role", 1))}},
		{typ: "AWS.EC2.Volume", share: 13, prefix: "vol-", properties: []maker{flag("encrypted", 0.75), number("sizeGiB", 2000), choice("volumeType", "gp3", "gp2", "io1", "st1"), choice("state", "in-use", "available"), number("iops", 16000), text("snapshotId", "snap-", 0.6)}, edges: []edgeMaker{to("ATTACHED_TO", "AWS.EC2.Instance", 1), maybe(0.6, to("CREATED_FROM", "AWS.EC2.Snapshot", 1)), maybe(0.75, to("ENCRYPTED_BY", "AWS.KMS.Key", 1))}},
		{typ: "AWS.EC2.NetworkInterface", share: 12, prefix: "eni-", properties: []maker{text("privateIpAddress", "10.", 1), text("macAddress", "0a:", 1), choice("status", "in-use", "available"), flag("sourceDestCheck", 0.95), choice("interfaceType", "interface", "lambda", "nat_gateway")}, edges: []edgeMaker{to("MEMBER_OF", "AWS.EC2.Subnet", 1), to("MEMBER_OF", "AWS.EC2.VPC", 1), to("USES", "AWS.EC2.SecurityGroup", 4), maybe(0.6, to("ATTACHED_TO", "AWS.EC2.Instance", 1))}},
		{typ: "AWS.EC2.Snapshot", share: 14, prefix: "snap-", properties: []maker{flag("encrypted", 0.7), flag("public", 0.001), number("sizeGiB", 2000), choice("state", "completed", "error"), text("description", "Created by ", 0.9)}, edges: []edgeMaker{maybe(0.9, to("CREATED_FROM", "AWS.EC2.Volume", 1)), maybe(0.7, to("ENCRYPTED_BY", "AWS.KMS.Key", 1))}},
		{typ: "AWS.Lambda.Function", share: 5, prefix: "fn-", properties: []maker{choice("runtime", "python3.12", "nodejs20.x", "python3.8", "java17", "go1.x"), number("timeout", 900), number("memorySize", 3008), choice("packageType", "Zip", "Image"), flag("tracing", 0.3), flag("publicPolicy", 0.01)}, edges: []edgeMaker{to("HAS_ROLE", "AWS.IAM.Role", 1), to("WRITES_TO", "AWS.CloudWatchLogs.LogGroup", 1), maybe(0.4, to("USES", "AWS.EC2.SecurityGroup", 3)), maybe(0.4, to("MEMBER_OF", "AWS.EC2.Subnet", 5)), maybe(0.5, to("READS", "AWS.SQS.Queue", 1))}},
		{typ: "AWS.RDS.Instance", share: 0.8, prefix: "db-", properties: []maker{choice("engine", "postgres", "mysql", "aurora-postgresql"), choice("engineVersion", "15.4", "8.0.35", "13.9"), flag("storageEncrypted", 0.85), flag("publiclyAccessible", 0.05), flag("multiAZ", 0.4), number("backupRetentionPeriod", 35), flag("deletionProtection", 0.5)}, edges: []edgeMaker{to("USES", "AWS.EC2.SecurityGroup", 3), to("MEMBER_OF", "AWS.EC2.Subnet", 5), maybe(0.8, to("ENCRYPTED_BY", "AWS.KMS.Key", 1))}},
		{typ: "AWS.KMS.Key", share: 1.5, prefix: "key-", properties: []maker{choice("keyState", "Enabled", "Disabled", "PendingDeletion"), flag("rotationEnabled", 0.6), choice("keyManager", "CUSTOMER", "AWS"), choice("keySpec", "SYMMETRIC_DEFAULT", "RSA_2048"), document("policy", 1)}, edges: []edgeMaker{to("GRANTS", "AWS.IAM.Role", 6)}},
		{typ: "AWS.CloudWatchLogs.LogGroup", share: 9, prefix: "log-", properties: []maker{number("retentionInDays", 3653), number("storedBytes", 1<<40), flag("encrypted", 0.2)}, edges: []edgeMaker{maybe(0.7, to("READ_BY", "AWS.Lambda.Function", 2)), maybe(0.3, to("ENCRYPTED_BY", "AWS.KMS.Key", 1))}},
		{typ: "AWS.CloudWatch.Alarm", share: 5, prefix: "alarm-", properties: []maker{choice("metricName", "CPUUtilization", "Errors", "Latency", "FreeStorage"), choice("stateValue", "OK", "ALARM", "INSUFFICIENT_DATA"), number("threshold", 100), flag("actionsEnabled", 0.9)}, edges: []edgeMaker{to("NOTIFIES", "AWS.SNS.Topic", 2), to("WATCHES", "AWS.EC2.Instance", 3)}},
		{typ: "AWS.SNS.Topic", share: 1.2, prefix: "topic-", properties: []maker{flag("encrypted", 0.4), number("subscriptions", 20), document("policy", 0.5)}, edges: []edgeMaker{to("NOTIFIES", "AWS.SQS.Queue", 4), maybe(0.4, to("ENCRYPTED_BY", "AWS.KMS.Key", 1))}},
		{typ: "AWS.SQS.Queue", share: 2, prefix: "queue-", properties: []maker{flag("sseEnabled", 0.7), number("visibilityTimeout", 900), number("retentionSeconds", 1209600), document("policy", 0.4)}, edges: []edgeMaker{maybe(0.3, to("ENCRYPTED_BY", "AWS.KMS.Key", 1))}},
		{typ: "AWS.DynamoDB.Table", share: 1.5, prefix: "table-", properties: []maker{choice("billingMode", "PAY_PER_REQUEST", "PROVISIONED"), flag("pointInTimeRecovery", 0.5), number("itemCount", 1<<30), flag("deletionProtection", 0.3)}, edges: []edgeMaker{maybe(0.4, to("ENCRYPTED_BY", "AWS.KMS.Key", 1))}},
		{typ: "AWS.ELBv2.LoadBalancer", share: 1, prefix: "lb-", properties: []maker{choice("scheme", "internet-facing", "internal"), choice("type", "application", "network"), flag("accessLogs", 0.4), flag("dropInvalidHeaders", 0.3), text("dnsName", "lb.", 1)}, edges: []edgeMaker{to("USES", "AWS.EC2.SecurityGroup", 3), to("MEMBER_OF", "AWS.EC2.Subnet", 5), to("ROUTES_TO", "AWS.EC2.Instance", 12)}},
		{typ: "AWS.S3.Bucket", share: 3, global: true, spread: true, prefix: "bucket-", properties: []maker{choice("encryption", "AES256", "aws:kms", "none"), choice("versioning", "Enabled", "Disabled", "Suspended"), flag("publicAccessBlocked", 0.9), flag("loggingEnabled", 0.4), flag("publicRead", 0.02), document("policy", 0.6), choice("objectOwnership", "BucketOwnerEnforced", "ObjectWriter")}, edges: []edgeMaker{maybe(0.3, to("WRITES_TO", "AWS.S3.Bucket", 1))}},
		{typ: "AWS.IAM.Role", share: 6, global: true, prefix: "role-", properties: []maker{text("roleId", "AROA", 1), choice("path", "/", "/aws-service-role/", "/service/"), number("maxSessionDuration", 43200), flag("trustsAnyone", 0.002), document("trustPolicy", 1), number("lastUsedDays", 400)}, edges: []edgeMaker{to("HAS_POLICY", "AWS.IAM.Policy", 9), maybe(0.3, to("TRUSTS", "AWS.IAM.Role", 3))}},
		{typ: "AWS.IAM.Policy", share: 4, global: true, prefix: "policy-", properties: []maker{flag("isAttached", 0.8), flag("allowsAll", 0.02), number("attachmentCount", 30), document("document", 1), choice("path", "/", "/service-role/")}},
		{typ: "AWS.IAM.User", share: 0.7, global: true, prefix: "user-", properties: []maker{flag("mfaEnabled", 0.8), flag("consoleAccess", 0.6), number("accessKeyAgeDays", 900), number("accessKeys", 3), list("group", "group-", 3, 20)}, edges: []edgeMaker{to("HAS_POLICY", "AWS.IAM.Policy", 4)}},
	},
}
