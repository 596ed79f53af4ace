package aws

import (
	"slices"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/stream/change"
)

// maxNames is how many resources of a type one event may name before all of the
// type are read instead.
const maxNames = 100

// targets returns what is to be read because of the event. A type whose resource
// the event does not name is read as a whole.
func (e event) targets(x *change.Index) []posture.Target {
	d := e.Detail
	if d.ReadOnly || d.ErrorCode != "" || d.EventSource == "signin.amazonaws.com" && d.UserIdentity.Type != "Root" {
		return nil
	}
	said := newWords(d.RequestParameters, d.ResponseElements)
	var found []posture.Target
	for _, decl := range x.Of(d.EventSource, d.EventName) {
		region := posture.Global
		if decl.Scope == collect.PerRegion {
			region = d.AWSRegion
			if region == "" {
				region = e.Region
			}
		}
		names := said.named(decl.Type)
		for _, r := range d.Resources {
			if name, ok := fromARN(decl.Type, r.ARN); ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		switch {
		case len(names) == 0 && derived[decl.Type]:
			continue // reached over the edges of what is read
		case len(names) == 0 || len(names) > maxNames:
			found = append(found, posture.Target{Type: decl.Type, Region: region})
		}
		if len(names) > maxNames {
			continue
		}
		for _, name := range names {
			found = append(found, posture.Target{Type: decl.Type, Region: region, Name: name})
		}
	}
	return found
}

// derived are the types that are no resources of AWS: other entities name them.
var derived = map[posture.EntityType]bool{"AWS.EC2.CidrRange": true, "AWS.EC2.PublicIp": true, "AWS.IAM.Principal": true}

// prefixes begin the ids of EC2, which say what they are of wherever they stand.
var prefixes = map[posture.EntityType]string{
	"AWS.EC2.Instance": "i-", "AWS.EC2.LaunchTemplate": "lt-", "AWS.EC2.SecurityGroup": "sg-", "AWS.EC2.NetworkAcl": "acl-",
	"AWS.EC2.Vpc": "vpc-", "AWS.EC2.Subnet": "subnet-", "AWS.EC2.RouteTable": "rtb-", "AWS.EC2.InternetGateway": "igw-",
	"AWS.EC2.NatGateway": "nat-", "AWS.EC2.FlowLog": "fl-", "AWS.EC2.NetworkInterface": "eni-", "AWS.EC2.Address": "eipalloc-",
	"AWS.EC2.VpcPeeringConnection": "pcx-", "AWS.EC2.VpcEndpoint": "vpce-", "AWS.EC2.TransitGateway": "tgw-",
	"AWS.EC2.VpnGateway": "vgw-", "AWS.EC2.VpnConnection": "vpn-", "AWS.EC2.Volume": "vol-", "AWS.EC2.Snapshot": "snap-",
	"AWS.EC2.Image": "ami-",
}

// members say under which members of a call's parameters or answer a type's
// names stand. Choices are apart by spaces; "+" joins parts of a name with a
// slash, "=" gives a part that may be left out; a dot begins members that count
// at the top alone.
var members = map[posture.EntityType]string{
	"AWS.EC2.KeyPair":       "keyName",
	"AWS.AutoScaling.Group": "autoScalingGroupName",

	"AWS.IAM.User": "userName newUserName", "AWS.IAM.Group": "groupName newGroupName", "AWS.IAM.Role": "roleName",
	"AWS.IAM.Policy": "policyArn policy.arn", "AWS.IAM.InstanceProfile": "instanceProfileName",
	"AWS.IAM.ServerCertificate": "serverCertificateName newServerCertificateName", "AWS.IAM.VirtualMfaDevice": "serialNumber",
	"AWS.IAM.SamlProvider": "sAMLProviderArn", "AWS.IAM.OidcProvider": "openIDConnectProviderArn",

	"AWS.S3.Bucket": "bucketName",
	"AWS.KMS.Key":   "keyId targetKeyId", "AWS.KMS.Alias": "aliasName",
	"AWS.SecretsManager.Secret": ".arn .aRN secretId", "AWS.SSM.Parameter": ".name .names",

	"AWS.RDS.DBInstance": "dBInstanceIdentifier targetDBInstanceIdentifier .resourceName", "AWS.RDS.DBCluster": "dBClusterIdentifier",
	"AWS.RDS.DBSnapshot":        "dBSnapshotIdentifier targetDBSnapshotIdentifier",
	"AWS.RDS.DBClusterSnapshot": "dBClusterSnapshotIdentifier targetDBClusterSnapshotIdentifier", "AWS.RDS.DBSubnetGroup": ".dBSubnetGroupName",
	"AWS.DynamoDB.Table": "tableName targetTableName", "AWS.ElastiCache.CacheCluster": "cacheClusterId",
	"AWS.ElastiCache.ReplicationGroup": "replicationGroupId", "AWS.Redshift.Cluster": "clusterIdentifier",
	"AWS.EFS.FileSystem": "fileSystemId", "AWS.OpenSearch.Domain": "domainName",

	"AWS.CloudTrail.Trail": ".name .trailName .trailARN", "AWS.Logs.LogGroup": "logGroupName", "AWS.Logs.MetricFilter": "logGroupName+filterName",
	"AWS.CloudWatch.Alarm": "alarmName alarmNames", "AWS.Events.EventBus": ".eventBusName .name",
	"AWS.Events.Rule": "eventBusName=default+.name eventBusName=default+.rule", "AWS.Config.Recorder": "configurationRecorderName configurationRecorder.name",
	"AWS.GuardDuty.Detector": "detectorId", "AWS.AccessAnalyzer.Analyzer": "analyzerName",

	"AWS.Lambda.Function": "functionName functionArn", "AWS.ECS.Cluster": "clusterName .cluster", "AWS.ECS.Service": "cluster=default+serviceName cluster=default+.service",
	"AWS.ECS.TaskDefinition": "family .taskDefinition .taskDefinitions", "AWS.EKS.Cluster": ".name .clusterName",
	"AWS.EKS.Nodegroup": "clusterName+nodegroupName", "AWS.ECR.Repository": "repositoryName",

	"AWS.ELB.LoadBalancer": "loadBalancerArn listenerArn .resourceArns", "AWS.ELB.Listener": "listenerArn", "AWS.ELB.TargetGroup": "targetGroupArn",
	"AWS.APIGateway.RestApi": "restApiId .id", "AWS.APIGateway.HttpApi": "apiId",
	"AWS.WAF.WebACL": "webACLArn .arn .aRN", "AWS.CloudFront.Distribution": ".id distribution.id",
	"AWS.Route53.HostedZone": "hostedZoneId hostedZone.id .id", "AWS.ACM.Certificate": "certificateArn",
	"AWS.SNS.Topic": "topicArn", "AWS.SQS.Queue": "queueUrl",
}
