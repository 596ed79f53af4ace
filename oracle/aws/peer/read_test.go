package peer_test

import (
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/declared"
)

// createdTypes are the types of which at least one resource must be found in moto.
var createdTypes = []posture.EntityType{
	"AWS.ACM.Certificate", "AWS.APIGateway.HttpApi", "AWS.APIGateway.RestApi", "AWS.Account.Account", "AWS.Account.Region",
	"AWS.AutoScaling.Group", "AWS.CloudFront.Distribution", "AWS.CloudTrail.Trail", "AWS.CloudWatch.Alarm", "AWS.Config.Recorder", "AWS.DynamoDB.Table",
	"AWS.EC2.Address", "AWS.EC2.CidrRange", "AWS.EC2.FlowLog", "AWS.EC2.Image", "AWS.EC2.Instance", "AWS.EC2.InternetGateway", "AWS.EC2.KeyPair",
	"AWS.EC2.LaunchTemplate", "AWS.EC2.NatGateway", "AWS.EC2.NetworkAcl", "AWS.EC2.NetworkInterface", "AWS.EC2.PublicIp", "AWS.EC2.RouteTable",
	"AWS.EC2.SecurityGroup", "AWS.EC2.Snapshot", "AWS.EC2.Subnet", "AWS.EC2.TransitGateway", "AWS.EC2.Volume", "AWS.EC2.Vpc", "AWS.EC2.VpcEndpoint",
	"AWS.EC2.VpcPeeringConnection", "AWS.EC2.VpnConnection", "AWS.EC2.VpnGateway", "AWS.ECR.Repository", "AWS.ECS.Cluster", "AWS.ECS.Service",
	"AWS.ECS.TaskDefinition", "AWS.EFS.FileSystem", "AWS.EKS.Cluster", "AWS.EKS.Nodegroup", "AWS.ELB.Listener", "AWS.ELB.LoadBalancer",
	"AWS.ELB.TargetGroup", "AWS.ElastiCache.CacheCluster", "AWS.ElastiCache.ReplicationGroup", "AWS.Events.EventBus", "AWS.Events.Rule",
	"AWS.GuardDuty.Detector", "AWS.IAM.AccessKey", "AWS.IAM.AccountPasswordPolicy", "AWS.IAM.AccountSummary", "AWS.IAM.Group", "AWS.IAM.InstanceProfile",
	"AWS.IAM.OidcProvider", "AWS.IAM.Policy", "AWS.IAM.Principal", "AWS.IAM.Role", "AWS.IAM.SamlProvider", "AWS.IAM.ServerCertificate", "AWS.IAM.User",
	"AWS.IAM.VirtualMfaDevice", "AWS.KMS.Alias", "AWS.KMS.Key", "AWS.Lambda.Function", "AWS.Logs.LogGroup", "AWS.Logs.MetricFilter",
	"AWS.OpenSearch.Domain", "AWS.RDS.DBCluster", "AWS.RDS.DBClusterSnapshot", "AWS.RDS.DBInstance", "AWS.RDS.DBSnapshot", "AWS.RDS.DBSubnetGroup",
	"AWS.Redshift.Cluster", "AWS.Route53.HostedZone", "AWS.S3.AccountPublicAccessBlock", "AWS.S3.Bucket", "AWS.SNS.Subscription", "AWS.SNS.Topic",
	"AWS.SQS.Queue", "AWS.SSM.Parameter", "AWS.SecretsManager.Secret", "AWS.SecurityHub.Hub", "AWS.WAF.WebACL",
}

// declarations returns the declarations of the AWS types.
func declarations() map[posture.EntityType]collect.Declaration {
	all := map[posture.EntityType]collect.Declaration{}
	for _, d := range aws.Declarations(declared.Catalog()) {
		all[d.Type] = d
	}
	return all
}

func accessTo(account, role, externalID string) posture.Access {
	return posture.Access{
		Org:     "org",
		Account: posture.Account{ID: posture.AccountID(account), Provider: posture.AWS},
		Credential: posture.Credential{Provider: posture.AWS, Properties: []posture.Property{
			posture.Text(posture.PropRoleArn, role), posture.Text(posture.PropExternalID, externalID),
		}},
	}
}

// read holds the entities and failures of one reading of an account.
type read struct {
	entities map[posture.EntityID]posture.Entity
	failures map[posture.EntityType][]error // lists that could not be read
}

// propertiesOf returns the properties with a name.
func propertiesOf(e posture.Entity, name string) (found []posture.Property) {
	for _, p := range e.Properties {
		if p.Name == name {
			found = append(found, p)
		}
	}
	return found
}
